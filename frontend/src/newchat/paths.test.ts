import { describe, expect, it } from "vitest";
import { asFolder, completed, parentOf, withTilde } from "./paths";

describe("Tab in the folder field", () => {
  it.each([
    ["/home/ma", ["mara"], "/home/mara/"],
    ["/home/MA", ["mara"], "/home/mara/"],
    ["~/co", ["code", "config"], undefined],
    ["~/c", ["code", "config"], "~/co"],
    ["~/code", ["code"], undefined],
    ["~/code", ["code", "code2"], undefined],
    ["~/code/", ["parcel", "infra"], undefined],
    ["~/code/x", [], undefined],
    ["C:\\src\\a", ["api"], "C:\\src\\api\\"],
  ])("%s with %j: %s", (typed, names, expected) => {
    expect(completed(typed, names)).toBe(expected);
  });
});

describe("the parent of a folder", () => {
  it.each([
    ["/home/mara/code", "/home/mara/"],
    ["/home/mara/code/", "/home/mara/"],
    ["/home", "/"],
    ["/", "/"],
    ["C:\\src\\api", "C:\\src\\"],
    ["code", "code/"],
  ])("%s: %s", (path, expected) => {
    expect(parentOf(path)).toBe(expected);
  });

  it("keeps the separator of the machine", () => {
    expect(asFolder("C:\\src")).toBe("C:\\src\\");
    expect(asFolder("/src/")).toBe("/src/");
  });
});

describe("a path below the home directory", () => {
  it.each([
    ["/home/mara/code", "/home/mara", "~/code"],
    ["/home/mara", "/home/mara", "~"],
    ["/home/maraschino", "/home/mara", "/home/maraschino"],
    ["C:\\Users\\m\\x", "C:\\Users\\m", "~\\x"],
    ["/srv", "/home/mara", "/srv"],
    ["/srv", undefined, "/srv"],
  ])("%s in %s: %s", (path, home, expected) => {
    expect(withTilde(path, home)).toBe(expected);
  });
});
