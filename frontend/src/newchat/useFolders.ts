import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, unwrap } from "../api/client";
import { useLive } from "../stream/store";

// The list shows five rows and scrolls; more than this is typed further.
const MATCHES = 60;
// Folders change while the dialog is open: what was seen is not believed long.
const FRESH_MS = 3_000;
const MAX_RECENT = 12;

/** The folders that complete what was typed, and whether it is one itself. */
export function useFolders(typed: string) {
  return useQuery({
    queryKey: ["folders", typed],
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/folders/complete", { params: { query: { prefix: typed || "~/", limit: MATCHES } } }),
      ),
  });
}

/** The folders of the chats, the one used last first. */
export function useRecentFolders(): string[] {
  const chats = useLive((state) => state.chats);
  return useMemo(() => {
    const newest = new Map<string, string>();
    for (const { cwd, updated_at } of chats.values())
      if (updated_at > (newest.get(cwd) ?? "")) newest.set(cwd, updated_at);
    return [...newest]
      .sort(([, a], [, b]) => (a < b ? 1 : -1))
      .slice(0, MAX_RECENT)
      .map(([cwd]) => cwd);
  }, [chats]);
}
