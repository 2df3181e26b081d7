import type { FileDiff, FileRef, Item } from "../api/types";

export type TurnChanges = {
  turn: string;
  at: string;
  item: string;
  files: FileDiff[];
  added: number;
  removed: number;
};

/** What each turn changed, file by file, of the items that are held. Changes of one file in one turn are summed. */
export function changesByTurn(items: readonly Item[]): TurnChanges[] {
  const turns = new Map<string, TurnChanges>();
  for (const item of items) {
    const turn = item.turn ?? "";
    if (item.kind === "user_message") {
      turns.set(turn, { turn, at: item.at, item: item.id, files: [], added: 0, removed: 0 });
      continue;
    }
    // What was refused or failed changed nothing.
    if (item.status === "failed" || item.status === "cancelled" || item.body.request) continue;
    const files = item.body.tool?.files ?? item.body.files ?? [];
    if (files.length === 0) continue;
    const held = turns.get(turn) ?? { turn, at: item.at, item: item.id, files: [], added: 0, removed: 0 };
    turns.set(turn, files.reduce(withFile, held));
  }
  return [...turns.values()];
}

function withFile(changes: TurnChanges, file: FileDiff): TurnChanges {
  const { patch: _patch, ...facts } = file;
  const held = changes.files.find((one) => one.path === file.path);
  const merged = held
    ? {
        ...held,
        added: held.added + file.added,
        removed: held.removed + file.removed,
        change: held.change === "added" ? held.change : file.change,
      }
    : facts;
  return {
    ...changes,
    files: held ? changes.files.map((one) => (one === held ? merged : one)) : [...changes.files, merged],
    added: changes.added + file.added,
    removed: changes.removed + file.removed,
  };
}

export type Folder = { path: string; files: FileDiff[] };

/** Files by folder, in order of their paths. */
export function byFolder(files: readonly FileDiff[], shown: (path: string) => string): Folder[] {
  const folders = new Map<string, FileDiff[]>();
  for (const file of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const path = shown(file.path);
    const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  return [...folders].map(([path, list]) => ({ path, files: list }));
}

export type Handed = { file: FileRef; item: string };

/** Files and pictures the agent handed over, newest first. */
export function artifactsOf(items: readonly Item[]): Handed[] {
  return items
    .flatMap((item) => [
      ...(item.body.artifact ? [{ file: item.body.artifact, item: item.id }] : []),
      ...(item.body.tool?.images ?? []).map((file) => ({ file, item: item.id })),
    ])
    .reverse();
}
