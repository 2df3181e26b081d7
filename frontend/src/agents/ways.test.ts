import { describe, expect, it } from "vitest";
import { agent } from "./fixtures";
import { canBegin, inOrder, namedModels, wayOut } from "./ways";

describe("the way out of what is wrong with an agent", () => {
  const commands = { install: ["npm", "i"], login: ["x", "login"], update: ["x", "update"] };
  it.each([
    ["missing", "install"],
    ["signed_out", "login"],
    ["too_old", "update"],
    ["broken", undefined],
    ["ready", undefined],
    ["unknown", undefined],
  ] as const)("%s: %s", (status, kind) => {
    expect(wayOut(agent("x", { status, ...commands }))?.kind).toBe(kind);
  });

  it("is none where the agent names no command", () => {
    expect(wayOut(agent("x", { status: "missing" }))).toBeUndefined();
    expect(wayOut(agent("x", { status: "missing", install: [] }))).toBeUndefined();
  });
});

describe("agents", () => {
  it("that can be worked with come first, the demo last", () => {
    const list = [
      agent("demo", { demo: true }),
      agent("gone", { status: "missing" }),
      agent("out", { status: "signed_out" }),
      agent("b"),
      agent("a"),
    ];
    expect(inOrder(list).map((one) => one.name)).toEqual(["b", "a", "out", "gone", "demo"]);
  });

  it("that are missing, broken or too old cannot begin", () => {
    expect(
      (["ready", "signed_out", "unknown", "missing", "broken", "too_old"] as const).filter((status) =>
        canBegin(agent("x", { status })),
      ),
    ).toEqual(["ready", "signed_out", "unknown"]);
  });

  it("do not count their default as a model", () => {
    expect(
      namedModels(
        agent("x", {
          models: [
            { value: "", label: "Default" },
            { value: "o", label: "O" },
          ],
        }),
      ),
    ).toBe(1);
  });
});
