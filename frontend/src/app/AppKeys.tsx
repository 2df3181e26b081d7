import { useEffect } from "react";
import { commandOf, inTerminal, inTextField, isComposing, keysOf } from "./keys";
import { platform } from "./platform";
import { runCommand } from "./registry";

const hasModifier = (keys: string) => /^(Mod|Ctrl|Alt)\+/.test(keys) || /^F\d/.test(keys);

/** A program in a terminal gets Ctrl and a letter; what leads out of it again stays ours. */
const aboveTerminal = (keys: string) =>
  keys === "Ctrl+`" ||
  /^(Shift\+)?F\d/.test(keys) ||
  (platform.os === "darwin" ? keys.startsWith("Mod+") : /^Mod\+Shift\+/.test(keys));

/** One listener for all global chords. A chord nobody in view can serve is left to the platform. */
export function AppKeys() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat || isComposing(event)) return;
      const id = commandOf(event);
      if (!id || id === "layer.close") return;
      if (inTerminal(event) && !aboveTerminal(keysOf(id) ?? "")) return;
      if (inTextField(event) && !hasModifier(keysOf(id) ?? "")) return;
      if (runCommand(id)) event.preventDefault();
    };
    // Escape bubbles last, so that what is open within a view closes first.
    const onEscape = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !inTerminal(event) && !event.defaultPrevented && !isComposing(event))
        runCommand("layer.close");
    };
    document.addEventListener("keydown", onKey, true);
    window.addEventListener("keydown", onEscape);
    return () => {
      document.removeEventListener("keydown", onKey, true);
      window.removeEventListener("keydown", onEscape);
    };
  }, []);
  return null;
}
