/** Paths as people type them: with the separators of the machine that Berth runs on. */
const SEPARATOR = /[\\/]/;

export const endsInSeparator = (path: string) => SEPARATOR.test(path.at(-1) ?? "");

/** The separator of paths like this one. */
function separatorOf(path: string): string {
  return path.includes("\\") && !path.includes("/") ? "\\" : "/";
}

/** The path as a place to go on from: its children are what completes it. */
export function asFolder(path: string): string {
  return endsInSeparator(path) ? path : path + separatorOf(path);
}

/** What was typed of the last part. */
export function lastPart(path: string): string {
  return path.split(SEPARATOR).at(-1) ?? "";
}

/** The folder around it, as a place to go on from. A root is its own parent. */
export function parentOf(path: string): string {
  const bare = endsInSeparator(path) ? path.slice(0, -1) : path;
  const at = Math.max(bare.lastIndexOf("/"), bare.lastIndexOf("\\"));
  return at < 0 ? asFolder(bare || "/") : bare.slice(0, at + 1);
}

/**
 * What Tab makes of a path: the longest beginning that all matches share, or
 * the only match. Undefined when it would change nothing: then Tab leaves.
 */
export function completed(typed: string, names: readonly string[]): string | undefined {
  const begun = lastPart(typed);
  if (begun === "" || names.length === 0) return undefined;
  const head = typed.slice(0, typed.length - begun.length);
  const [only] = names;
  if (names.length === 1 && only !== undefined) {
    return only.toLowerCase() === begun.toLowerCase() ? undefined : asFolder(head + only);
  }
  const shared = sharedStart(names);
  return shared.length > begun.length ? head + shared : undefined;
}

/** The longest beginning of all, whatever the case, spelled as in the first. */
function sharedStart(names: readonly string[]): string {
  const [first = "", ...rest] = names;
  let length = first.length;
  for (const name of rest) {
    let at = 0;
    while (at < length && name[at]?.toLowerCase() === first[at]?.toLowerCase()) at++;
    length = at;
  }
  return first.slice(0, length);
}

/** The path as people write it: ~ for the home directory. */
export function withTilde(path: string, home: string | undefined): string {
  if (!home || !path.startsWith(home)) return path;
  const rest = path.slice(home.length);
  return rest === "" || SEPARATOR.test(rest.charAt(0)) ? `~${rest}` : path;
}
