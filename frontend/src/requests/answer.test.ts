import { describe, expect, it } from "vitest";
import type { AskRequest } from "../api/types";
import { choicesOf } from "./answer";

const words = { allowOnce: "Allow once", allowSession: "Allow for this chat", deny: "Deny" };
const request = (...options: [string, string][]): AskRequest => ({
  id: "req_1",
  title: "Run?",
  options: options.map(([kind, label]) => ({ id: `${kind} ${label}`, kind, label })),
});

describe("the choices of an approval", () => {
  it("have our words and letters where they are the usual ones", () => {
    const choices = choicesOf(
      request(["allow_once", "Yes"], ["allow_session", "Yes, session"], ["reject_once", "No"]),
      words,
    );
    expect(choices.map(({ label, key }) => [label, key])).toEqual([
      ["Allow once", "A"],
      ["Allow for this chat", "S"],
      ["Deny", "D"],
    ]);
  });

  it("say in the agent's words what a rule covers", () => {
    expect(choicesOf(request(["allow_always", "Always allow git status"]), words)[0]).toMatchObject({
      label: "Always allow git status",
      key: "R",
    });
  });

  it("of one kind are told apart, and only the first has the letter", () => {
    const choices = choicesOf(request(["allow_once", "This file"], ["allow_once", "This folder"]), words);
    expect(choices.map(({ label, key }) => [label, key])).toEqual([
      ["This file", "A"],
      ["This folder", undefined],
    ]);
  });

  it("of an unknown kind are offered too", () => {
    expect(choicesOf(request(["ask_friend", "Ask a friend"]), words)).toMatchObject([
      { label: "Ask a friend", key: undefined },
    ]);
  });

  it("are none where the agent offers none", () => {
    expect(choicesOf({ id: "r", title: "?" }, words)).toEqual([]);
  });
});
