import { parseMarkdownIntoBlocks } from "streamdown";

// A block that has another two behind it does not change any more: only the
// last paragraph, list or table can still take in what follows.
const OPEN_BLOCKS = 3;

const FOOTNOTE = /\[\^[^\]\s]+\]/;

/**
 * Splits growing Markdown into blocks without reading it all again at each
 * step: finished blocks are kept, only the last ones are parsed with what was
 * added. (The parser takes 5 ms in Chromium and over 100 ms in WebKitGTK for
 * 20 KB.) Text that is not a continuation starts afresh, and so does text with
 * footnotes, which reach across blocks.
 */
export function makeBlockSplitter(parse: (markdown: string) => string[] = parseMarkdownIntoBlocks) {
  let text = "";
  let blocks: string[] = [];
  let settled = 0; // length of the blocks that are kept
  let kept = 0; // how many those are
  return (markdown: string): string[] => {
    if (markdown === text) return blocks;
    const goesOn = text !== "" && markdown.startsWith(text) && !FOOTNOTE.test(markdown);
    if (!goesOn) {
      settled = 0;
      kept = 0;
      blocks = [];
    }
    const tail = parse(markdown.slice(settled));
    blocks = [...blocks.slice(0, kept), ...tail];
    text = markdown;
    // Parsers may normalise (line ends, tabs): then lengths say nothing and nothing is kept.
    const faithful = tail.join("") === markdown.slice(settled);
    const done = faithful ? Math.max(0, tail.length - OPEN_BLOCKS) : 0;
    for (const block of tail.slice(0, done)) settled += block.length;
    kept += done;
    return blocks;
  };
}
