import { describe, expect, it } from "vitest";
import { complete, rank, tokenAt } from "./suggest";

describe("the token at the caret", () => {
  it.each([
    ["/", 1, "command", ""],
    ["/pl", 3, "command", "pl"],
    ["look at @src/ma", 15, "file", "src/ma"],
    ["@", 1, "file", ""],
    ["（@文件", 4, "file", "文件"],
  ])("of %j is a %s", (text, caret, kind, query) => {
    expect(tokenAt(text, caret)).toMatchObject({ kind, query });
  });

  it.each([
    ["/Users/mara", 11],
    ["/plan now", 9],
    ["see /plan", 9],
    ["mara@example.org", 16],
    ["plain", 5],
    ["@file done", 10],
  ])("of %j is none", (text, caret) => {
    expect(tokenAt(text, caret)).toBeUndefined();
  });
});

it("completion keeps what stands around it", () => {
  const token = tokenAt("see @sr and go", 7);
  expect(token && complete("see @sr and go", token, "@src/main.go")).toEqual({
    text: "see @src/main.go and go",
    caret: 17,
  });
  const command = tokenAt("/pl", 3);
  expect(command && complete("/pl", command, "/plan")).toEqual({ text: "/plan ", caret: 6 });
});

it("what begins with the query comes first", () => {
  const list = [{ name: "explain" }, { name: "plan" }, { name: "other" }];
  expect(rank(list, "pla").map((one) => one.name)).toEqual(["plan", "explain"]);
});
