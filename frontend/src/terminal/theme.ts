import type { ITheme } from "@xterm/xterm";

// ANSI 8 to 15 are the same hues: the palette has one readable shade of each.
const hues = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

/** The terminal's colours and letters, from the tokens in force. */
export function terminalTheme(): { theme: ITheme; font: string; size: number } {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const colors: Record<string, string> = {};
  for (const hue of hues) {
    colors[hue] = token(`term-${hue}`);
    colors[`bright${hue.charAt(0).toUpperCase()}${hue.slice(1)}`] = token(`term-${hue}`);
  }
  const root = parseFloat(style.fontSize);
  return {
    theme: {
      ...colors,
      background: token("surface-sunken"),
      foreground: token("text-primary"),
      cursor: token("accent"),
      cursorAccent: token("surface-sunken"),
      selectionBackground: token("surface-selected"),
      selectionInactiveBackground: token("surface-selected-dim"),
    },
    font: token("font-mono"),
    // 12 px of the type scale, grown with the text size.
    size: Math.round(root * parseFloat(token("text-12"))),
  };
}

/** Calls back when theme, contrast or text size change. */
export function onThemeChange(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, {
    attributeFilter: ["data-theme", "data-contrast", "style"],
  });
  const queries = ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"].map((query) =>
    matchMedia(query),
  );
  for (const query of queries) query.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    for (const query of queries) query.removeEventListener("change", changed);
  };
}
