import { describe, expect, it } from "vitest";
import type { Attention } from "../api/types";
import { filtered, keyOf, placeOf } from "./queue";

const entry = (kind: Attention["kind"], rest: Partial<Attention> = {}): Attention => ({
  kind,
  chat: "chat_1",
  agent: "demo",
  title: "Uploads",
  text: "",
  at: "2026-11-27T11:20:00.000Z",
  ...rest,
});

describe("what waits", () => {
  const list = [entry("approval"), entry("question"), entry("failed"), entry("finished"), entry("held")];
  it.each([
    ["all", 5],
    ["approvals", 1],
    ["questions", 1],
    ["finished", 1],
  ] as const)("%s: %i", (filter, count) => {
    expect(filtered(list, filter)).toHaveLength(count);
  });

  it("is told apart by its request, else its turn", () => {
    expect(keyOf(entry("approval", { request: "r1", turn: "t" }))).not.toBe(
      keyOf(entry("approval", { request: "r2", turn: "t" })),
    );
    expect(keyOf(entry("failed", { turn: "t1" }))).not.toBe(keyOf(entry("failed", { turn: "t2" })));
  });
});

describe("the shown entry", () => {
  it.each([
    ["stays while others come and go", ["b", "c"], "c", 0, 1],
    ["is the next when it was answered", ["a", "c"], "b", 1, 1],
    ["is the last when there is no next", ["a", "b"], "c", 2, 1],
    ["is the first at the start", ["a", "b"], undefined, 0, 0],
    ["is none when nothing waits", [], "a", 3, 0],
  ] as const)("%s", (_, keys, chosen, before, expected) => {
    expect(placeOf(keys, chosen, before)).toBe(expected);
  });
});
