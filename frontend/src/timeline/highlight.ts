import type { ThemedToken } from "@pierre/highlights";
import { useEffect, useState } from "react";

// Longer code stays plain: colouring it would hold up the page.
const MAX_CHARS = 200_000;
const MAX_LINE = 2_000;

type Library = typeof import("@pierre/highlights");

let library: Library | undefined;
let loading: Promise<Library> | undefined;

/** Our colours, by the variables of tokens.css: themes follow without colouring again. */
export const palette = {
  name: "berth",
  appearance: "light",
  cssVariables: { prefix: "--syntax-" },
  style: {
    foreground: "plain",
    background: "background",
    syntax: Object.fromEntries(
      Object.entries({
        keyword: ["keyword", "boolean", "preproc", "tag", "storage"],
        string: ["string", "character", "text.literal", "link_uri"],
        number: ["number", "constant"],
        function: ["function", "constructor", "attribute", "property.function", "title"],
        type: ["type", "namespace", "module", "enum", "property.type"],
        comment: ["comment"],
        punct: ["punctuation", "operator", "keyword.operator"],
      }).flatMap(([color, scopes]) => scopes.map((scope) => [scope, { color }])),
    ),
  },
};

function load(): Promise<Library> {
  return (loading ??= import("@pierre/highlights").then((loaded) => (library = loaded)));
}

function colour(code: string, lang: string): ThemedToken[][] | undefined {
  if (!library?.isSupportedLanguage(lang) || code.length > MAX_CHARS) return undefined;
  return library.codeToTokens(code, { lang, theme: palette, tokenizeMaxLineLength: MAX_LINE }).tokens;
}

/** The coloured lines of a piece of code, once the highlighter is there; undefined while it is plain. */
export function useHighlighted(code: string, lang: string, ready: boolean): ThemedToken[][] | undefined {
  const [lines, setLines] = useState(() => (ready ? colour(code, lang) : undefined));
  useEffect(() => {
    if (!ready || code.length > MAX_CHARS) return;
    let current = true;
    void load().then(() => current && setLines(colour(code, lang)));
    return () => {
      current = false;
    };
  }, [code, lang, ready]);
  return ready ? lines : undefined;
}
