import type { Chat, Item, Turn } from "../api/types";
import type { ConnectionStatus } from "../transport";

/** Everything the stream tells, as this page knows it. Values are never changed in place. */
export type LiveState = {
  /** Where to go on after a break. */
  cursor: string | undefined;
  connection: ConnectionStatus;
  /** When the newest batch came, in ms since the epoch: "shown as of". */
  asOf: number | undefined;
  /** By id. Before the list was read there may be some, but not all. */
  chats: ReadonlyMap<string, Chat>;
  /** Which lists were read. */
  lists: { open: "reading" | "read" | "failed"; archived: boolean; error?: string };
  timelines: ReadonlyMap<string, Timeline>;
};

/** The part of a chat's items that this page holds: one gapless stretch. */
export type Timeline = {
  /**
   * following: wanted, the stream has not confirmed it yet. stale: the stream
   * broke with a gap; what is held stays in view until it is read again.
   */
  phase: "following" | "loading" | "ready" | "stale" | "failed";
  error: string | undefined;
  /** By seq, least first. */
  items: readonly Item[];
  /** Place of each item in `items`. */
  places: ReadonlyMap<string, number>;
  hasBefore: boolean;
  /** Items after the last are known to the backend but not held here. */
  hasAfter: boolean;
  /** While `hasAfter`: what the stream brought beyond the end, until a page reaches it. */
  beyond: readonly Item[];
  /** Turns that the stream told of, by id. */
  turns: ReadonlyMap<string, Turn>;
  /** A page before or after is being read. */
  paging: "before" | "after" | undefined;
};

export const emptyTimeline: Timeline = {
  phase: "following",
  error: undefined,
  items: [],
  places: new Map(),
  hasBefore: false,
  hasAfter: false,
  beyond: [],
  turns: new Map(),
  paging: undefined,
};

export const initialState: LiveState = {
  cursor: undefined,
  connection: { state: "connecting" },
  asOf: undefined,
  chats: new Map(),
  lists: { open: "reading", archived: false },
  timelines: new Map(),
};

// A stretch beyond these is cut at the end that is not read (rule: memory
// does not grow with the length of a chat).
export const MAX_ITEMS = 2_000;
export const MAX_CHARS = 16_000_000;
// More than this beyond the end is read as pages instead.
export const MAX_BEYOND = 200;
// Turns older than these have their facts in their items.
export const MAX_TURNS = 200;
