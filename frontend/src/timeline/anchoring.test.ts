import { describe, expect, it } from "vitest";
import { anchorOf, isAtEnd, roomBelow, scrollTopFor, type Placed } from "./anchoring";

function place(sizes: Record<string, number>): Placed[] {
  let start = 0;
  return Object.entries(sizes).map(([key, size]) => {
    const row = { key, start, size };
    start += size;
    return row;
  });
}

const startIn = (rows: Placed[]) => (key: string) => rows.find((row) => row.key === key)?.start;

describe("the anchor", () => {
  const before = place({ a: 100, b: 200, c: 300 });

  it.each([
    [0, "a", 0],
    [99, "a", 99],
    [100, "b", 0],
    [250, "b", 150],
    [900, "c", 600],
  ])("at %i is the row that is read", (scrollTop, key, offset) => {
    expect(anchorOf(before, scrollTop)).toEqual({ at: "row", key, offset });
  });

  it("of nothing is the end", () => {
    expect(anchorOf([], 0)).toEqual({ at: "end" });
  });

  it.each([
    ["older rows arrive above", { z: 80, y: 400, a: 100, b: 200, c: 300 }, 730],
    ["a row above is measured", { a: 160, b: 200, c: 300 }, 310],
    ["a row above shrinks", { a: 20, b: 200, c: 300 }, 170],
    ["the row that is read grows", { a: 100, b: 900, c: 300 }, 250],
    ["rows below change", { a: 100, b: 200, c: 30, d: 999 }, 250],
  ])("stays when %s", (_, sizes, expected) => {
    const rows = place(sizes);
    const anchor = anchorOf(before, 250);
    expect(scrollTopFor(anchor, startIn(rows), 9_999, 500)).toBe(expected);
  });

  it("says when its row is gone", () => {
    expect(scrollTopFor({ at: "row", key: "gone", offset: 3 }, startIn(before), 600, 500)).toBeUndefined();
  });

  it("at the end follows only while the first rows are measured", () => {
    expect(scrollTopFor({ at: "end" }, startIn(before), 600, 500)).toBe(100);
    expect(scrollTopFor({ at: "end" }, startIn(before), 300, 500)).toBe(0);
  });
});

it("the end is within 80 px", () => {
  expect(isAtEnd(20, 600, 500)).toBe(true);
  expect(isAtEnd(19, 600, 500)).toBe(false);
});

describe("the room below", () => {
  const rows = place({ a: 100, own: 40 });
  it("lets the user's message stand at the top", () => {
    expect(roomBelow({ key: "own", height: 500 }, startIn(rows), 140)).toBe(460);
  });
  it("is taken by what comes, so that nothing moves", () => {
    expect(roomBelow({ key: "own", height: 500 }, startIn(rows), 440)).toBe(160);
    expect(roomBelow({ key: "own", height: 500 }, startIn(rows), 900)).toBe(0);
  });
  it("is none without such a message", () => {
    expect(roomBelow(undefined, startIn(rows), 140)).toBe(0);
    expect(roomBelow({ key: "gone", height: 500 }, startIn(rows), 140)).toBe(0);
  });
});
