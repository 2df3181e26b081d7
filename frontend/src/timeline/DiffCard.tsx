import { lazy, Suspense, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { FileDiff, Item, Tool } from "../api/types";
import { IconButton, Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Signal } from "../ui/Signal";
import { shownPath, useTimelineScope } from "./context";
import { cutPatch, patchLines, withFileHeader } from "./patch";
import { setExpanded, useExpanded } from "./timelineView";

const PatchView = lazy(() => import("./PatchView"));

// What of a change is shown before the user asks for all of it.
const PREVIEW_LINES = 10;
// As PatchView draws them; kept free until it has.
const LINE_PX = 19;
const HUNK_PX = 20;

/** A change of files: one card for each, the beginning of its patch in view. */
export function DiffCard({ item, tool }: { item: Item; tool?: Tool | undefined }) {
  const files = tool?.files ?? item.body.files ?? [];
  return (
    <>
      {files.map((file) => (
        <FileCard key={file.path} id={`${item.id} ${file.path}`} file={file} status={item.status} />
      ))}
    </>
  );
}

export function FileCard({ id, file, status }: { id: string; file: FileDiff; status: string }) {
  const { t } = useTranslation();
  const { chat, cwd } = useTimelineScope();
  const open = useExpanded(chat, id, true);
  const path = shownPath(file.path, cwd);
  return (
    <div className="card">
      <div className="h">
        {status === "in_progress" || status === "pending" ? (
          <Signal name="running" />
        ) : (
          <Icon name="edit" className="ter" />
        )}
        <span className="mono med ell" title={file.path}>
          {path}
        </span>
        {file.change !== "modified" && (
          <span className="tag">
            {file.change === "renamed"
              ? t("timeline.renamed", { path: shownPath(file.old_path ?? "", cwd) })
              : t(`timeline.${file.change}`)}
          </span>
        )}
        <Counts added={file.added} removed={file.removed} />
        {status === "failed" && <span className="t11 dan">{t("timeline.toolFailed")}</span>}
        {status === "cancelled" && <span className="t11 ter">{t("timeline.toolCancelled")}</span>}
        <span className="sp" />
        <IconButton
          small
          icon={open ? "down" : "chev"}
          aria-expanded={open}
          label={open ? t("timeline.collapse", { name: path }) : t("timeline.expand", { name: path })}
          onClick={() => setExpanded(chat, id, !open, true)}
        />
      </div>
      {open && <Patch id={id} file={file} />}
    </div>
  );
}

/** +38 −6, with a spoken form. */
export function Counts({ added, removed }: { added: number; removed: number }) {
  const { t } = useTranslation();
  if (added === 0 && removed === 0) return null;
  return (
    <span className="mono num counts" role="img" aria-label={t("timeline.changes", { added, removed })}>
      {added > 0 && <span className="add">+{added}</span>}{" "}
      {removed > 0 && <span className="del">−{removed}</span>}
    </span>
  );
}

function Patch({ id, file }: { id: string; file: FileDiff }) {
  const { t } = useTranslation();
  const { chat } = useTimelineScope();
  const all = useExpanded(chat, `${id} all`);
  const whole = useMemo(
    () => (file.patch ? withFileHeader(file.path, file.old_path, file.patch, file.change) : ""),
    [file.patch, file.path, file.old_path, file.change],
  );
  const { patch, hidden } = useMemo(() => cutPatch(whole, all ? Infinity : PREVIEW_LINES), [whole, all]);
  if (!whole) {
    const why =
      file.omitted === "binary"
        ? t("timeline.binary")
        : file.omitted
          ? t("timeline.tooLarge")
          : t("timeline.noPatch");
    return <div className="nopatch">{why}</div>;
  }
  const { lines, hunks } = patchLines(patch);
  const height = lines * LINE_PX + hunks * HUNK_PX;
  return (
    <>
      <div style={{ minHeight: height }}>
        <Suspense fallback={null}>
          <PatchView patch={patch} />
        </Suspense>
      </div>
      {(hidden > 0 || all) && (
        <Button look="quiet" small className="hunk-more" onClick={() => setExpanded(chat, `${id} all`, !all)}>
          {all ? t("timeline.showLess") : t("timeline.showMore", { count: hidden })}
        </Button>
      )}
    </>
  );
}
