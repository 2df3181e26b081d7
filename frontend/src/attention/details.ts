import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";
import type { Attention, FileDiff, Item } from "../api/types";
import { loadItem } from "../stream/store";

// Enough to hold what was said last and what a usual turn changed.
const LAST_ITEMS = 80;

/** The request of an approval or a question, whole. */
export function useRequestItem(one: Attention) {
  return useQuery({
    queryKey: ["attention", "item", one.item],
    enabled: one.item !== undefined,
    queryFn: () => loadItem(one.item ?? ""),
  });
}

/** The last items of the chat, as they stood when this began to wait. */
export function useLastItems(one: Attention): Item[] | undefined {
  const { data } = useQuery({
    queryKey: ["attention", "last", one.chat, one.turn, one.at],
    queryFn: async () =>
      (
        await unwrap(
          api.GET("/api/v1/chats/{id}/items", {
            params: { path: { id: one.chat }, query: { limit: LAST_ITEMS } },
          }),
        )
      ).items,
  });
  return data;
}

/** What the agent said last, before this item if one is given. */
export function lastSaid(items: readonly Item[], before?: string): Item | undefined {
  const end = before === undefined ? -1 : items.findIndex((item) => item.id === before);
  return (end < 0 ? items : items.slice(0, end)).findLast(
    (item) => item.kind === "answer" && !item.parent && item.body.text?.trim(),
  );
}

/** The files that a turn changed, each once, with its lines summed up. */
export function changedFiles(items: readonly Item[], turn: string | undefined): FileDiff[] {
  const files = new Map<string, FileDiff>();
  for (const item of items) {
    if (item.turn !== turn || item.kind !== "diff") continue;
    for (const file of item.body.files ?? []) {
      const held = files.get(file.path);
      files.set(
        file.path,
        held ? { ...held, added: held.added + file.added, removed: held.removed + file.removed } : file,
      );
    }
  }
  return [...files.values()];
}
