import type { Chat } from "../api/types";

/** Chats that stand together in the sidebar. */
export type Group = {
  key: string;
  kind: "pinned" | "folder" | "cwd" | "archived";
  /** A folder of the user, or the last part of a path with as much before it as tells it apart. */
  label: string;
  cwd?: string;
  chats: Chat[];
};

const parts = (path: string) => path.split(/[\\/]+/).filter(Boolean);

/** The last part of each path, with parents where two would look the same. */
export function shortPaths(paths: readonly string[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const path of paths) {
    const own = parts(path);
    let depth = 1;
    const tail = (of: string[], n: number) => of.slice(-n).join("/");
    while (
      depth < own.length &&
      paths.some((other) => other !== path && tail(parts(other), depth) === tail(own, depth))
    )
      depth++;
    labels.set(path, tail(own, depth) || path);
  }
  return labels;
}

/** Within a group by the user's order, new chats first where it says nothing. */
function byPosition(a: Chat, b: Chat): number {
  return a.position - b.position || (a.created_at < b.created_at ? 1 : -1);
}

/** The sidebar's groups: pinned, the user's folders, then working folders, by name; archived chats apart. */
export function groupChats(chats: Iterable<Chat>): Group[] {
  const pinned: Chat[] = [];
  const archived: Chat[] = [];
  const folders = new Map<string, Chat[]>();
  const cwds = new Map<string, Chat[]>();
  const into = (map: Map<string, Chat[]>, key: string, chat: Chat) => {
    const held = map.get(key);
    if (held) held.push(chat);
    else map.set(key, [chat]);
  };
  for (const chat of chats) {
    if (chat.archived) archived.push(chat);
    else if (chat.pinned) pinned.push(chat);
    else if (chat.folder) into(folders, chat.folder, chat);
    else into(cwds, chat.cwd, chat);
  }
  const labels = shortPaths([...cwds.keys()]);
  const named = [
    ...[...folders].map(([folder, list]): Group => ({
      key: `f:${folder}`,
      kind: "folder",
      label: folder,
      chats: list,
    })),
    ...[...cwds].map(([cwd, list]): Group => ({
      key: `c:${cwd}`,
      kind: "cwd",
      label: labels.get(cwd) ?? cwd,
      cwd,
      chats: list,
    })),
  ].sort((a, b) => a.label.localeCompare(b.label, "en") || (a.key < b.key ? -1 : 1));
  const groups: Group[] = [];
  if (pinned.length > 0) groups.push({ key: "pinned", kind: "pinned", label: "", chats: pinned });
  groups.push(...named);
  for (const group of groups) group.chats.sort(byPosition);
  if (archived.length > 0) {
    archived.sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
    groups.push({ key: "archived", kind: "archived", label: "", chats: archived });
  }
  return groups;
}

/** The position that puts an entry before the one at `place`; positions are real numbers, so that only one row changes. */
export function positionAt(
  chats: readonly Pick<Chat, "id" | "position">[],
  moved: string,
  place: number,
): number {
  const others = chats.filter((chat) => chat.id !== moved);
  const before = others[place - 1]?.position;
  const after = others[place]?.position;
  if (before === undefined && after === undefined) return 0;
  if (before === undefined) return (after ?? 0) - 1;
  if (after === undefined) return before + 1;
  return (before + after) / 2;
}
