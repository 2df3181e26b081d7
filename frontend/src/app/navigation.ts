import { useAttention } from "../api/queries";
import { groupChats } from "../chats/groups";
import { useLive } from "../stream/store";
import { startDemo } from "./demo";
import { useCommand } from "./registry";
import { focusRegion, walkRegions } from "./regions";
import { closeLayer, openChat, openLayer, show, useView, type View } from "./view";

/** The chats in the order of the sidebar. */
function ordered(): string[] {
  return groupChats(useLive.getState().chats.values())
    .filter((group) => group.kind !== "archived")
    .flatMap((group) => group.chats.map((chat) => chat.id));
}

function current(): string | undefined {
  const { view } = useView.getState();
  return view.name === "chat" ? view.chat : undefined;
}

function stepChat(step: 1 | -1): void {
  const chats = ordered();
  const at = chats.indexOf(current() ?? "");
  const next = chats[at < 0 ? 0 : (at + step + chats.length) % chats.length];
  if (next) openChat(next);
}

// A view that is opened needs a moment until its request is drawn.
const FOCUS_TRIES = 20;

function focusRequest(tries = FOCUS_TRIES): void {
  if (focusRegion("request") || tries === 0) return;
  requestAnimationFrame(() => focusRequest(tries - 1));
}

/** Commands that lead somewhere, whatever is in view. */
export function useNavigation(): void {
  const { data: waiting } = useAttention();
  useCommand("layer.close", () => {
    if (closeLayer()) return;
    const { view } = useView.getState();
    if (view.name !== "chat") show(lastChat());
  });
  useCommand("region.next", () => walkRegions(1));
  useCommand("region.previous", () => walkRegions(-1));
  useCommand("palette", () => openLayer({ name: "palette" }));
  useCommand("settings", () => show({ name: "settings", page: "general" }));
  useCommand("welcome", () => show({ name: "welcome" }));
  useCommand("shortcuts", () => show({ name: "settings", page: "shortcuts" }));
  useCommand("chat.new", () => openLayer({ name: "newChat" }));
  useCommand("chat.demo", () => void startDemo());
  useCommand("chat.previous", () => stepChat(-1));
  useCommand("chat.next", () => stepChat(1));
  useCommand("attention.queue", () => show({ name: "attention" }));
  useCommand("attention.next", () => {
    const chats = [...new Set((waiting ?? []).map((one) => one.chat))];
    // From a request that has the focus on to the next chat that waits; else to the one in view first.
    const here = current();
    const inRequest = document.activeElement?.closest('[data-region="request"]') != null;
    const at = chats.indexOf(here ?? "");
    const next = at >= 0 && !inRequest ? here : chats[(at + 1) % chats.length];
    if (!next) return;
    openChat(next);
    focusRequest();
  });
  const nth = (n: number) => () => {
    const chat = ordered()[n - 1];
    if (chat) openChat(chat);
  };
  useCommand("chat.1", nth(1));
  useCommand("chat.2", nth(2));
  useCommand("chat.3", nth(3));
  useCommand("chat.4", nth(4));
  useCommand("chat.5", nth(5));
  useCommand("chat.6", nth(6));
  useCommand("chat.7", nth(7));
  useCommand("chat.8", nth(8));
  useCommand("chat.9", nth(9));
  useCommand("view.sidebar", () => useView.setState(({ sidebar }) => ({ sidebar: !sidebar })));
  useCommand("view.inspector", () => useView.setState(({ inspector }) => ({ inspector: !inspector })));
}

let last: string | undefined;

useView.subscribe(({ view }) => {
  if (view.name === "chat") last = view.chat;
});

/** What lies behind settings and the attention view. */
function lastChat(): View {
  return { name: "chat", chat: last };
}
