import i18next from "i18next";
import { beforeAll, describe, expect, it } from "vitest";
import type { Chat, Turn } from "../api/types";
import { startTranslations } from "../i18n";
import { chat } from "../stream/fixtures";
import { chatFacts, chatLine, plainLine } from "./chatFacts";

beforeAll(() => startTranslations("en"));

const turn = (state: Turn["state"], rest: Partial<Turn> = {}): Turn => ({
  id: "turn_1",
  chat: "chat_1",
  state,
  client_id: "c",
  text: "",
  created_at: "2026-11-27T11:20:00.000Z",
  ...rest,
});
const waiting = (kind: string) => [
  { request: "r", item: "i", kind, title: "?", at: "2026-11-27T11:20:00.000Z" },
];
const facts = (rest: Partial<Chat>, known = true) => chatFacts(chat("chat_1", rest), i18next.t, known);

describe("the facts of a chat", () => {
  it.each<[string, Partial<Chat>, string]>([
    ["idle", {}, "idle"],
    ["running", { turn: turn("running") }, "running"],
    ["waiting for approval", { turn: turn("awaiting_input"), waiting: waiting("approval") }, "approval"],
    ["asked", { turn: turn("awaiting_input"), waiting: waiting("question") }, "question"],
    ["failed", { turn: turn("failed") }, "failed"],
    ["stopped", { turn: turn("stopped") }, "stopped"],
    ["stopped with held messages", { turn: turn("stopped"), held: 2, queued: 2 }, "held"],
    ["interrupted", { turn: turn("interrupted") }, "interrupted"],
    ["uncertain", { turn: turn("uncertain") }, "uncertain"],
    ["fenced", { state: "fenced", turn: turn("stopping") }, "fenced"],
    ["dead", { state: "dead" }, "failed"],
    ["finished and unseen", { turn: turn("completed"), unread: true }, "unseen"],
    ["finished and seen", { turn: turn("completed") }, "idle"],
  ])("%s", (_, rest, signal) => {
    expect(facts(rest).signal).toBe(signal);
  });

  it("are not known while the connection is gone", () => {
    expect(facts({ turn: turn("running") }, false)).toMatchObject({ signal: "offline", since: undefined });
    expect(facts({ turn: turn("completed") }, false).signal).toBe("idle");
  });

  it("say what waits behind", () => {
    const busy = chat("chat_1", { turn: turn("awaiting_input"), waiting: waiting("approval"), queued: 2 });
    expect(chatLine(busy, chatFacts(busy, i18next.t), i18next.t)).toBe("Waits for approval, 2 queued");
  });
});

it("a line of Markdown is shown without its marks", () => {
  expect(plainLine("## What you **have** just seen")).toBe("What you have just seen");
  expect(plainLine("- `npm test` passed")).toBe("npm test passed");
  expect(plainLine("snake_case_name stays")).toBe("snake_case_name stays");
});
