import { describe, expect, it } from "vitest";
import { bytesOf } from "./feed";
import { Typing } from "./typing";

const bytes = (text: string) => new TextEncoder().encode(text);
const settle = () => new Promise((resolve) => setTimeout(resolve));

describe("what is typed", () => {
  it("goes in order, together while a piece is on its way", async () => {
    const sent: string[] = [];
    let release = () => {};
    const typing = new Typing(
      (data) => {
        sent.push(new TextDecoder().decode(bytesOf(data)));
        return new Promise((resolve) => (release = resolve));
      },
      () => expect.unreachable(),
    );
    typing.type(bytes("a"));
    typing.type(bytes("b"));
    await settle();
    typing.type(bytes("c"));
    typing.type(bytes("d"));
    expect(sent).toEqual(["ab"]);
    release();
    await settle();
    expect(sent).toEqual(["ab", "cd"]);
  });

  it("is cut into what the backend takes", async () => {
    const sizes: number[] = [];
    const typing = new Typing(
      (data) => {
        sizes.push(bytesOf(data).length);
        return Promise.resolve();
      },
      () => expect.unreachable(),
    );
    typing.type(new Uint8Array(300_000));
    await settle();
    expect(sizes).toEqual([131_072, 131_072, 37_856]);
  });

  it("is never sent twice: what did not arrive is said", async () => {
    let calls = 0;
    let lost = 0;
    const typing = new Typing(
      () => (calls++ === 0 ? Promise.reject(new Error("net")) : Promise.resolve()),
      () => lost++,
    );
    typing.type(bytes("rm -rf x"));
    await settle();
    expect([calls, lost]).toEqual([1, 1]);
    typing.type(bytes("ls"));
    await settle();
    expect([calls, lost]).toEqual([2, 1]);
  });
});
