import { commandFacts, commandIds, commandKeys, type CommandId } from "./commands";
import { platform } from "./platform";

/** The chord of a command on this platform, if it has one. */
export function keysOf(id: CommandId): string | undefined {
  const { keys, mac, browser } = commandKeys(id);
  if (!platform.native && browser) return browser;
  return (platform.os === "darwin" && mac) || keys;
}

/** Whether the event is that chord. Letters match by key, whatever the layout; Shift must be said unless the key itself needs it. */
export function matchesKeys(event: KeyboardEvent, keys: string): boolean {
  const parts = keys.split("+");
  const key = parts.pop() ?? "";
  const mod = parts.includes("Mod");
  const ctrl = parts.includes("Ctrl") || (mod && platform.os !== "darwin");
  const meta = mod && platform.os === "darwin";
  if (event.ctrlKey !== ctrl || event.metaKey !== meta || event.altKey !== parts.includes("Alt"))
    return false;
  const shift = parts.includes("Shift");
  const symbol = key.length === 1 && !/[a-z0-9]/i.test(key);
  if (event.shiftKey !== shift && !(symbol && !shift)) return false;
  if (event.key.toLowerCase() === key.toLowerCase()) return true;
  // With Alt or Shift held the key may be another character: go by its place.
  return (
    (shift || event.altKey) && (event.code === `Key${key.toUpperCase()}` || event.code === `Digit${key}`)
  );
}

/** The global command of a chord: those with a scope are handled where they act. */
export function commandOf(event: KeyboardEvent): CommandId | undefined {
  return commandIds.find((id) => {
    const keys = keysOf(id);
    return keys !== undefined && commandFacts(id).scope === undefined && matchesKeys(event, keys);
  });
}

const macSigns: Record<string, string> = { Mod: "⌘", Ctrl: "⌃", Alt: "⌥", Shift: "⇧" };
const signs: Record<string, string> = {
  Enter: "↵",
  Escape: "Esc",
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  PageUp: "PgUp",
  PageDown: "PgDn",
};

/** A chord as this platform writes it: ⌘⇧A or Ctrl Shift A. */
export function spellKeys(keys: string): string {
  // A chord may be the plus sign's neighbour, never "+" itself.
  const parts = keys.split("+");
  if (platform.os === "darwin") return parts.map((part) => macSigns[part] ?? signs[part] ?? part).join("");
  return parts.map((part) => (part === "Mod" ? "Ctrl" : (signs[part] ?? part))).join(" ");
}

/** Whether the event goes to a text field, where single letters are text. */
export function inTextField(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || inTerminal(event);
}

/** Whether the event goes to a terminal, whose program has its own use for most keys. */
export function inTerminal(event: KeyboardEvent): boolean {
  return event.target instanceof Element && event.target.closest(".xterm") !== null;
}

/** Whether an input method composes text: no key of it is ours. 229 is what WebKit gives for the key that ends it. */
export function isComposing(event: { isComposing?: boolean; keyCode: number }): boolean {
  return event.isComposing === true || event.keyCode === 229;
}
