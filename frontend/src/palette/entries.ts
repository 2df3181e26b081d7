import type { TFunction } from "i18next";
import { useTranslation } from "react-i18next";
import { canBegin, inOrder } from "../agents/ways";
import { useAgents, useSettings } from "../api/queries";
import type { Agent, Chat } from "../api/types";
import { commandFacts, commandGroup, commandIds, commandKeys, commandLabel } from "../app/commands";
import { focusComposer } from "../app/focusComposer";
import { runCommand, useAvailableCommands } from "../app/registry";
import { openChat, openLayer, settingsPages, show } from "../app/view";
import { chatFacts } from "../chats/chatFacts";
import { shortPaths } from "../chats/groups";
import { useLive } from "../stream/store";
import type { IconName } from "../ui/Icon";
import type { SignalName } from "../ui/Signal";
import { settingsIcons } from "../settings/pages";
import { score } from "./rank";
import { recents } from "./recents";

/** Something the palette can do. */
export type Entry = {
  id: string;
  group: string;
  title: string;
  /** In a second place: the folder of a chat. */
  detail?: string | undefined;
  /** Found by these too, though they are not shown. */
  beside?: string | undefined;
  signal?: SignalName;
  icon?: IconName;
  mark?: string;
  keys?: string | undefined;
  /** Why it cannot be done now. */
  off?: string | undefined;
  run: () => void;
};

export type Group = { name: string; entries: Entry[] };

// Chats shown before anything is typed; the sidebar has them all.
const NEWEST = 6;
// More results than this are typed further.
const MAX_FOUND = 60;

/** Everything the palette knows, in order. */
export function useEntries(): Entry[] {
  const { t } = useTranslation();
  return [...useChats(t), ...useCommands(t), ...useAgentEntries(t), ...pages(t)];
}

function useChats(t: TFunction): Entry[] {
  const chats = useLive((state) => state.chats);
  const known = useLive((state) => state.connection.state === "online");
  const agents = useAgents().data;
  const newest = [...chats.values()].sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
  const folders = shortPaths([...new Set(newest.map((chat) => chat.cwd))]);
  const named = (chat: Chat) => agents?.find((agent) => agent.name === chat.agent)?.title ?? chat.agent;
  return newest.map((chat) => ({
    id: `chat ${chat.id}`,
    group: t("palette.chats"),
    title: chat.title || t("app.untitled"),
    detail: [folders.get(chat.cwd) ?? chat.cwd, chat.archived ? t("palette.archived") : ""]
      .filter(Boolean)
      .join(", "),
    beside: [chat.cwd, chat.folder, named(chat), chat.agent].filter(Boolean).join(" "),
    signal: chatFacts(chat, t, known).signal,
    run: () => {
      openChat(chat.id);
      focusComposer();
    },
  }));
}

function useCommands(t: TFunction): Entry[] {
  const state = useAvailableCommands();
  return commandIds
    .filter((id) => !commandFacts(id).hidden && state(id).available)
    .map((id) => ({
      id: `command ${id}`,
      group: t(`groups.${commandGroup(id)}`),
      title: commandLabel(id),
      keys: commandKeys(id).keys ? id : undefined,
      off: state(id).off,
      run: () => void runCommand(id),
    }));
}

function useAgentEntries(t: TFunction): Entry[] {
  const agents = useAgents().data ?? [];
  const hidden = useSettings().data?.agents;
  const offered = (agent: Agent) => canBegin(agent) && !hidden?.[agent.name]?.hidden;
  return inOrder(agents)
    .filter(offered)
    .map((agent) => ({
      id: `agent ${agent.name}`,
      group: t("palette.agents"),
      title: agent.title,
      beside: `${t("newchat.title")} ${agent.name}`,
      mark: agent.mark,
      run: () => openLayer({ name: "newChat", agent: agent.name }),
    }));
}

function pages(t: TFunction): Entry[] {
  return settingsPages.map((page) => ({
    id: `settings ${page}`,
    group: t("palette.settings"),
    title: t(`settings.page.${page}`),
    beside: t("palette.settings"),
    icon: settingsIcons[page],
    run: () => show({ name: "settings", page }),
  }));
}

/** What is shown for what was typed: before that, what was used last and the newest chats first. */
export function shown(
  entries: readonly Entry[],
  query: string,
  words: { recent: string; chats: string },
): Group[] {
  if (query.trim() === "") {
    const last = recents().flatMap((id) => entries.find((entry) => entry.id === id) ?? []);
    const rest = entries.filter((entry) => !last.includes(entry));
    const chats = rest.filter((entry) => entry.group === words.chats).slice(0, NEWEST);
    const others = rest.filter((entry) => entry.group !== words.chats);
    return grouped([...last.map((entry) => ({ ...entry, group: words.recent })), ...chats, ...others]);
  }
  const found = entries
    .map((entry) => ({
      entry,
      points: score(query, entry.title, `${entry.detail ?? ""} ${entry.beside ?? ""}`),
    }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, MAX_FOUND);
  return grouped(found.map(({ entry }) => entry));
}

/** Groups in the order of their first entries. */
function grouped(entries: readonly Entry[]): Group[] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const held = groups.get(entry.group);
    if (held) held.push(entry);
    else groups.set(entry.group, [entry]);
  }
  return [...groups].map(([name, list]) => ({ name, entries: list }));
}
