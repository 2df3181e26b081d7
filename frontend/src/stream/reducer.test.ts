import { describe, expect, it } from "vitest";
import type { Item } from "../api/types";
import { batch, chat, item, page } from "./fixtures";
import { reduce, type Action } from "./reducer";
import { initialState, MAX_BEYOND, MAX_ITEMS, type LiveState, type Timeline } from "./state";

const run = (actions: Action[], from: LiveState = initialState) => actions.reduce(reduce, from);
const live = (rest: Parameters<typeof batch>[0]): Action => ({ type: "batch", batch: batch(rest), at: 1 });
const open: Action = { type: "open", chat: "chat_1" };
const newest = (items: Item[], rest = {}): Action => ({
  type: "page",
  chat: "chat_1",
  where: "newest",
  page: page(items, rest),
});

function timeline(state: LiveState): Timeline {
  const held = state.timelines.get("chat_1");
  if (!held) throw new Error("the chat is not held");
  return held;
}
const ids = (state: LiveState) => timeline(state).items.map((one) => one.id);
const text = (state: LiveState, id: string) => timeline(state).items.find((one) => one.id === id)?.body.text;
const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => item(`i${from + n}`, from + n));

describe("items", () => {
  it("of chats that are not held are dropped", () => {
    expect(run([live({ items: [item("a", 1)] })]).timelines.size).toBe(0);
  });

  it("take the place of their seq and keep it when they change", () => {
    const state = run([
      open,
      newest([item("a", 1), item("c", 3)]),
      live({ items: [item("b", 2)] }),
      live({ items: [item("a", 1, { revision: 2, status: "completed" })] }),
    ]);
    expect(ids(state)).toEqual(["a", "b", "c"]);
    expect(timeline(state).items[0]?.status).toBe("completed");
    expect(timeline(state).places.get("c")).toBe(2);
  });

  it("are not replaced by an older revision", () => {
    const state = run([
      open,
      newest([item("a", 1, { revision: 5, status: "completed" })]),
      live({ items: [item("a", 1, { revision: 4 })] }),
    ]);
    expect(timeline(state).items[0]?.status).toBe("completed");
  });

  it("of an unknown kind are kept", () => {
    const state = run([open, newest([item("a", 1, { kind: "goal.budget_extended" })])]);
    expect(timeline(state).items[0]?.kind).toBe("goal.budget_extended");
  });

  it("that came before the page are joined to it", () => {
    const state = run([
      open,
      live({ items: [item("b", 2, { revision: 3 })] }),
      newest([item("a", 1), item("b", 2)]),
    ]);
    expect(ids(state)).toEqual(["a", "b"]);
    expect(timeline(state).items[1]?.revision).toBe(3);
  });

  it("older than the page leave no gap before it", () => {
    const state = run([
      open,
      live({ items: [item("old", 1, { revision: 9 })] }),
      newest(range(50, 60), { has_before: true }),
      live({ items: [item("old", 1, { revision: 10 })] }),
    ]);
    expect(ids(state)[0]).toBe("i50");
  });

  it("are the same whether live, replayed or read", () => {
    const a = item("a", 1, { body: { text: "Hello world" }, revision: 3, status: "completed" });
    const b = item("b", 2, { kind: "tool_call" });
    const read = run([open, newest([a, b])]);
    const liveRun = run([
      open,
      newest([]),
      live({ items: [item("a", 1)] }),
      live({ deltas: [{ item: "a", revision: 1, offset: 0, text: "Hello" }] }),
      live({ items: [b] }),
      live({ items: [a] }),
    ]);
    const replay = run([live({ items: [a, b] }), live({ items: [a] })], read);
    expect(timeline(liveRun).items).toEqual(timeline(read).items);
    expect(timeline(replay).items).toEqual(timeline(read).items);
  });
});

describe("deltas", () => {
  const started = run([open, newest([item("a", 1, { body: { text: "ab" } })])]);
  const delta = (offset: number, added: string, revision = 1) =>
    live({ deltas: [{ item: "a", revision, offset, text: added }] });

  it.each([
    ["joins at its offset", delta(2, "cd"), "abcd"],
    ["that is known already is dropped", delta(0, "ab"), "ab"],
    ["that overlaps adds what is new", delta(1, "bcd"), "abcd"],
    ["that would leave a gap is dropped", delta(5, "x"), "ab"],
    ["of another revision is dropped", delta(2, "x", 2), "ab"],
  ])("one that %s", (_, action, expected) => {
    expect(text(run([action], started), "a")).toBe(expected);
  });

  it("count offsets in UTF-16 units", () => {
    const state = run([open, newest([item("a", 1, { body: { text: "👍" } })]), delta(2, "好")]);
    expect(text(state, "a")).toBe("👍好");
  });

  it("do not touch other items", () => {
    const before = run([open, newest([item("a", 1), item("b", 2)])]);
    const after = run([live({ deltas: [{ item: "b", revision: 1, offset: 0, text: "x" }] })], before);
    expect(timeline(after).items[0]).toBe(timeline(before).items[0]);
  });

  it("are not undone by a page that was read before them", () => {
    const state = run([
      open,
      live({ items: [item("a", 1, { body: { text: "long text" } })] }),
      newest([item("a", 1, { body: { text: "long" } })]),
    ]);
    expect(text(state, "a")).toBe("long text");
  });
});

