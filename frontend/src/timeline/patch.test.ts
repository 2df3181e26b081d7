import { describe, expect, it } from "vitest";
import { cutPatch, patchLines, withFileHeader } from "./patch";

const patch = `@@ -1,3 +1,4 @@ func a()
 one
-two
+2
+zwei
 three
@@ -10,2 +11,2 @@
 ten
-eleven
+11
`;

describe("a cut patch", () => {
  it("is the whole one when it is short", () => {
    expect(cutPatch(patch, 8)).toEqual({ patch, hidden: 0 });
  });

  it.each([
    [3, "@@ -1,2 +1,2 @@ func a()\n one\n-two\n+2\n", 5],
    [6, "@@ -1,3 +1,4 @@ func a()\n one\n-two\n+2\n+zwei\n three\n@@ -10,1 +11,1 @@\n ten\n", 2],
  ])("after %i lines has headers that are true", (max, expected, hidden) => {
    expect(cutPatch(patch, max)).toEqual({ patch: expected, hidden });
  });

  it("keeps the note about the missing line end", () => {
    const end = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
    expect(cutPatch(end, 5)).toEqual({ patch: end, hidden: 0 });
  });
});

it("counts what a patch takes up", () => {
  expect(patchLines(patch)).toEqual({ lines: 8, hunks: 2 });
});

it("names the files once", () => {
  const headed = withFileHeader("b.go", "a.go", patch, "renamed");
  expect(headed.startsWith("--- a/a.go\n+++ b/b.go\n@@")).toBe(true);
  expect(withFileHeader("b.go", undefined, headed, "modified")).toBe(headed);
  expect(withFileHeader("n.go", undefined, patch, "added")).toContain("--- /dev/null");
});
