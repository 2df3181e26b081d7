import { describe, expect, it } from "vitest";
import { score } from "./rank";

describe("what is typed in the palette", () => {
  it.each([
    ["new", "New chat", "", true],
    ["NEW CH", "New chat", "", true],
    ["chat new", "New chat", "", true],
    ["nc", "New chat", "", true],
    ["parcel uploads", "Resumable uploads", "/home/mara/code/parcel", true],
    ["上传", "可续传的上传", "", true],
    ["xyz", "New chat", "", false],
    ["nt", "New chat", "", false],
    ["new xyz", "New chat", "", false],
    ["c", "New", "", false],
  ])("%s finds %s: %s", (query, title, beside, found) => {
    expect(score(query, title, beside) > 0).toBe(found);
  });

  it("finds the beginning before the inside, the title before what stands beside it", () => {
    const order = (query: string, texts: [string, string?][]) =>
      [...texts].sort((a, b) => score(query, ...b) - score(query, ...a)).map(([title]) => title);
    expect(order("set", [["Reset"], ["My settings"], ["Settings"]])).toEqual([
      "Settings",
      "My settings",
      "Reset",
    ]);
    expect(order("infra", [["Digest", "/code/infra"], ["Infra"]])).toEqual(["Infra", "Digest"]);
  });

  it("nothing finds everything", () => {
    expect(score("", "anything")).toBeGreaterThan(0);
    expect(score("  ", "anything")).toBeGreaterThan(0);
  });
});