describe("a reset", () => {
  it("keeps what is in view and joins the newest page to it", () => {
    const held = run([open, newest(range(1, 40), { has_before: true })]);
    const reset = run([live({ reset: "too_slow", next: "e.9" })], held);
    expect(timeline(reset).phase).toBe("stale");
    expect(reset.cursor).toBe("e.9");
    expect(ids(reset)).toHaveLength(40);
    const again = run([newest(range(30, 90), { has_before: true })], reset);
    expect(timeline(again).phase).toBe("ready");
    expect(ids(again)).toEqual(range(1, 90).map((one) => one.id));
  });

  it("never joins across a gap", () => {
    const held = run([open, newest(range(1, 40)), live({ reset: "epoch" })]);
    const again = run(
      [live({ items: [item("i300", 300)] }), newest(range(200, 280), { has_before: true })],
      held,
    );
    expect(ids(again)).toEqual([...range(200, 280), item("i300", 300)].map((one) => one.id));
  });
});

describe("pages", () => {
  it("before the stretch come in front, and the reader's end stays", () => {
    const state = run([
      open,
      newest(range(100, 180), { has_before: true }),
      { type: "page", chat: "chat_1", where: "before", page: page(range(20, 99), { has_before: true }) },
    ]);
    expect(ids(state)[0]).toBe("i20");
    expect(timeline(state).hasBefore).toBe(true);
  });

  it("keep memory bounded: the far end is cut and can be read again", () => {
    let state = run([open, newest(range(10_001, 10_080), { has_before: true })]);
    for (let first = 10_001 - 80; first > 5_000; first -= 80) {
      state = run(
        [
          {
            type: "page",
            chat: "chat_1",
            where: "before",
            page: page(range(first, first + 79), { has_before: true }),
          },
        ],
        state,
      );
    }
    expect(timeline(state).items).toHaveLength(MAX_ITEMS);
    expect(timeline(state).hasAfter).toBe(true);

    // What happens at the end meanwhile waits, and is joined without a gap.
    state = run([live({ items: [item("i10081", 10_081)] })], state);
    expect(ids(state)).not.toContain("i10081");
    let last = timeline(state).items.at(-1)?.seq ?? 0;
    while (last < 10_080) {
      const to = Math.min(last + 80, 10_080);
      state = run(
        [
          {
            type: "page",
            chat: "chat_1",
            where: "after",
            page: page(range(last + 1, to), { has_after: to < 10_080 }),
          },
        ],
        state,
      );
      last = to;
    }
    expect(ids(state).at(-1)).toBe("i10081");
    expect(timeline(state).hasAfter).toBe(false);
    expect(timeline(state).items.length).toBeLessThanOrEqual(MAX_ITEMS + 1);
  });

  it("jumping to the end keeps what came beside the page", () => {
    let state = run([open, newest(range(1, 80), { has_after: false })]);
    state = run([{ type: "page", chat: "chat_1", where: "before", page: page([]) }], state);
    const cut: LiveState = {
      ...state,
      timelines: new Map([["chat_1", { ...timeline(state), hasAfter: true }]]),
    };
    const end = run(
      [live({ items: [item("i501", 501)] }), newest(range(420, 500), { has_before: true })],
      cut,
    );
    expect(ids(end).at(-1)).toBe("i501");
    expect(ids(end)[0]).toBe("i420");
  });

  it("more beyond the end than is kept is read as pages", () => {
    const held = run([open, newest(range(1, 10))]);
    const cut: LiveState = {
      ...held,
      timelines: new Map([["chat_1", { ...timeline(held), hasAfter: true }]]),
    };
    const far = run([live({ items: range(100, 100 + MAX_BEYOND + 5) })], cut);
    expect(timeline(far).beyond).toHaveLength(MAX_BEYOND);
    const joined = run([{ type: "page", chat: "chat_1", where: "after", page: page(range(11, 90)) }], far);
    expect(timeline(joined).hasAfter).toBe(true);
  });
});

describe("chats", () => {
  const event = (type: string, id: string, body: unknown) =>
    live({ events: [{ id: 1, type, chat: id, at: "2026-11-27T11:20:00.000Z", body }] });

  it("follow their summaries", () => {
    const state = run([
      { type: "chats", chats: [chat("a")], archived: false, keep: new Set() },
      event("chat", "a", chat("a", { title: "Renamed" })),
      event("chat", "b", chat("b")),
      event("chat.deleted", "b", {}),
    ]);
    expect([...state.chats.values()].map((one) => one.title)).toEqual(["Renamed"]);
  });

  it("that the stream told of are not undone by an older list", () => {
    const state = run([
      event("chat", "a", chat("a", { title: "New" })),
      {
        type: "chats",
        chats: [chat("a", { title: "Old" }), chat("gone")],
        archived: false,
        keep: new Set(["a", "gone"]),
      },
    ]);
    expect([...state.chats.values()].map((one) => one.title)).toEqual(["New"]);
  });

  it("list the archived ones apart", () => {
    const state = run([
      { type: "chats", chats: [chat("a")], archived: false, keep: new Set() },
      { type: "chats", chats: [chat("z", { archived: true })], archived: true, keep: new Set() },
      { type: "chats", chats: [chat("b")], archived: false, keep: new Set() },
    ]);
    expect([...state.chats.keys()].sort()).toEqual(["b", "z"]);
  });

  it("keep turns bounded, the newest ones", () => {
    let state = run([open]);
    for (let n = 0; n < 250; n++)
      state = run([event("turn", "chat_1", { id: `t${n}`, state: "completed" })], state);
    expect(timeline(state).turns.size).toBe(200);
    expect(timeline(state).turns.has("t249")).toBe(true);
  });
});
