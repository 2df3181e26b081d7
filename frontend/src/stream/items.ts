import type { Delta, Item, ItemPage } from "../api/types";
import { MAX_BEYOND, MAX_CHARS, MAX_ITEMS, type Timeline } from "./state";

/** Text of an item as far as it has come. */
export const textOf = (item: Item) => item.body.text ?? "";

/**
 * Whether `next` is at least as new as `held`. Text only grows within a
 * revision, so of two snapshots of one revision the longer is the newer: a
 * page read beside the stream may carry either.
 */
function isNewer(next: Item, held: Item): boolean {
  if (next.revision !== held.revision) return next.revision > held.revision;
  return textOf(next).length >= textOf(held).length;
}

function placesOf(items: readonly Item[]): Map<string, number> {
  return new Map(items.map((item, place) => [item.id, place]));
}

/**
 * Puts snapshots into a timeline: known items are replaced if newer, others
 * take the place their seq gives them. Items before the stretch are left to
 * the page that will bring them, items beyond its end wait for it.
 */
export function upsert(timeline: Timeline, incoming: readonly Item[]): Timeline {
  let items: Item[] | undefined;
  let beyond: Item[] | undefined;
  let moved = false;
  const own = () => (items ??= [...timeline.items]);
  const first = timeline.items[0]?.seq;
  const last = timeline.items.at(-1)?.seq;
  for (const item of incoming) {
    const place = moved
      ? (items ?? []).findIndex((held) => held.id === item.id)
      : (timeline.places.get(item.id) ?? -1);
    const held = place >= 0 ? (items ?? timeline.items)[place] : undefined;
    if (held) {
      if (isNewer(item, held) && item !== held) own()[place] = item;
      continue;
    }
    if (timeline.hasBefore && first !== undefined && item.seq < first) continue;
    if (timeline.hasAfter && last !== undefined && item.seq > last) {
      beyond ??= [...timeline.beyond];
      replaceOrInsert(beyond, item);
      continue;
    }
    insert(own(), item);
    moved = true;
  }
  if (!items && !beyond) return timeline;
  return {
    ...timeline,
    items: items ?? timeline.items,
    places: items && moved ? placesOf(items) : timeline.places,
    beyond: beyond?.slice(-MAX_BEYOND) ?? timeline.beyond,
  };
}

function replaceOrInsert(items: Item[], item: Item): void {
  const place = items.findIndex((held) => held.id === item.id);
  if (place < 0) insert(items, item);
  else if (isNewer(item, items[place] as Item)) items[place] = item;
}

function insert(items: Item[], item: Item): void {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((items[middle] as Item).seq <= item.seq) low = middle + 1;
    else high = middle;
  }
  items.splice(low, 0, item);
}

/**
 * Adds live text. A delta joins at its offset; what is there already is
 * dropped, and so is one that would leave a gap (the next snapshot repairs it).
 */
export function append(timeline: Timeline, deltas: readonly Delta[]): Timeline {
  let items: Item[] | undefined;
  for (const delta of deltas) {
    const place = timeline.places.get(delta.item);
    if (place === undefined) continue;
    const held = (items ?? timeline.items)[place];
    if (!held || held.revision !== delta.revision) continue;
    const text = textOf(held);
    if (delta.offset > text.length) continue;
    const fresh = delta.text.slice(text.length - delta.offset);
    if (fresh === "") continue;
    items ??= [...timeline.items];
    items[place] = { ...held, body: { ...held.body, text: text + fresh } };
  }
  return items ? { ...timeline, items } : timeline;
}

/** What an item weighs, in UTF-16 units. */
function weight(item: Item): number {
  const { body } = item;
  let units = textOf(item).length + item.summary.length + (body.tool?.output?.length ?? 0);
  for (const file of [...(body.files ?? []), ...(body.tool?.files ?? [])]) units += file.patch?.length ?? 0;
  return units;
}

/** Cuts a stretch that has grown too long at the end that is not being read. */
export function trim(timeline: Timeline, keep: "start" | "end"): Timeline {
  const { items } = timeline;
  const ordered = keep === "end" ? items.toReversed() : items;
  let units = 0;
  let kept = 0;
  for (const item of ordered) {
    units += weight(item);
    if (kept > 0 && (kept >= MAX_ITEMS || units > MAX_CHARS)) break;
    kept++;
  }
  if (kept === items.length) return timeline;
  const rest = keep === "end" ? items.slice(items.length - kept) : items.slice(0, kept);
  return {
    ...timeline,
    items: rest,
    places: placesOf(rest),
    hasBefore: keep === "end" || timeline.hasBefore,
    hasAfter: keep === "start" || timeline.hasAfter,
  };
}

/**
 * The newest page, and what the stream brought beside it. A stretch that
 * reaches into the page is kept; of anything else only what is not older than
 * the page stays, since before it there may be a gap.
 */
export function withNewest(timeline: Timeline, page: ItemPage): Timeline {
  const first = page.items[0]?.seq ?? 0;
  const read = timeline.phase === "ready" || timeline.phase === "stale";
  const last = timeline.items.at(-1)?.seq;
  if (read && page.items.length > 0 && last !== undefined && last >= first) {
    const open: Timeline = {
      ...timeline,
      phase: "ready",
      error: undefined,
      paging: undefined,
      hasAfter: false,
      beyond: [],
    };
    return trim(upsert(open, [...page.items, ...timeline.beyond]), "end");
  }
  const held = (timeline.hasAfter ? timeline.beyond : timeline.items).filter((item) => item.seq >= first);
  const base: Timeline = {
    ...timeline,
    phase: "ready",
    error: undefined,
    paging: undefined,
    items: page.items,
    places: placesOf(page.items),
    hasBefore: page.has_before,
    hasAfter: false,
    beyond: [],
  };
  return upsert(base, held);
}

/** The page before the stretch. */
export function withBefore(timeline: Timeline, page: ItemPage): Timeline {
  const joined = upsert({ ...timeline, hasBefore: false }, page.items);
  return trim({ ...joined, hasBefore: page.has_before, paging: undefined }, "start");
}

/** The page after the stretch; the last one joins it to what waited beyond. */
export function withAfter(timeline: Timeline, page: ItemPage): Timeline {
  const joined = upsert({ ...timeline, hasAfter: false }, page.items);
  const reached = !page.has_after && timeline.beyond.length < MAX_BEYOND;
  const whole = reached ? upsert({ ...joined, beyond: [] }, timeline.beyond) : { ...joined, hasAfter: true };
  return trim({ ...whole, paging: undefined }, "end");
}
