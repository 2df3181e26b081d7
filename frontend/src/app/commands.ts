import table from "../../actions.json";
import { locale } from "../i18n";

/**
 * Every action is one row of `actions.json`, which the native menu reads too.
 * This file adds what only the page needs to know. What an action does is
 * registered by the view that can do it (`useCommand`); without a handler it
 * is neither run nor offered.
 */
type Facts = {
  /** Works only while that part of the view has the focus; the part handles the key itself. */
  scope?: "request" | "composer";
  /** Not in the palette: it moves the focus, or needs its place. */
  hidden?: true;
};

const local = (scope: "request" | "composer"): Facts => ({ scope, hidden: true });
const hidden: Facts = { hidden: true };

const facts = {
  palette: hidden,
  "attention.next": {},
  "attention.queue": {},
  "chat.new": {},
  "chat.1": hidden,
  "chat.2": hidden,
  "chat.3": hidden,
  "chat.4": hidden,
  "chat.5": hidden,
  "chat.6": hidden,
  "chat.7": hidden,
  "chat.8": hidden,
  "chat.9": hidden,
  "chat.previous": {},
  "chat.next": {},
  "chat.rename": {},
  "chat.pin": {},
  "chat.archive": {},
  "chat.unread": {},
  "chat.delete": {},
  "chat.demo": {},
  "composer.send": local("composer"),
  "composer.send_now": local("composer"),
  "composer.newline": local("composer"),
  "composer.focus": {},
  "composer.commands": local("composer"),
  "composer.files": local("composer"),
  "composer.attach": {},
  "turn.stop": {},
  "turn.stop_all": {},
  "turn.previous": {},
  "turn.next": {},
  "queue.release": {},
  "request.allow_once": local("request"),
  "request.allow_session": local("request"),
  "request.allow_always": local("request"),
  "request.deny": local("request"),
  "request.deny_reason": local("request"),
  "request.choose": local("request"),
  "timeline.end": {},
  "find.chat": {},
  "find.all": {},
  "view.sidebar": {},
  "view.inspector": {},
  "view.terminal": {},
  "view.review": {},
  "view.jobs": {},
  "view.larger": {},
  "view.smaller": {},
  "view.actual": {},
  "theme.light": {},
  "theme.dark": {},
  "theme.system": {},
  "layer.close": hidden,
  "region.next": hidden,
  "region.previous": hidden,
  settings: {},
  welcome: {},
  shortcuts: {},
} satisfies Record<string, Facts>;

export type CommandId = keyof typeof facts;

export const commandIds = Object.keys(facts) as CommandId[];

type Row = { id: string; en: string; zh: string; keys?: string; mac?: string; browser?: string };

const rows = new Map((table as Row[]).map((row) => [row.id, row]));

function row(id: CommandId): Row {
  const found = rows.get(id);
  if (!found) throw new Error(`actions.json has no ${id}`);
  return found;
}

export function commandFacts(id: CommandId): Facts {
  return facts[id];
}

/** The keys of a command as the table writes them. */
export function commandKeys(id: CommandId): Pick<Row, "keys" | "mac" | "browser"> {
  return row(id);
}

/** The command's name in the language in use. */
export function commandLabel(id: CommandId): string {
  return locale() === "zh-CN" ? row(id).zh : row(id).en;
}

export type CommandGroup = "general" | "chats" | "conversation" | "request" | "view";

const groupOfPrefix: Record<string, CommandGroup> = {
  attention: "chats",
  chat: "chats",
  composer: "conversation",
  turn: "conversation",
  queue: "conversation",
  timeline: "conversation",
  find: "conversation",
  request: "request",
  view: "view",
  theme: "view",
};

/** Where the palette and the shortcuts page list it. */
export function commandGroup(id: CommandId): CommandGroup {
  return groupOfPrefix[id.split(".")[0] ?? ""] ?? "general";
}
