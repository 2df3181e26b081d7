import type { TFunction } from "i18next";
import type { Chat } from "../api/types";
import type { SignalName } from "../ui/Signal";

/** What a chat is doing, as sidebar, header and phone show it alike. */
export type ChatFacts = {
  signal: SignalName;
  /** The state in a word or two. */
  word: string;
  /** Shown as wrong: failed, fenced, gone. */
  bad: boolean;
  /** A clock runs since then. */
  since: string | undefined;
};

const live = new Set(["starting", "running", "awaiting_input", "stopping"]);

/** Whether the chat's turn goes on. */
export function isLive(chat: Chat): boolean {
  return chat.turn !== undefined && live.has(chat.turn.state);
}

/**
 * The facts of a chat. `known` is false while the connection is gone: what
 * ran then is not known now (rule: the interface never lies).
 */
export function chatFacts(chat: Chat, t: TFunction, known = true): ChatFacts {
  const since = isLive(chat) ? (chat.turn?.started_at ?? chat.turn?.created_at) : undefined;
  const facts = (signal: SignalName, word: string, bad = false): ChatFacts => ({
    signal,
    word,
    bad,
    since: known ? since : undefined,
  });
  if (isLive(chat) && !known) return facts("offline", t("states.chat.offline"));
  if (chat.state === "fenced") return facts("fenced", t("states.chat.fenced"), true);
  if (chat.state === "dead") return facts("failed", t("states.chat.dead"), true);
  switch (chat.turn?.state) {
    case "awaiting_input":
      return chat.waiting?.[0]?.kind === "question"
        ? facts("question", t("states.chat.question"))
        : facts("approval", t("states.chat.approval"));
    case "starting":
      return facts("running", t("states.chat.starting"));
    case "running":
      return facts("running", t("states.chat.working"));
    case "stopping":
      return facts("running", t("states.chat.stopping"));
    case "uncertain":
      return facts("uncertain", t("states.chat.uncertain"));
    case "failed":
      return facts("failed", chat.turn.error?.text ?? t("states.chat.failed"), true);
    case "interrupted":
      return facts("interrupted", t("states.chat.interrupted"));
    default:
      break;
  }
  if (chat.held > 0) return facts("held", heldWord(chat, t));
  if (chat.turn?.state === "stopped") return facts("stopped", t("states.chat.stopped"));
  if (chat.unread) return facts("unseen", chat.turn ? t("states.chat.finished") : t("states.chat.idle"));
  return facts("idle", t("states.chat.idle"));
}

const heldWord = (chat: Chat, t: TFunction) =>
  chat.turn?.state === "stopped" ? t("states.chat.stopped") : t("states.chat.held", { count: chat.held });

/** The second line of a chat in a list: what it does or waits for, and what stands behind it. */
export function chatLine(chat: Chat, facts: ChatFacts, t: TFunction): string {
  const said = plainLine(chat.last_line ?? "");
  const parts = [chat.turn?.state === "running" && said && facts.since ? said : facts.word];
  if ((facts.signal === "idle" || facts.signal === "unseen") && said) parts[0] = said;
  const queued = chat.queued - chat.held;
  if (queued > 0) parts.push(t("states.chat.queued", { count: queued }));
  if (chat.held > 0 && parts[0] !== t("states.chat.held", { count: chat.held }))
    parts.push(t("states.chat.held", { count: chat.held }));
  return parts.join(", ");
}

/** A line of Markdown without its marks. */
export function plainLine(text: string): string {
  return text
    .replace(/^\s*(?:#{1,6}|[-*+]|>|\d+\.)\s+/, "")
    .replace(/[*`]{1,3}(\S[^*`]*)[*`]{1,3}/g, "$1")
    .trim();
}
