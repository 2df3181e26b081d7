import { describe, expect, it } from "vitest";
import type { AskRequest } from "../api/types";
import { letterOf } from "./letters";

const request: AskRequest = {
  id: "req_1",
  title: "Run a command",
  options: [
    { id: "once", kind: "allow_once", label: "Yes" },
    { id: "always", kind: "allow_always", label: "Always" },
    { id: "no", kind: "reject_once", label: "No", reason: true },
  ],
};
const press = (key: string, rest: KeyboardEventInit = {}) => new KeyboardEvent("keydown", { key, ...rest });

describe("a letter on a request", () => {
  it.each([
    ["a", {}, "once"],
    ["A", {}, "once"],
    ["r", {}, "always"],
    ["d", {}, "no"],
    ["D", { shiftKey: true }, "reason"],
    // The agent offers no such option.
    ["s", {}, undefined],
    ["Enter", {}, undefined],
    [" ", {}, undefined],
    ["a", { ctrlKey: true }, undefined],
    ["a", { repeat: true }, undefined],
    ["A", { shiftKey: true }, undefined],
  ] as const)("%s %j: %s", (key, rest, expected) => {
    const letter = letterOf(press(key, rest), request);
    expect(letter === "reason" ? "reason" : letter?.option.id).toBe(expected);
  });

  it("asks for no reason where none reaches the agent", () => {
    const plain = { ...request, options: [{ id: "no", kind: "reject_once", label: "No" }] };
    expect(letterOf(press("D", { shiftKey: true }), plain)).toBeUndefined();
  });
});
