import { describe, expect, it } from "vitest";
import { base64Of, bytesOf, Feed, type FeedState, type Output } from "./feed";

const encode = (text: string) => base64Of(new TextEncoder().encode(text));
const gone = new Error("404");

/** A feed over scripted answers; an Error is thrown. Runs to its end. */
async function follow(answers: (Output | Error)[]) {
  const asked: number[] = [];
  const states: FeedState[] = [];
  const waits: number[] = [];
  let shown = "";
  let gaps = 0;
  const decoder = new TextDecoder();
  const feed = new Feed({
    read: (after) => {
      asked.push(after);
      const next = answers.shift() ?? gone;
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    write: (bytes) => {
      shown += decoder.decode(bytes, { stream: true });
      return Promise.resolve();
    },
    onGap: () => gaps++,
    onState: (state) => states.at(-1) !== state && states.push(state),
    isGone: (error) => error === gone,
    wait: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
  });
  await feed.run();
  return { asked, states, shown, gaps, waits };
}

const piece = (after: number, text: string, ended = false): Output => {
  const data = encode(text);
  return { after, next: after + bytesOf(data).length, data, ended };
};

describe("the output of a terminal", () => {
  it("is shown once and in order, and ends", async () => {
    const { asked, shown, states } = await follow([
      piece(0, "one "),
      piece(4, ""),
      piece(4, "two", true),
      piece(7, "", true),
    ]);
    expect(shown).toBe("one two");
    expect(asked).toEqual([0, 4, 4, 7]);
    expect(states).toEqual(["following", "ended"]);
  });

  it("goes on where it was after a break", async () => {
    const { asked, shown, states, waits } = await follow([
      piece(0, "one "),
      new Error("net"),
      new Error("net"),
      piece(4, "two"),
      piece(7, "", true),
    ]);
    expect(shown).toBe("one two");
    expect(asked).toEqual([0, 4, 4, 4, 7]);
    expect(states).toEqual(["following", "reconnecting", "following", "ended"]);
    expect(waits).toEqual([250, 1000]);
  });

  it("says where something is missing", async () => {
    expect((await follow([piece(0, "a"), piece(9, "b"), piece(10, "", true)])).gaps).toBe(1);
    expect((await follow([piece(0, "a"), piece(1, "b")])).gaps).toBe(0);
  });

  it("stops asking when there is no such terminal", async () => {
    const { asked, states } = await follow([piece(0, "a"), gone]);
    expect(asked).toEqual([0, 1]);
    expect(states).toEqual(["following", "gone"]);
  });

  it("keeps half a character for the next piece", async () => {
    const bytes = new TextEncoder().encode("位");
    const { shown } = await follow([
      { after: 0, next: 1, data: base64Of(bytes.subarray(0, 1)), ended: false },
      { after: 1, next: 3, data: base64Of(bytes.subarray(1)), ended: false },
    ]);
    expect(shown).toBe("位");
  });

  it("carries any bytes", () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => at % 256);
    expect(bytesOf(base64Of(bytes))).toEqual(bytes);
  });
});
