import type { Batch, Chat, Item, ItemPage } from "../api/types";

/** Values for tests of the reducer and of views; never part of the product. */
export function item(id: string, seq: number, rest: Partial<Item> = {}): Item {
  return {
    id,
    chat: "chat_1",
    turn: "turn_1",
    kind: "answer",
    status: "in_progress",
    seq,
    revision: 1,
    at: "2026-11-27T11:20:00.000Z",
    summary: "",
    body: {},
    ...rest,
  };
}

export function batch(rest: Partial<Batch>): Batch {
  return { epoch: "e", next: "e.1", events: [], items: [], deltas: [], ...rest };
}

export function page(items: Item[], rest: Partial<ItemPage> = {}): ItemPage {
  return { items, has_before: false, has_after: false, ...rest };
}

export function chat(id: string, rest: Partial<Chat> = {}): Chat {
  return {
    id,
    agent: "demo",
    cwd: "/home/mara/code/parcel",
    title: id,
    permissions: "ask",
    state: "idle",
    position: 0,
    read_seq: 0,
    last_seq: 0,
    queued: 0,
    held: 0,
    created_at: "2026-11-27T09:00:00.000Z",
    updated_at: "2026-11-27T09:00:00.000Z",
    ...rest,
  };
}
