import type { Batch, Chat, Item, ItemPage, StreamEvent, Turn } from "../api/types";
import type { ConnectionStatus } from "../transport";
import { append, trim, upsert, withAfter, withBefore, withNewest } from "./items";
import { emptyTimeline, MAX_ITEMS, MAX_TURNS, type LiveState, type Timeline } from "./state";

export type Action =
  | { type: "batch"; batch: Batch; at: number }
  | { type: "status"; status: ConnectionStatus }
  /** The list of chats as read; `archived` says which half it is, `keep` which chats the stream told of meanwhile. */
  | { type: "chats"; chats: Chat[]; archived: boolean; keep: ReadonlySet<string> }
  | { type: "chatsFailed"; error: string }
  | { type: "chat"; chat: Chat }
  | { type: "chatDeleted"; chat: string }
  /** A chat is opened: its items are wanted from now on. */
  | { type: "open"; chat: string }
  /** Chats whose items are no longer held. */
  | { type: "forget"; chats: string[] }
  | { type: "paging"; chat: string; paging: Timeline["paging"] | "newest" }
  | { type: "page"; chat: string; where: "newest" | "before" | "after"; page: ItemPage }
  | { type: "pageFailed"; chat: string; error: string }
  | { type: "item"; item: Item }
  /** The end of the stretch that the reader looks at. */
  | { type: "trim"; chat: string; keep: "start" | "end" };

/** One pure reducer serves live updates, replay after a break, and reload. */
export function reduce(state: LiveState, action: Action): LiveState {
  switch (action.type) {
    case "batch":
      return applyBatch(state, action.batch, action.at);
    case "status":
      return { ...state, connection: action.status };
    case "chats":
      return withList(state, action.chats, action.archived, action.keep);
    case "chatsFailed":
      return {
        ...state,
        lists: { ...state.lists, open: state.lists.open === "read" ? "read" : "failed", error: action.error },
      };
    case "chat":
      return { ...state, chats: new Map(state.chats).set(action.chat.id, action.chat) };
    case "chatDeleted":
      return withoutChat(state, action.chat);
    case "open":
      return state.timelines.has(action.chat) ? state : withTimeline(state, action.chat, emptyTimeline);
    case "forget":
      return forget(state, action.chats);
    case "paging":
      return change(state, action.chat, (timeline) =>
        action.paging === "newest"
          ? { ...timeline, phase: whole(timeline.phase) ? timeline.phase : "loading", error: undefined }
          : { ...timeline, paging: action.paging },
      );
    case "page":
      return change(state, action.chat, (timeline) => pages[action.where](timeline, action.page));
    case "pageFailed":
      return change(state, action.chat, (timeline) => ({
        ...timeline,
        phase: whole(timeline.phase) ? timeline.phase : "failed",
        error: action.error,
        paging: undefined,
      }));
    case "item":
      return change(state, action.item.chat, (timeline) => upsert(timeline, [action.item]));
    case "trim":
      return change(state, action.chat, (timeline) => trim(timeline, action.keep));
  }
}

function applyBatch(state: LiveState, batch: Batch, at: number): LiveState {
  // After a reset everything is read again: what is held stays in view until
  // then, but a stretch must not be joined to what comes after a gap.
  if (batch.reset) state = staleTimelines(state);
  let next: LiveState = { ...state, cursor: batch.next, asOf: at };
  for (const event of batch.events) next = applyEvent(next, event);
  for (const chat of new Set(batch.items.map((item) => item.chat))) {
    const items = batch.items.filter((item) => item.chat === chat);
    next = change(next, chat, (timeline) => bounded(upsert(timeline, items)));
  }
  if (batch.deltas.length > 0) {
    for (const [chat] of next.timelines)
      next = change(next, chat, (timeline) => append(timeline, batch.deltas));
  }
  return next;
}

/** The hard bound while the reader is elsewhere; at the end the view trims sooner. */
function bounded(timeline: Timeline): Timeline {
  return timeline.items.length > 2 * MAX_ITEMS ? trim(timeline, "end") : timeline;
}

/** Whether a stretch is held that was once read as a page. */
const whole = (phase: Timeline["phase"]) => phase === "ready" || phase === "stale";

/** What comes from now on does not join the stretch until a page closes the gap. */
function afterGap(timeline: Timeline): Timeline {
  const rest = { ...timeline, turns: new Map(), paging: undefined, beyond: [] };
  return whole(timeline.phase)
    ? { ...rest, phase: "stale", hasAfter: true }
    : { ...rest, phase: "following", items: [], places: new Map() };
}

function staleTimelines(state: LiveState): LiveState {
  const timelines = new Map<string, Timeline>();
  for (const [chat, timeline] of state.timelines) {
    timelines.set(chat, afterGap(timeline));
  }
  return { ...state, timelines };
}

function applyEvent(state: LiveState, event: StreamEvent): LiveState {
  switch (event.type) {
    case "chat":
      return reduce(state, { type: "chat", chat: event.body as Chat });
    case "chat.deleted":
      return event.chat ? withoutChat(state, event.chat) : state;
    case "turn":
      return event.chat
        ? change(state, event.chat, (timeline) => withTurn(timeline, event.body as Turn))
        : state;
    default:
      // Settings and agents are resources; the store marks them stale.
      return state;
  }
}

function withTurn(timeline: Timeline, turn: Turn): Timeline {
  const turns = new Map(timeline.turns);
  turns.delete(turn.id);
  // The text of a turn stands in its item; two hundred long ones would not be small.
  turns.set(turn.id, { ...turn, text: "" });
  for (const id of turns.keys()) {
    if (turns.size <= MAX_TURNS) break;
    turns.delete(id);
  }
  return { ...timeline, turns };
}

const pages = { newest: withNewest, before: withBefore, after: withAfter };

function withList(state: LiveState, list: Chat[], archived: boolean, keep: ReadonlySet<string>): LiveState {
  const chats = new Map<string, Chat>();
  for (const [id, chat] of state.chats)
    if (keep.has(id) || Boolean(chat.archived) !== archived) chats.set(id, chat);
  for (const chat of list) if (!keep.has(chat.id)) chats.set(chat.id, chat);
  return {
    ...state,
    chats,
    lists: archived ? { ...state.lists, archived: true } : { open: "read", archived: state.lists.archived },
  };
}

function withoutChat(state: LiveState, chat: string): LiveState {
  const chats = new Map(state.chats);
  chats.delete(chat);
  return forget({ ...state, chats }, [chat]);
}

function forget(state: LiveState, chats: string[]): LiveState {
  if (!chats.some((chat) => state.timelines.has(chat))) return state;
  const timelines = new Map(state.timelines);
  for (const chat of chats) timelines.delete(chat);
  return { ...state, timelines };
}

function withTimeline(state: LiveState, chat: string, timeline: Timeline): LiveState {
  return { ...state, timelines: new Map(state.timelines).set(chat, timeline) };
}

function change(state: LiveState, chat: string, edit: (timeline: Timeline) => Timeline): LiveState {
  const held = state.timelines.get(chat);
  if (!held) return state;
  const next = edit(held);
  return next === held ? state : withTimeline(state, chat, next);
}
