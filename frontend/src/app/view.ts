import { create } from "zustand";

/** What fills the window. */
export type View =
  | { name: "chat"; chat: string | undefined }
  | { name: "attention" }
  | { name: "settings"; page: SettingsPage }
  | { name: "welcome" };

export const settingsPages = [
  "general",
  "appearance",
  "agents",
  "permissions",
  "notifications",
  "phrases",
  "shortcuts",
  "about",
] as const;
export type SettingsPage = (typeof settingsPages)[number];

/** A command to run in a terminal on behalf of an agent: install, sign in, update. */
export type TerminalJob = { title: string; agent: string; argv: string[] };

/** What lies over the view. Each is closed by Escape, the last opened first. */
export type Layer =
  | { name: "palette" }
  | { name: "newChat"; cwd?: string; agent?: string }
  | { name: "terminal"; job?: TerminalJob; cwd?: string };

type State = {
  view: View;
  layers: Layer[];
  sidebar: boolean;
  inspector: boolean;
};

const stored = (name: string, fallback: boolean) =>
  (localStorage.getItem(name) ?? String(fallback)) === "true";

/** Where there is no room beside the conversation the inspector would cover it: it opens only when it is asked for. */
const inspectorLiesOver = matchMedia("(max-width: 1179px)");

inspectorLiesOver.addEventListener("change", ({ matches }) => {
  useView.setState({ inspector: !matches && stored("berth.inspector", true) });
});

/** Local state of this window or tab; nothing here is shared between devices. */
export const useView = create<State>(() => ({
  view: viewOfHash(location.hash) ?? { name: "chat", chat: undefined },
  layers: [],
  sidebar: stored("berth.sidebar", true),
  inspector: !inspectorLiesOver.matches && stored("berth.inspector", true),
}));

useView.subscribe((state) => {
  localStorage.setItem("berth.sidebar", String(state.sidebar));
  // What is chosen over a narrow view says nothing of a wide one.
  if (!inspectorLiesOver.matches) localStorage.setItem("berth.inspector", String(state.inspector));
  const hash = hashOfView(state.view);
  if (location.hash !== hash) history.pushState(null, "", hash);
});

window.addEventListener("popstate", () => {
  const view = viewOfHash(location.hash);
  if (view) useView.setState({ view });
});

export function show(view: View): void {
  useView.setState({ view });
}

export function openChat(chat: string | undefined): void {
  show({ name: "chat", chat });
}

export function openLayer(layer: Layer): void {
  useView.setState(({ layers }) => ({ layers: [...layers.filter((one) => one.name !== layer.name), layer] }));
}

/** Closes the named layer, or the top one. False when there is none. */
export function closeLayer(name?: Layer["name"]): boolean {
  const { layers } = useView.getState();
  const closing = name ?? layers.at(-1)?.name;
  if (!closing) return false;
  useView.setState({ layers: layers.filter((one) => one.name !== closing) });
  return true;
}

/** `#/chat/ID`, `#/waiting`, `#/settings/PAGE`, `#/welcome`: what a link or a reload comes back to. */
export function viewOfHash(hash: string): View | undefined {
  const [, name, rest] = hash.replace(/^#/, "").split("/");
  switch (name) {
    case "chat":
      return { name: "chat", chat: rest ? decodeURIComponent(rest) : undefined };
    case "waiting":
      return { name: "attention" };
    case "welcome":
      return { name: "welcome" };
    case "settings":
      return { name: "settings", page: settingsPages.find((page) => page === rest) ?? "general" };
    default:
      return undefined;
  }
}

export function hashOfView(view: View): string {
  switch (view.name) {
    case "chat":
      return view.chat ? `#/chat/${encodeURIComponent(view.chat)}` : "#/chat";
    case "attention":
      return "#/waiting";
    case "settings":
      return `#/settings/${view.page}`;
    case "welcome":
      return "#/welcome";
  }
}
