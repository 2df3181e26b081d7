import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Batch } from "../api/types";
import { batch } from "../stream/fixtures";
import { PollSubscription } from "./poll";
import type { ConnectionStatus } from "./transport";

type Asked = { query: URLSearchParams; answer: (response: Response) => void; fail: () => void };

let asked: Asked[] = [];
let got: Batch[] = [];
let states: ConnectionStatus["state"][] = [];
let poll: PollSubscription;

const fetch = (request: Request) =>
  new Promise<Response>((resolve, reject) => {
    asked.push({
      query: new URL(request.url, "http://localhost").searchParams,
      answer: resolve,
      fail: () => reject(new Error("gone")),
    });
  });
const json = (body: unknown) => new Response(JSON.stringify(body));
const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  got = [];
  states = [];
  poll = new PollSubscription("page", fetch, {
    onBatch: (one) => got.push(one),
    onStatus: ({ state }) => states.push(state),
  });
});

afterEach(() => {
  poll.close();
  vi.useRealTimers();
});

describe("long polls", () => {
  it("go on from the cursor they were given", async () => {
    asked[0]?.answer(json(batch({ next: "e.7" })));
    await settle();
    expect(asked[0]?.query.get("after")).toBeNull();
    expect(asked[1]?.query.get("after")).toBe("e.7");
    expect(got).toHaveLength(1);
  });

  it("have addresses of their own, so that none waits behind another", async () => {
    asked[0]?.answer(json(batch({})));
    await settle();
    expect(asked[0]?.query.get("n")).not.toBe(asked[1]?.query.get("n"));
  });

  it("of another choice of chats drop the answer of the older one, and lose nothing by it", async () => {
    poll.setChats(["chat_1"]);
    asked[0]?.answer(json(batch({ next: "e.9" })));
    await settle();
    expect(got).toHaveLength(0);
    expect(asked[1]?.query.get("chats")).toBe("chat_1");
    expect(asked[1]?.query.get("after")).toBeNull();
  });

  it("come back after a break with the same cursor", async () => {
    asked[0]?.answer(json(batch({ next: "e.3" })));
    await settle();
    asked[1]?.fail();
    await settle();
    expect(states.at(-1)).toBe("reconnecting");
    await vi.advanceTimersByTimeAsync(2_000);
    expect(asked[2]?.query.get("after")).toBe("e.3");
    asked[2]?.answer(json(batch({})));
    await settle();
    expect(states.at(-1)).toBe("online");
  });

  it("are not tried again with a token that was refused", async () => {
    asked[0]?.answer(new Response("", { status: 401 }));
    await settle();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(states).toEqual(["unauthorised"]);
    expect(asked).toHaveLength(1);
  });

  it("end when they are closed", async () => {
    poll.close();
    asked[0]?.answer(json(batch({})));
    await settle();
    expect(got).toHaveLength(0);
    expect(asked).toHaveLength(1);
  });
});
