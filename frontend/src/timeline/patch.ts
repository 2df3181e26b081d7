/** A unified patch cut after so many of its lines, with hunk headers that say the truth about what is left. */
export function cutPatch(patch: string, maxLines: number): { patch: string; hidden: number } {
  const lines = patch.replace(/\n$/, "").split("\n");
  const kept: string[] = [];
  let hunk: { header: string[]; at: number; old: number; new: number } | undefined;
  let shown = 0;
  const close = () => {
    if (hunk) kept[hunk.at] = header(hunk.header, hunk.old, hunk.new);
  };
  let all = 0;
  for (const line of lines) {
    const match = HUNK.exec(line);
    const content = match === null && hunk !== undefined && !line.startsWith("\\");
    if (content) all++;
    if (shown >= maxLines) continue;
    if (match) {
      close();
      hunk = { header: match, at: kept.length, old: 0, new: 0 };
      kept.push(line);
      continue;
    }
    kept.push(line);
    if (!content || !hunk) continue;
    shown++;
    if (line.startsWith("+")) hunk.new++;
    else if (line.startsWith("-")) hunk.old++;
    else {
      hunk.old++;
      hunk.new++;
    }
  }
  close();
  if (all <= maxLines) return { patch, hidden: 0 };
  return { patch: `${kept.join("\n")}\n`, hidden: all - maxLines };
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/;

const header = ([, oldStart, newStart, context]: string[], old: number, added: number) =>
  `@@ -${oldStart},${old} +${newStart},${added} @@${context ?? ""}`;

/** Lines of content and hunk headers: what a patch takes up. */
export function patchLines(patch: string): { lines: number; hunks: number } {
  let lines = 0;
  let hunks = 0;
  for (const line of patch.replace(/\n$/, "").split("\n")) {
    if (HUNK.test(line)) hunks++;
    else if (hunks > 0 && !line.startsWith("\\")) lines++;
  }
  return { lines, hunks };
}

/** The patch with the two file lines that readers of patches expect. */
export function withFileHeader(
  path: string,
  oldPath: string | undefined,
  patch: string,
  change: string,
): string {
  // Only before the first hunk: within one, "--- x" is a removed line "-- x".
  const head = patch.slice(0, Math.max(0, patch.search(/^@@/m)));
  if (/^(diff --git|--- )/m.test(head)) return patch;
  const before = change === "added" ? "/dev/null" : `a/${oldPath ?? path}`;
  const after = change === "deleted" ? "/dev/null" : `b/${path}`;
  return `--- ${before}\n+++ ${after}\n${patch}`;
}
