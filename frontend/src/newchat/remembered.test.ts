import { beforeEach, describe, expect, it } from "vitest";
import { agent } from "../agents/fixtures";
import { canBegin } from "../agents/ways";
import type { Settings } from "../api/types";
import { firstAgent, firstChoice, remember, remembered } from "./remembered";

const models = [
  { value: "", label: "Default", efforts: ["low", "high"] },
  { value: "opus", label: "Opus", efforts: ["high", "max"] },
];
const settings = (rest: Partial<Settings>): Settings =>
  ({ agents: {}, default_permissions: "ask", ...rest }) as Settings;

beforeEach(() => localStorage.clear());

describe("a new chat begins with", () => {
  it("the agent asked for, then the one set, the one used last, the first that can", () => {
    const list = [agent("gone", { status: "missing" }), agent("a"), agent("b")];
    expect(firstAgent(list, ["b", "a"], canBegin)).toBe("b");
    expect(firstAgent(list, [undefined, "", "a"], canBegin)).toBe("a");
    expect(firstAgent(list, ["gone", "unknown"], canBegin)).toBe("a");
    expect(firstAgent([], ["a"], canBegin)).toBeUndefined();
  });

  it("what was chosen last, as far as the agent still has it", () => {
    remember("/p", "x", { model: "opus", effort: "max", permissions: "plan" });
    expect(firstChoice(agent("x", { models }), undefined, remembered())).toEqual({
      model: "opus",
      effort: "max",
      permissions: "plan",
    });
    expect(firstChoice(agent("x", { models: [], modes: ["ask"] }), undefined, remembered())).toEqual({
      model: "",
      effort: "",
      permissions: "ask",
    });
  });

  it("the settings of the agent before those of all", () => {
    const set = settings({
      default_permissions: "plan",
      agents: { x: { model: "opus", permissions: "accept-edits" } },
    });
    expect(firstChoice(agent("x", { models }), set, {}).permissions).toBe("accept-edits");
    expect(firstChoice(agent("x", { models }), set, {}).model).toBe("opus");
    expect(firstChoice(agent("y", { models }), set, {}).permissions).toBe("plan");
  });

  it("full access only when it is set", () => {
    remember("/p", "x", { model: "", effort: "", permissions: "full" });
    expect(firstChoice(agent("x"), settings({}), remembered()).permissions).toBe("ask");
    expect(firstChoice(agent("x", { modes: ["full", "plan"] }), undefined, {}).permissions).toBe("plan");
    expect(firstChoice(agent("x"), settings({ default_permissions: "full" }), {}).permissions).toBe("full");
  });

  it("survives a damaged memory", () => {
    localStorage.setItem("berth.newChat", "{");
    expect(remembered()).toEqual({});
    localStorage.setItem("berth.newChat", "null");
    expect(remembered()).toEqual({});
  });
});
