import { describe, expect, it } from "vitest";
import { chat } from "../stream/fixtures";
import { groupChats, positionAt, shortPaths } from "./groups";

describe("groups of chats", () => {
  it("are pinned, folders and working folders by name, archived", () => {
    const groups = groupChats([
      chat("a", { cwd: "/code/parcel" }),
      chat("b", { cwd: "/code/infra", folder: "Later" }),
      chat("c", { cwd: "/code/infra" }),
      chat("d", { pinned: true }),
      chat("e", { archived: true, pinned: true }),
    ]);
    expect(groups.map((group) => [group.kind, group.label, group.chats.map((one) => one.id).join()])).toEqual(
      [
        ["pinned", "", "d"],
        ["cwd", "infra", "c"],
        ["folder", "Later", "b"],
        ["cwd", "parcel", "a"],
        ["archived", "", "e"],
      ],
    );
  });

  it("tell folders of one name apart", () => {
    expect([...shortPaths(["/a/x/web", "/a/y/web", "C:\\src\\api", "/"]).values()]).toEqual([
      "x/web",
      "y/web",
      "api",
      "/",
    ]);
  });

  it("keep the user's order", () => {
    const [group] = groupChats([
      chat("a", { position: 2 }),
      chat("b", { position: -1 }),
      chat("c", { position: 0.5 }),
    ]);
    expect(group?.chats.map((one) => one.id)).toEqual(["b", "c", "a"]);
  });
});

describe("moving a chat", () => {
  const list = [chat("a", { position: 1 }), chat("b", { position: 2 }), chat("c", { position: 4 })];
  it.each([
    ["c", 0, 0],
    ["c", 1, 1.5],
    ["a", 1, 3],
    ["a", 2, 5],
    ["new", 3, 5],
  ])("%s to place %i", (id, place, expected) => {
    expect(positionAt(list, id, place)).toBe(expected);
  });
});
