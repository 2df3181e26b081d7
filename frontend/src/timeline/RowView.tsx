import type { TFunction } from "i18next";
import { memo, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { clock, longDay } from "../i18n/format";
import { DiffCard } from "./DiffCard";
import {
  Artifact,
  AnswerText,
  Plan,
  RequestRecord,
  RunHead,
  Thought,
  UnknownEntry,
  UserMessage,
} from "./entries";
import { ErrorCard, Mark, Notice } from "./notices";
import type { Row } from "./rows";
import { ToolRow } from "./ToolRow";
import type { Item } from "../api/types";

/** One row of the log: a clock in the margin, then the entry. */
export const RowView = memo(function RowView({ row }: { row: Row }) {
  const { t } = useTranslation();
  switch (row.kind) {
    case "begin":
      return <div className="mark">{t("timeline.begin")}</div>;
    case "day":
      return <div className="day">{longDay(row.at)}</div>;
    case "unread":
      return (
        <div
          className="mark new"
          role="separator"
          aria-label={t("timeline.newSince", { time: clock(row.at) })}
        >
          {t("timeline.newSince", { time: clock(row.at) })}
        </div>
      );
    case "user":
      return (
        <Entry at={row.item.at}>
          <UserMessage item={row.item} />
        </Entry>
      );
    case "run":
      return (
        <Entry at={row.run.live || row.open ? undefined : row.run.endedAt} tight={row.open}>
          <RunHead run={row.run} open={row.open} />
        </Entry>
      );
    case "answer":
      return (
        <Entry at={row.clock ? row.item.at : undefined}>
          <AnswerText item={row.item} />
        </Entry>
      );
    case "mark":
      return <Mark item={row.item} />;
    case "error":
      return row.inRun ? (
        <Step at={undefined} live={row.live} depth={0}>
          <ErrorCard item={row.item} />
        </Step>
      ) : (
        <Entry at={row.item.at}>
          <ErrorCard item={row.item} />
        </Entry>
      );
    case "step":
      return (
        <Step at={row.clock ? row.item.at : undefined} live={row.live} depth={row.depth}>
          <StepBody item={row.item} live={row.live} />
        </Step>
      );
  }
});

function Entry({ at, tight, children }: { at: string | undefined; tight?: boolean; children: ReactNode }) {
  return (
    <div className={`e ${tight ? "tight" : ""}`}>
      <span className="clk">{at && clock(at)}</span>
      <div className="b">{children}</div>
    </div>
  );
}

/** An entry on the line of its run. */
function Step({
  at,
  live,
  depth,
  children,
}: {
  at: string | undefined;
  live: boolean;
  depth: number;
  children: ReactNode;
}) {
  return (
    <div className="e step">
      <span className="clk">{at && clock(at)}</span>
      <div className={`steps ${live ? "live" : ""}`}>
        {depth === 0 ? (
          children
        ) : (
          <div className="nested" style={{ marginLeft: `${(depth - 1) * 16}px` }}>
            {children}
          </div>
        )}
      </div>
    </div>
  );
}

function StepBody({ item, live }: { item: Item; live: boolean }) {
  switch (item.kind) {
    case "answer":
      return (
        <div className="say">
          <AnswerText item={item} />
        </div>
      );
    case "thought":
      return <Thought item={item} />;
    case "tool_call":
      return item.body.tool ? <ToolRow item={item} live={live} /> : <UnknownEntry item={item} />;
    case "diff":
      return <DiffCard item={item} />;
    case "plan":
      return <Plan item={item} />;
    case "approval":
    case "question":
      return <RequestRecord item={item} />;
    case "artifact":
      return <Artifact item={item} />;
    case "notice":
    case "alert":
      return <Notice item={item} />;
    default:
      return <UnknownEntry item={item} />;
  }
}

/** What a screen reader calls a row. */
export function rowName(row: Row, agent: string, t: TFunction): string {
  switch (row.kind) {
    case "user":
      return t("timeline.you", { time: clock(row.item.at) });
    case "answer":
    case "step":
    case "error":
    case "mark":
      return t("timeline.agentAt", { agent, time: clock(row.item.at) });
    case "run":
      return t("timeline.agentAt", { agent, time: clock(row.run.startedAt) });
    case "day":
      return longDay(row.at);
    case "unread":
      return t("timeline.newSince", { time: clock(row.at) });
    case "begin":
      return t("timeline.begin");
  }
}

/** A first guess at a row's height; it is measured once it is drawn. */
export function guessHeight(row: Row): number {
  switch (row.kind) {
    case "day":
      return 32;
    case "begin":
    case "unread":
      return 52;
    case "run":
      return 30;
    case "mark":
      return 36;
    case "user":
      return 50 + Math.min(30, lines(row.item.body.text)) * 22;
    case "answer":
      return 20 + lines(row.item.body.text) * 22;
    case "error":
      return 56;
    case "step":
      return guessStep(row.item);
  }
}

// About as many characters as a reading line holds.
const LINE_CHARS = 100;

function lines(text = ""): number {
  return Math.ceil(text.length / LINE_CHARS) + Math.min(200, text.split("\n", 200).length - 1);
}

function guessStep(item: Item): number {
  if (item.kind === "answer") return 12 + lines(item.body.text) * 22;
  if (item.kind === "plan") return 12 + (item.body.plan?.length ?? 0) * 24;
  const files = item.body.tool?.files ?? item.body.files;
  if (files && files.length > 0) return files.length * 260;
  if (item.kind === "artifact" || (item.body.tool?.images?.length ?? 0) > 0) return 260;
  return 26;
}
