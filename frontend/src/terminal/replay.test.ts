import { describe, expect, it } from "vitest";
import { Replay } from "./replay";

describe("what a screen shows", () => {
  it("for the first time is answered from the start", () => {
    expect(new Replay(true).active).toBe(false);
  });

  it("again is answered only after all that was there has come", () => {
    const replay = new Replay(false);
    expect(replay.active).toBe(true);
    replay.shown(65_536);
    expect(replay.active).toBe(true);
    replay.shown(120);
    expect(replay.active).toBe(false);
    replay.shown(65_536);
    expect(replay.active).toBe(false);
  });
});
