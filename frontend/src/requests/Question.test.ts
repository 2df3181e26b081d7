import { describe, expect, it } from "vitest";
import type { QuestionField } from "../api/types";
import { answersOf, choose } from "./Question";

const one: QuestionField = {
  id: "q1",
  text: "Which?",
  choices: [
    { value: "a", label: "A" },
    { value: "b", label: "B" },
  ],
  free_text: true,
};
const many: QuestionField = { ...one, id: "q2", multiple: true };

describe("answers", () => {
  it("of one are replaced, of many gathered", () => {
    let values = choose(one, {}, "a");
    values = choose(one, values, "b");
    values = choose(many, values, "a");
    values = choose(many, values, "b");
    values = choose(many, values, "a");
    expect(answersOf([one, many], values)).toEqual({ q1: ["b"], q2: ["b"] });
  });

  it("are none until each choice of one is made", () => {
    expect(answersOf([one, many], {})).toBeUndefined();
    expect(answersOf([one, many], choose(many, {}, "a"))).toBeUndefined();
    expect(answersOf([one, many], choose(one, {}, "a"))).toEqual({ q1: ["a"] });
  });

  it("may leave out words of one's own, unless nothing else is asked", () => {
    const remark: QuestionField = { id: "q3", text: "Anything else?", free_text: true };
    expect(answersOf([one, remark], choose(one, {}, "a"))).toEqual({ q1: ["a"] });
    expect(answersOf([remark], {})).toBeUndefined();
  });

  it("in own words stand for a choice, beside choices of many", () => {
    const values = { q1: { chosen: ["a"], own: " neither " }, q2: { chosen: ["b"], own: "and this" } };
    expect(answersOf([one, many], values)).toEqual({ q1: ["neither"], q2: ["b", "and this"] });
  });
});
