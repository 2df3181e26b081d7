import { registerCustomTheme } from "@pierre/diffs";
import { PatchDiff } from "@pierre/diffs/react";
import { memo } from "react";
import { palette } from "./highlight";

registerCustomTheme("berth", () => Promise.resolve(palette), "zed");

// Everything visible comes from our tokens; the component computes no colour.
const css = `
  :host {
    --diffs-font-family: var(--font-mono);
    --diffs-font-size: var(--text-12);
    --diffs-header-font-family: var(--font-mono);
    --diffs-line-height: 19px;
    --diffs-tab-size: 4;
    --diffs-gap-block: 0px;
    --diffs-bg: var(--surface-raised);
    --diffs-fg: var(--syntax-plain);
    --diffs-fg-number-override: var(--text-tertiary);
    --diffs-fg-number-addition-override: var(--diff-add-text);
    --diffs-fg-number-deletion-override: var(--diff-del-text);
    --diffs-bg-context-override: var(--surface-raised);
    --diffs-bg-context-gutter-override: var(--surface-raised);
    --diffs-bg-addition-emphasis-override: var(--diff-add-word);
    --diffs-bg-deletion-emphasis-override: var(--diff-del-word);
    --diffs-addition-color-override: var(--diff-add-text);
    --diffs-deletion-color-override: var(--diff-del-text);
    --diffs-bg-separator-override: var(--diff-hunk);
  }
  [data-line-type="change-addition"] { --diffs-computed-diff-line-bg: var(--diff-add) !important; }
  [data-line-type="change-deletion"] { --diffs-computed-diff-line-bg: var(--diff-del) !important; }
  [data-column-number][data-line-type="change-addition"] { --diffs-computed-diff-line-bg: var(--diff-add-gutter) !important; }
  [data-column-number][data-line-type="change-deletion"] { --diffs-computed-diff-line-bg: var(--diff-del-gutter) !important; }
  [data-column-number] { font-size: var(--text-11); }
  [data-separator="metadata"] { height: 20px !important; font-size: var(--text-11); }
`;

const options = {
  theme: "berth",
  preferredHighlighter: "highlights",
  diffStyle: "unified",
  diffIndicators: "classic",
  hunkSeparators: "metadata",
  lineDiffType: "word",
  overflow: "scroll",
  disableFileHeader: true,
  unsafeCSS: css,
} as const;

const PatchView = memo(function PatchView({ patch }: { patch: string }) {
  return <PatchDiff patch={patch} options={options} disableWorkerPool />;
});

export default PatchView;
