import { describe, expect, it } from "vitest";
import { item } from "../stream/fixtures";
import { changedFiles, lastSaid } from "./details";

const diff = (id: string, seq: number, path: string, added: number, turn = "turn_1") =>
  item(id, seq, { turn, kind: "diff", body: { files: [{ path, added, removed: 1, change: "modified" }] } });

describe("what was said last", () => {
  const items = [
    item("a", 1, { body: { text: "first" } }),
    item("b", 2, { body: { text: "before" } }),
    item("sub", 3, { parent: "tool", body: { text: "of a sub-agent" } }),
    item("req", 4, { kind: "approval" }),
    item("c", 5, { body: { text: "after" } }),
    item("d", 6, { body: { text: "  " } }),
  ];
  it("is the last answer that has words", () => {
    expect(lastSaid(items)?.id).toBe("c");
    expect(lastSaid([])).toBeUndefined();
  });
  it("stood before the request", () => {
    expect(lastSaid(items, "req")?.id).toBe("b");
    expect(lastSaid(items, "not held")?.id).toBe("c");
  });
});

describe("what a turn changed", () => {
  it("is each file once, of that turn only", () => {
    const files = changedFiles(
      [
        diff("1", 1, "a.go", 3),
        diff("2", 2, "a.go", 4),
        diff("3", 3, "b.go", 1),
        diff("4", 4, "c.go", 1, "turn_0"),
      ],
      "turn_1",
    );
    expect(files.map((file) => [file.path, file.added, file.removed])).toEqual([
      ["a.go", 7, 2],
      ["b.go", 1, 1],
    ]);
  });
});
