import { describe, expect, it } from "vitest";
import type { Item, Turn } from "../api/types";
import { item } from "../stream/fixtures";
import { deriveRows, type Row, type RowsInput } from "./rows";

const turn = (id: string, state: Turn["state"]): Turn => ({
  id,
  chat: "chat_1",
  state,
  client_id: id,
  text: "",
  created_at: "2026-11-27T11:20:00.000Z",
});

const input = (items: Item[], rest: Partial<RowsInput> = {}): RowsInput => ({
  items,
  whole: false,
  turns: new Map(),
  turn: undefined,
  open: new Set(),
  folded: new Set(),
  expanded: new Set(),
  unreadSeq: undefined,
  ...rest,
});

const user = (seq: number, turnId = "turn_1") =>
  item(`u${seq}`, seq, { kind: "user_message", status: "completed", turn: turnId });
const tool = (seq: number, rest: Partial<Item> = {}) =>
  item(`t${seq}`, seq, { kind: "tool_call", status: "completed", ...rest });
const answer = (seq: number, rest: Partial<Item> = {}) =>
  item(`a${seq}`, seq, { status: "completed", ...rest });
const notice = (seq: number, code: string, level: "info" | "error") =>
  item(`n${seq}`, seq, {
    kind: "notice",
    status: level === "error" ? "failed" : "completed",
    body: { text: code, notice: { code, level } },
  });
const shape = (rows: Row[]) =>
  rows
    .filter((row) => row.kind !== "day")
    .map((row) => (row.kind === "run" ? `run${row.open ? "+" : "-"}` : `${row.kind} ${row.key}`));

describe("rows", () => {
  it("of a finished turn: message, folded run, the answer outside", () => {
    expect(
      shape(
        deriveRows(input([user(1), tool(2), answer(3, { body: { commentary: true } }), tool(4), answer(5)])),
      ),
    ).toEqual(["user u1", "run-", "answer a5"]);
  });

  it("of a live turn: everything in order on its line", () => {
    const rows = deriveRows(input([user(1), tool(2), answer(3)], { turn: turn("turn_1", "running") }));
    expect(shape(rows)).toEqual(["user u1", "run+", "step t2", "step a3"]);
  });

  it("of a turn that ended in view do not move: it stays open, its answer where it was", () => {
    const items = [user(1), tool(2), answer(3)];
    const live = deriveRows(input(items, { turn: turn("turn_1", "running"), open: new Set(["turn_1"]) }));
    const done = deriveRows(
      input(items, { turn: turn("turn_1", "completed"), open: new Set(["turn_1"]) }),
      live,
    );
    expect(shape(done)).toEqual(shape(live));
  });

  it("of a turn without work have no head", () => {
    expect(shape(deriveRows(input([user(1), answer(2)])))).toEqual(["user u1", "answer a2"]);
  });

  it("of a turn that began and said nothing yet show that it works", () => {
    expect(shape(deriveRows(input([user(1)], { turn: turn("turn_1", "starting") })))).toEqual([
      "user u1",
      "run+",
    ]);
  });

  it("keep a failure outside the folded run", () => {
    expect(shape(deriveRows(input([user(1), tool(2), notice(3, "agent_ended", "error")])))).toEqual([
      "user u1",
      "run-",
      "error n3",
    ]);
  });

  it("show how a turn was stopped as a mark", () => {
    expect(shape(deriveRows(input([user(1), tool(2), notice(3, "stopped", "info")])))).toEqual([
      "user u1",
      "run-",
      "mark n3",
    ]);
  });

  it("open a run by hand, and fold one that was open", () => {
    const items = [user(1), tool(2), answer(3)];
    expect(shape(deriveRows(input(items, { open: new Set(["turn_1"]) })))).toEqual([
      "user u1",
      "run+",
      "step t2",
      "step a3",
    ]);
    expect(
      shape(deriveRows(input(items, { open: new Set(["turn_1"]), folded: new Set(["turn_1"]) }))),
    ).toEqual(["user u1", "run-", "answer a3"]);
  });

  it("put a sub-agent's calls inside its own, drawn when it is opened", () => {
    const items = [user(1), tool(2), tool(3, { parent: "t2" }), tool(4, { parent: "t3" }), tool(5)];
    const live = { turn: turn("turn_1", "running") };
    expect(shape(deriveRows(input(items, live)))).toEqual(["user u1", "run+", "step t2", "step t5"]);
    const open = deriveRows(input(items, { ...live, expanded: new Set(["t2", "t3"]) }));
    expect(open.map((row) => (row.kind === "step" ? row.depth : ""))).toContain(2);
    const run = open.find((row) => row.kind === "run");
    expect(run?.kind === "run" && run.run.tools).toBe(4);
  });

  it("draw the unread line once, before what was not seen, never before the user's own words", () => {
    const rows = deriveRows(
      input([user(1), answer(2), user(3, "turn_2"), answer(4, { turn: "turn_2" })], { unreadSeq: 3 }),
    );
    expect(shape(rows)).toEqual(["user u1", "answer a2", "user u3", "unread unread", "answer a4"]);
  });

  it("part the days", () => {
    const rows = deriveRows(input([user(1), { ...user(2, "turn_2"), at: "2026-11-29T11:00:00.000Z" }]));
    expect(rows.filter((row) => row.kind === "day")).toHaveLength(2);
  });

  it("keep unknown kinds", () => {
    expect(
      shape(
        deriveRows(
          input([user(1), item("x", 2, { kind: "goal.budget_extended" })], {
            turn: turn("turn_1", "running"),
          }),
        ),
      ),
    ).toContain("step x");
  });

  it("are the same objects where nothing changed", () => {
    const items = [user(1), tool(2), answer(3)];
    const live = { turn: turn("turn_1", "running") };
    const before = deriveRows(input(items, live));
    const grown = { ...answer(3), body: { text: "more" } };
    const after = deriveRows(input([items[0] as Item, items[1] as Item, grown], live), before);
    expect(after.slice(0, -1)).toEqual(before.slice(0, -1));
    expect(after.map((row, n) => row === before[n])).toEqual([true, true, true, true, false]);
  });

  it("count what a run changed", () => {
    const files = [{ path: "a.go", change: "modified" as const, added: 3, removed: 1 }];
    const rows = deriveRows(
      input([
        user(1),
        tool(2, { body: { tool: { kind: "edit", name: "Edit", title: "a.go", files } } }),
        tool(3),
      ]),
    );
    const run = rows.find((row) => row.kind === "run");
    expect(run?.kind === "run" && [run.run.tools, run.run.added, run.run.removed]).toEqual([2, 3, 1]);
  });
});
