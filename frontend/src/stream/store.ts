import { create } from "zustand";
import { api, unwrap } from "../api/client";
import { queryClient, queryKeys } from "../api/queries";
import type { Batch, Chat, Item } from "../api/types";
import { transport, type Subscription } from "../transport";
import { reduce, type Action } from "./reducer";
import { initialState, type LiveState } from "./state";

/**
 * What the stream tells, as components read it. Select the smallest value:
 * it is compared with Object.is.
 */
export const useLive = create<LiveState>(() => initialState);

// Items per page: more than a tall screen holds, few enough to come at once.
const PAGE = 80;
// Chats whose items are held: the open one and those opened last.
const HELD_CHATS = 5;
// A hidden page gets no frames; it still commits, more rarely.
const HIDDEN_COMMIT_MS = 250;

let subscription: Subscription | undefined;
// The open chat is last.
let opened: string[] = [];
let waiting: Batch[] = [];
let scheduled = false;
// Chats the stream told of while a list is being read: the list may be older.
let touched = new Set<string>();

export function dispatch(action: Action): void {
  useLive.setState((state) => reduce(state, action), true);
}

/** Opens the stream; called once at start, and again after a new token was given. */
export function connect(): void {
  subscription?.close();
  // A page that comes back goes on from a fresh snapshot.
  dispatch({ type: "status", status: { state: "connecting" } });
  subscription = transport().subscribe({
    onStatus: (status) => {
      if (JSON.stringify(status) !== JSON.stringify(useLive.getState().connection))
        dispatch({ type: "status", status });
    },
    onBatch: (batch) => {
      waiting.push(batch);
      schedule();
    },
  });
  if (opened.length > 0) subscription.setChats(opened);
}

export function reconnectNow(): void {
  subscription?.retryNow();
}

/** Commits once per frame, however many batches came. */
function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  if (document.hidden) setTimeout(commit, HIDDEN_COMMIT_MS);
  else requestAnimationFrame(commit);
}

function commit(): void {
  scheduled = false;
  const batches = waiting;
  waiting = [];
  const before = useLive.getState();
  const first = before.cursor === undefined;
  const after = batches.reduce(
    (state, batch) => reduce(state, { type: "batch", batch, at: Date.now() }),
    before,
  );
  useLive.setState(after, true);
  const reset = batches.some((batch) => batch.reset);
  for (const batch of batches) markStale(batch, before, after);
  if (first || reset) {
    void loadChats(false);
    if (reset) void queryClient.invalidateQueries();
  }
  const followed = new Set(batches.flatMap((batch) => batch.follows ?? []));
  for (const [chat, timeline] of after.timelines) {
    const wanted = timeline.phase === "following" ? followed.has(chat) || reset : timeline.phase === "stale";
    if (wanted) void loadPage(chat, "newest");
  }
}

/** Resources that an event made stale are read again by whoever shows them. */
function markStale(batch: Batch, before: LiveState, after: LiveState): void {
  for (const event of batch.events) {
    if (event.chat) touched.add(event.chat);
    switch (event.type) {
      case "settings":
        void queryClient.invalidateQueries({ queryKey: queryKeys.settings });
        break;
      case "agents":
        void queryClient.invalidateQueries({ queryKey: queryKeys.agents });
        break;
      case "turn":
        if (event.chat) void queryClient.invalidateQueries({ queryKey: queryKeys.queue(event.chat) });
        break;
      case "chat":
      case "chat.deleted":
        if (
          event.chat &&
          attentionFacts(before.chats.get(event.chat)) !== attentionFacts(after.chats.get(event.chat))
        ) {
          void queryClient.invalidateQueries({ queryKey: queryKeys.attention });
          void queryClient.invalidateQueries({ queryKey: queryKeys.queue(event.chat) });
        }
    }
  }
}

/** What of a chat decides whether it waits for the human. */
function attentionFacts(chat: Chat | undefined): string {
  if (!chat) return "";
  const { state, turn, waiting: requests, queued, held, unread, archived, title } = chat;
  return JSON.stringify([
    state,
    turn?.id,
    turn?.state,
    requests?.map((one) => one.request),
    queued,
    held,
    unread,
    archived,
    title,
  ]);
}

export async function loadChats(archived: boolean): Promise<void> {
  touched = new Set();
  try {
    const { chats } = await unwrap(api.GET("/api/v1/chats", { params: { query: { archived } } }));
    dispatch({ type: "chats", chats, archived, keep: touched });
  } catch (error) {
    dispatch({ type: "chatsFailed", error: error instanceof Error ? error.message : String(error) });
  }
}

/** Holds the chat's items and follows them. The chats opened longest ago are let go. */
export function openTimeline(chat: string): void {
  opened = [...opened.filter((one) => one !== chat), chat];
  const gone = opened.slice(0, Math.max(0, opened.length - HELD_CHATS));
  opened = opened.slice(-HELD_CHATS);
  if (gone.length > 0) dispatch({ type: "forget", chats: gone });
  dispatch({ type: "open", chat });
  subscription?.setChats(opened);
}

/** Reads a page at either end of what is held, or the newest one. */
export async function loadPage(chat: string, where: "newest" | "before" | "after"): Promise<void> {
  const timeline = useLive.getState().timelines.get(chat);
  if (!timeline) return;
  const edge =
    where === "before"
      ? { before: timeline.items[0]?.seq }
      : where === "after"
        ? { after: timeline.items.at(-1)?.seq }
        : {};
  dispatch({ type: "paging", chat, paging: where });
  try {
    const page = await unwrap(
      api.GET("/api/v1/chats/{id}/items", {
        params: { path: { id: chat }, query: { ...edge, limit: PAGE } },
      }),
    );
    dispatch({ type: "page", chat, where, page });
  } catch (error) {
    dispatch({ type: "pageFailed", chat, error: error instanceof Error ? error.message : String(error) });
  }
}

/** Reads one item whole: its list form may be shortened. */
export async function loadItem(id: string): Promise<Item> {
  return unwrap(api.GET("/api/v1/items/{id}", { params: { path: { id } } }));
}
