import type { TFunction } from "i18next";
import { memo } from "react";
import { useTranslation } from "react-i18next";
import type { Item, Tool } from "../api/types";
import { bytes, duration } from "../i18n/format";
import { useLive } from "../stream/store";
import { Stopwatch } from "../ui/Clock";
import { Icon, type IconName } from "../ui/Icon";
import { Signal } from "../ui/Signal";
import { shownPath, useTimelineScope } from "./context";
import { DiffCard } from "./DiffCard";
import { ImageGrid } from "./Images";
import { childCalls } from "./rows";
import { setExpanded, useExpanded } from "./timelineView";
import { LiveOutput, ToolDetails } from "./ToolDetails";

const icons: Record<string, IconName> = {
  read: "read",
  edit: "edit",
  delete: "x",
  move: "now",
  search: "search",
  execute: "term",
  think: "think",
  fetch: "globe",
  agent: "sub",
};

const verbs = ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "agent"] as const;

/** A tool call: one line, its object in monospace, what came of it at the right. */
export const ToolRow = memo(function ToolRow({ item, live }: { item: Item; live: boolean }) {
  const { t } = useTranslation();
  const { chat, cwd } = useTimelineScope();
  const open = useExpanded(chat, item.id);
  const tool = item.body.tool;
  if (!tool) return null;
  if (tool.files && tool.files.length > 0) return <DiffCard item={item} tool={tool} />;
  const object = objectOf(tool, item, cwd);
  const verb = verbOf(tool, t);
  const prose = tool.kind === "agent" || tool.kind === "think";
  return (
    <>
      <button
        type="button"
        className="tool inset"
        aria-expanded={open}
        onClick={() => setExpanded(chat, item.id, !open)}
        title={object}
      >
        <Icon name={icons[tool.kind] ?? "proc"} />
        <span className="v">{verb}</span>
        <ObjectText text={object} mono={!prose} />
        <Result item={item} tool={tool} />
        <Icon name="chev" className="car" />
      </button>
      {open ? (
        <ToolDetails item={item} tool={tool} />
      ) : live && tool.kind === "execute" && tool.output ? (
        <LiveOutput tool={tool} />
      ) : null}
      {tool.images && tool.images.length > 0 && <ImageGrid images={tool.images} />}
    </>
  );
});

/** Cut at the end, but of a path never the file's name. */
function ObjectText({ text, mono }: { text: string; mono: boolean }) {
  const slash = /^[^\s"'`$]+$/.test(text) ? text.lastIndexOf("/") : -1;
  if (!mono) return <span className="ell">{text}</span>;
  if (slash < 0) return <span className="m ell">{text}</span>;
  return (
    <span className="m path">
      <span className="ell">{text.slice(0, slash + 1)}</span>
      <span>{text.slice(slash + 1)}</span>
    </span>
  );
}

function objectOf(tool: Tool, item: Item, cwd: string): string {
  const places = tool.locations ?? [];
  if (places.length > 0 && (tool.kind === "read" || tool.kind === "edit" || tool.kind === "delete")) {
    return places
      .map((place) => shownPath(place.path, cwd) + (place.line ? `:${place.line}` : ""))
      .join(", ");
  }
  return (tool.title || item.summary || tool.name).replace(/\s+/g, " ").trim();
}

function verbOf(tool: Tool, t: TFunction): string {
  const verb = verbs.find((one) => one === tool.kind);
  return verb ? t(`timeline.verb.${verb}`) : tool.name || t("timeline.verb.other");
}

/** What came of it, and how long it took. */
function Result({ item, tool }: { item: Item; tool: Tool }) {
  const { t } = useTranslation();
  const running = item.status === "in_progress";
  return (
    <span className="d">
      {running && <Signal name="running" />}
      {item.status === "pending" && <span className="att">{t("timeline.toolWaits")}</span>}
      {tool.kind === "agent" && <Calls item={item} />}
      <Outcome item={item} tool={tool} />
      {running && tool.started_at ? (
        <span>
          <Stopwatch since={tool.started_at} />
        </span>
      ) : (
        <Took tool={tool} />
      )}
    </span>
  );
}

// Shorter calls are not worth a figure.
const WORTH_SAYING_MS = 1_000;

function Took({ tool }: { tool: Tool }) {
  if (!tool.started_at || !tool.ended_at) return null;
  const took = Date.parse(tool.ended_at) - Date.parse(tool.started_at);
  return took >= WORTH_SAYING_MS ? <span>{duration(took)}</span> : null;
}

function Outcome({ item, tool }: { item: Item; tool: Tool }) {
  const { t } = useTranslation();
  if (tool.background && item.status !== "in_progress") return <span>{t("timeline.background")}</span>;
  if (tool.exit_code) return <span className="dan">{t("timeline.exit", { code: tool.exit_code })}</span>;
  if (item.status === "failed") return <span className="dan">{t("timeline.toolFailed")}</span>;
  if (item.status === "cancelled") return <span>{t("timeline.toolCancelled")}</span>;
  if (item.status !== "completed") return null;
  const places = tool.locations?.length ?? 0;
  if (tool.kind === "read" && places > 1) return <span>{t("timeline.files", { count: places })}</span>;
  if ((tool.kind === "search" || tool.kind === "read") && tool.output) return <Extent tool={tool} />;
  return null;
}

/** How much a search or a read gave: lines where all are here, else bytes. */
function Extent({ tool }: { tool: Tool }) {
  const { t } = useTranslation();
  const output = tool.output ?? "";
  if (tool.output_file) return <span>{bytes(tool.output_bytes ?? output.length)}</span>;
  return <span>{t("timeline.lines", { count: output.replace(/\n$/, "").split("\n").length })}</span>;
}

function Calls({ item }: { item: Item }) {
  const { t } = useTranslation();
  const count = useLive((state) => childCalls(state.timelines.get(item.chat)?.items ?? [], item.id));
  return count > 0 ? <span>{t("timeline.calls", { count })}</span> : null;
}
