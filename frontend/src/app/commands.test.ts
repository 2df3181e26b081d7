import { beforeEach, describe, expect, it } from "vitest";
import table from "../../actions.json";
import { commandFacts, commandIds, commandKeys } from "./commands";
import { commandOf, inTextField, isComposing, keysOf, matchesKeys, spellKeys } from "./keys";
import { platform } from "./platform";

const press = (key: string, rest: KeyboardEventInit = {}) => new KeyboardEvent("keydown", { key, ...rest });

beforeEach(() => {
  platform.os = "linux";
  platform.native = true;
});

describe("the table of actions", () => {
  it("and the page know the same actions", () => {
    expect(table.map((row) => row.id)).toEqual([...commandIds].sort((a, b) => index(a) - index(b)));
    function index(id: string) {
      return table.findIndex((row) => row.id === id);
    }
  });

  it.each([
    ["macOS", "darwin", true],
    ["Linux window", "linux", true],
    ["browser", "linux", false],
    ["browser on macOS", "darwin", false],
  ] as const)("gives no chord to two global commands: %s", (_, os, native) => {
    Object.assign(platform, { os, native });
    const seen = new Map<string, string>();
    for (const id of commandIds) {
      const keys = keysOf(id);
      if (!keys || commandFacts(id).scope) continue;
      expect(seen.get(keys), `${id} and ${seen.get(keys)}: ${keys}`).toBeUndefined();
      seen.set(keys, id);
    }
  });

  it("never approves with Enter or with a modifier", () => {
    for (const id of commandIds.filter((one) => one.startsWith("request."))) {
      expect(commandKeys(id).keys, id).toMatch(/^(Shift\+)?[A-Z1]$/);
      expect(commandFacts(id).scope, id).toBe("request");
    }
  });

  it("keeps off the chords a browser needs", () => {
    platform.native = false;
    for (const id of commandIds)
      expect(["Mod+N", "Mod+T", "Mod+W", "Mod+1", "Mod+J", "Mod+Shift+A"]).not.toContain(keysOf(id));
  });
});

describe("keys", () => {
  it.each([
    ["Mod+K", press("k", { ctrlKey: true }), true],
    ["Mod+K", press("K", { ctrlKey: true, shiftKey: true }), false],
    ["Mod+K", press("k"), false],
    ["Mod+Shift+A", press("A", { ctrlKey: true, shiftKey: true }), true],
    ["?", press("?", { shiftKey: true }), true],
    ["Alt+N", press("˜", { altKey: true, code: "KeyN" }), true],
    ["A", press("a"), true],
    ["A", press("A", { shiftKey: true }), false],
    ["Shift+D", press("D", { shiftKey: true }), true],
    ["Enter", press("Enter"), true],
    ["Enter", press("Enter", { shiftKey: true }), false],
  ])("%s", (keys, event, expected) => {
    expect(matchesKeys(event, keys)).toBe(expected);
  });

  it("are spelled as the platform does", () => {
    expect(spellKeys("Mod+Shift+A")).toBe("Ctrl Shift A");
    platform.os = "darwin";
    expect(spellKeys("Mod+Shift+A")).toBe("⌘⇧A");
    expect(spellKeys("Enter")).toBe("↵");
  });

  it("of local commands start nothing global", () => {
    expect(commandOf(press("a"))).toBeUndefined();
    expect(commandOf(press("Enter"))).toBeUndefined();
    expect(commandOf(press("k", { ctrlKey: true }))).toBe("palette");
  });

  it("in a text field are text", () => {
    const area = document.createElement("textarea");
    document.body.append(area);
    let seen: KeyboardEvent | undefined;
    area.addEventListener("keydown", (event) => (seen = event));
    area.dispatchEvent(press("a", { bubbles: true }));
    expect(seen && inTextField(seen)).toBe(true);
  });

  it("of an input method are not ours", () => {
    expect(isComposing({ isComposing: true, keyCode: 13 })).toBe(true);
    expect(isComposing({ isComposing: false, keyCode: 229 })).toBe(true);
    expect(isComposing({ isComposing: false, keyCode: 13 })).toBe(false);
  });
});
