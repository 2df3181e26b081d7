/** What the caret stands behind: the beginning of a command, or of a file's name. */
export type Token = { kind: "command" | "file"; query: string; start: number; end: number };

// Longer than any command or path that is typed.
const MAX_QUERY = 200;

/**
 * The token at the caret. A command is the message's first word; unknown
 * absolute paths such as /Users/x are no commands, since they hold a second
 * slash.
 */
export function tokenAt(text: string, caret: number): Token | undefined {
  const before = text.slice(Math.max(0, caret - MAX_QUERY), caret);
  const command = caret <= MAX_QUERY ? /^\/([^\s/]*)$/.exec(before) : null;
  if (command) return { kind: "command", query: command[1] ?? "", start: 0, end: caret };
  const file = /(?:^|[\s([{"'，。、（])@([^\s@]*)$/.exec(before);
  if (!file) return undefined;
  const query = file[1] ?? "";
  return { kind: "file", query, start: caret - query.length - 1, end: caret };
}

/** The text with the token replaced, and where the caret goes. */
export function complete(text: string, token: Token, value: string): { text: string; caret: number } {
  const after = text.slice(token.end);
  const space = /^\s/.test(after) ? "" : " ";
  const start = text.slice(0, token.start) + value + space;
  return { text: start + after, caret: start.length + (space ? 0 : 1) };
}

/** Names that fit what was typed: those that begin with it first. */
export function rank<T extends { name: string }>(list: readonly T[], query: string): T[] {
  const wanted = query.toLowerCase();
  const score = (one: T) => {
    const name = one.name.toLowerCase();
    if (name.startsWith(wanted)) return 0;
    return name.includes(wanted) ? 1 : 2;
  };
  return list
    .map((one) => ({ one, score: score(one) }))
    .filter(({ score: rating }) => rating < 2)
    .sort((a, b) => a.score - b.score)
    .map(({ one }) => one);
}
