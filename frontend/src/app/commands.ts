/**
 * Every action with a key, in one table. It feeds the key dispatcher, the
 * palette, tooltips, menus and the shortcuts page. What a command does is
 * registered by the view that can do it (`useCommand`); without a handler it
 * is neither run nor offered.
 *
 * Keys: modifiers `Mod` (Cmd on macOS, Ctrl elsewhere), `Ctrl`, `Alt`,
 * `Shift`, then a `KeyboardEvent.key`. `browser` stands in where a browser
 * keeps the chord for itself.
 */
export type Command = {
  group: Group;
  mac?: string;
  other?: string;
  browser?: string;
  /** Works only while that part of the view has the focus; the part handles it itself. */
  scope?: "request" | "composer" | "attention";
  /** Not in the palette: moves the focus or needs its place. */
  hidden?: true;
};

export type Group = "general" | "chats" | "conversation" | "request" | "view";

/** The same chord everywhere but in a browser. */
const mod = (keys: string, browser?: string) =>
  ({ mac: `Mod+${keys}`, other: `Mod+${keys}`, ...(browser ? { browser } : {}) }) as const;
const same = (keys: string) => ({ mac: keys, other: keys }) as const;

export const commands = {
  openPalette: { group: "general", ...mod("K") },
  openSettings: { group: "general", ...mod(",") },
  openShortcuts: { group: "general", ...same("?") },
  closeLayer: { group: "general", ...same("Escape"), hidden: true },
  nextRegion: { group: "general", ...same("F6"), hidden: true },
  previousRegion: { group: "general", ...same("Shift+F6"), hidden: true },
  setThemeLight: { group: "general" },
  setThemeDark: { group: "general" },
  setThemeSystem: { group: "general" },

  newChat: { group: "chats", ...mod("N", "Alt+N") },
  nextWaiting: { group: "chats", ...mod("J", "Alt+J") },
  openAttention: { group: "chats", ...mod("Shift+A", "Alt+A") },
  previousChat: { group: "chats", mac: "Ctrl+Shift+Tab", other: "Ctrl+Shift+Tab", browser: "Alt+ArrowUp" },
  nextChat: { group: "chats", mac: "Ctrl+Tab", other: "Ctrl+Tab", browser: "Alt+ArrowDown" },
  chat1: { group: "chats", ...mod("1", "Alt+1"), hidden: true },
  chat2: { group: "chats", ...mod("2", "Alt+2"), hidden: true },
  chat3: { group: "chats", ...mod("3", "Alt+3"), hidden: true },
  chat4: { group: "chats", ...mod("4", "Alt+4"), hidden: true },
  chat5: { group: "chats", ...mod("5", "Alt+5"), hidden: true },
  chat6: { group: "chats", ...mod("6", "Alt+6"), hidden: true },
  chat7: { group: "chats", ...mod("7", "Alt+7"), hidden: true },
  chat8: { group: "chats", ...mod("8", "Alt+8"), hidden: true },
  chat9: { group: "chats", ...mod("9", "Alt+9"), hidden: true },
  renameChat: { group: "chats", ...same("F2") },
  pinChat: { group: "chats" },
  archiveChat: { group: "chats" },
  markUnread: { group: "chats" },
  deleteChat: { group: "chats" },
  tryDemo: { group: "chats" },

  send: { group: "conversation", ...same("Enter"), scope: "composer", hidden: true },
  newLine: { group: "conversation", ...same("Shift+Enter"), scope: "composer", hidden: true },
  stop: { group: "conversation", ...mod(".") },
  attach: { group: "conversation", ...mod("Shift+O") },
  agentCommands: { group: "conversation", ...same("/"), scope: "composer", hidden: true },
  mention: { group: "conversation", ...same("@"), scope: "composer", hidden: true },
  focusComposer: { group: "conversation", ...mod("Shift+M", "Alt+M") },
  previousTurn: { group: "conversation", mac: "Alt+ArrowUp", other: "Alt+ArrowUp", browser: "Alt+PageUp" },
  nextTurn: { group: "conversation", mac: "Alt+ArrowDown", other: "Alt+ArrowDown", browser: "Alt+PageDown" },
  toEnd: { group: "conversation", mac: "Mod+ArrowDown", other: "Ctrl+End" },
  releaseQueue: { group: "conversation" },

  allowOnce: { group: "request", ...same("A"), scope: "request", hidden: true },
  allowSession: { group: "request", ...same("S"), scope: "request", hidden: true },
  allowAlways: { group: "request", ...same("R"), scope: "request", hidden: true },
  deny: { group: "request", ...same("D"), scope: "request", hidden: true },
  denyWithReason: { group: "request", ...same("Shift+D"), scope: "request", hidden: true },
  chooseAnswer: { group: "request", ...same("1"), scope: "request", hidden: true },

  toggleSidebar: { group: "view", ...mod("\\") },
  toggleInspector: { group: "view", ...mod("L", "Alt+L") },
  toggleTerminal: { group: "view", mac: "Ctrl+`", other: "Ctrl+`" },
} satisfies Record<string, Command>;

export type CommandId = keyof typeof commands;

export const commandIds = Object.keys(commands) as CommandId[];

export function command(id: CommandId): Command {
  return commands[id];
}
