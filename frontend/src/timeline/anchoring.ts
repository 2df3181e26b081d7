/**
 * Where the reader is, said by rows and not by pixels from the top: rows
 * above may be measured, grow or arrive, and the row that is read must not
 * move. (WebKitGTK has no overflow-anchor.)
 */
export type Anchor =
  | { at: "end" }
  /** `offset` is how far the viewport's top is below the row's. */
  | { at: "row"; key: string; offset: number };

export type Placed = { key: string; start: number; size: number };

/** At the end means within so many pixels of it. */
export const AT_END_PX = 80;

/** The row that is read: the first one whose end is below the viewport's top. */
export function anchorOf(rows: readonly Placed[], scrollTop: number): Anchor {
  const row = rows.find(({ start, size }) => start + size > scrollTop) ?? rows.at(-1);
  return row ? { at: "row", key: row.key, offset: scrollTop - row.start } : { at: "end" };
}

/** The scroll position that keeps the anchor where it was; undefined when its row is gone. */
export function scrollTopFor(
  anchor: Anchor,
  startOf: (key: string) => number | undefined,
  contentEnd: number,
  viewport: number,
): number | undefined {
  if (anchor.at === "end") return Math.max(0, contentEnd - viewport);
  const start = startOf(anchor.key);
  return start === undefined ? undefined : Math.max(0, start + anchor.offset);
}

/** Whether the end of what is said is in view, or nearly. */
export function isAtEnd(scrollTop: number, contentEnd: number, viewport: number): boolean {
  return contentEnd - (scrollTop + viewport) <= AT_END_PX;
}

/**
 * Room kept free below the last row, so that the user's own message can stand
 * at the top while the answer grows under it: `key` and what follows it fill
 * at least `height`.
 */
export type Room = { key: string; height: number };

export function roomBelow(
  room: Room | undefined,
  startOf: (key: string) => number | undefined,
  contentEnd: number,
): number {
  if (!room) return 0;
  const start = startOf(room.key);
  return start === undefined ? 0 : Math.max(0, start + room.height - contentEnd);
}
