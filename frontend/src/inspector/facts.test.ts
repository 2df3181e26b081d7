import { describe, expect, it } from "vitest";
import { item } from "../stream/fixtures";
import { artifactsOf, byFolder, changesByTurn } from "./facts";

const file = (path: string, added: number, removed = 0) => ({
  path,
  change: "modified" as const,
  added,
  removed,
  patch: "@@",
});
const edit = (id: string, seq: number, files: ReturnType<typeof file>[], rest = {}) =>
  item(id, seq, {
    kind: "tool_call",
    status: "completed",
    body: { tool: { kind: "edit", name: "Edit", title: "", files } },
    ...rest,
  });

describe("changes by turn", () => {
  const items = [
    item("u", 1, { kind: "user_message" }),
    edit("a", 2, [file("src/a.go", 3, 1)]),
    edit("b", 3, [file("src/a.go", 2), file("b.go", 1)]),
    edit("refused", 4, [file("c.go", 100)], { status: "cancelled" }),
  ];
  it("sum what happened to each file, and leave out what did not happen", () => {
    const [turn] = changesByTurn(items);
    expect(turn).toMatchObject({ turn: "turn_1", added: 6, removed: 1 });
    expect(turn?.files.map((one) => [one.path, one.added])).toEqual([
      ["src/a.go", 5],
      ["b.go", 1],
    ]);
  });
  it("stand in their folders", () => {
    expect(
      byFolder(changesByTurn(items)[0]?.files ?? [], (path) => path).map((folder) => folder.path),
    ).toEqual(["", "src"]);
  });
});

it("artifacts are listed newest first", () => {
  const artifact = (id: string) => ({ id, name: id, type: "image/png", size: 1 });
  const items = [
    item("a", 1, { kind: "artifact", body: { artifact: artifact("1") } }),
    item("b", 2, { kind: "artifact", body: { artifact: artifact("2") } }),
  ];
  expect(artifactsOf(items).map((one) => one.file.id)).toEqual(["2", "1"]);
});
