import type { TFunction } from "i18next";
import { memo } from "react";
import { useTranslation } from "react-i18next";
import type { Attachment, FileRef, Item } from "../api/types";
import { bytes, clock, duration } from "../i18n/format";
import { transport } from "../transport";
import { Button, IconButton } from "../ui/Button";
import { Stopwatch } from "../ui/Clock";
import { CopyButton } from "../ui/copy";
import { Icon } from "../ui/Icon";
import { Signal, type SignalName } from "../ui/Signal";
import { useTimelineScope } from "./context";
import { requestTitle } from "../requests/title";
import { Counts } from "./DiffCard";
import { ImageFigure } from "./Images";
import { Markdown } from "./Markdown";
import type { Run } from "./rows";
import { setExpanded, setRunOpen, useExpanded } from "./timelineView";

/** The user's own words, unchanged. */
export const UserMessage = memo(function UserMessage({ item }: { item: Item }) {
  const { t } = useTranslation();
  const { text = "", attachments = [] } = item.body;
  return (
    <div className={`user ${item.status === "completed" ? "" : "hold"}`}>
      <Words item={item} text={text} />
      {attachments.length > 0 && (
        <div className="ats">
          {attachments.map((file) => (
            <AttachmentChip key={file.file} file={file} />
          ))}
        </div>
      )}
      {item.status === "pending" && <div className="t11 ter">{t("timeline.notSent")}</div>}
      {item.status === "failed" && <div className="t11 dan">{t("timeline.notDelivered")}</div>}
      <CopyButton className="hover-copy" text={() => text} label={t("timeline.copyMessage")} />
    </div>
  );
});

// A pasted log is not read in the timeline; its beginning tells what it is.
const SHOWN_CHARS = 6_000;
const SHOWN_LINES = 60;

function Words({ item, text }: { item: Item; text: string }) {
  const { t } = useTranslation();
  const { chat } = useTimelineScope();
  const all = useExpanded(chat, item.id);
  const cut = cutText(text);
  if (cut === text) return <div className="words">{text}</div>;
  return (
    <>
      <div className={`words ${all ? "tall" : ""}`} {...(all ? { tabIndex: 0 } : {})}>
        {all ? text : `${cut}…`}
      </div>
      <Button small look="quiet" onClick={() => setExpanded(chat, item.id, !all)}>
        {all ? t("timeline.showLess") : `${t("timeline.showAll")}, ${bytes(text.length)}`}
      </Button>
    </>
  );
}

function cutText(text: string): string {
  const lines = text.split("\n", SHOWN_LINES + 1);
  const cut = lines.length > SHOWN_LINES ? lines.slice(0, SHOWN_LINES).join("\n") : text;
  return cut.slice(0, SHOWN_CHARS);
}

export function AttachmentChip({ file }: { file: Attachment }) {
  const { t } = useTranslation();
  if (file.type.startsWith("image/")) return <ImageFigure image={{ ...file, id: file.file }} />;
  return (
    <button
      type="button"
      className="att-chip"
      title={t("timeline.save")}
      onClick={() => void transport().saveFile(file.file, file.name)}
    >
      <Icon name="file" />
      <span className="ell">{file.name}</span>
      <span className="ter num">{bytes(file.size)}</span>
    </button>
  );
}

/** What the agent said, with its words to copy. */
export const AnswerText = memo(function AnswerText({ item }: { item: Item }) {
  const { t } = useTranslation();
  const text = item.body.text ?? "";
  return (
    <div className="said">
      <Markdown text={text} live={item.status === "in_progress"} />
      {text !== "" && (
        <CopyButton className="hover-copy" text={() => text} label={t("timeline.copyAnswer")} />
      )}
    </div>
  );
});

/** Folded, with its headline and how long it took. */
export const Thought = memo(function Thought({ item }: { item: Item }) {
  const { t } = useTranslation();
  const { chat } = useTimelineScope();
  const open = useExpanded(chat, item.id);
  const text = item.body.text ?? "";
  const live = item.status === "in_progress";
  return (
    <>
      <button
        type="button"
        className="tool inset"
        aria-expanded={open}
        onClick={() => setExpanded(chat, item.id, !open)}
      >
        <Icon name="think" />
        <span className="v">{live ? t("timeline.thinking") : t("timeline.thought")}</span>
        <span className="ell">{headline(text) || item.summary}</span>
        <span className="d">
          {live && <Signal name="running" />}
          {live && <Stopwatch since={item.at} />}
        </span>
        <Icon name="chev" className="car" />
      </button>
      {open && (
        <div className="thought">
          <Markdown text={text} live={live} />
        </div>
      )}
    </>
  );
});

/** The first sentence of a thought: enough to tell what it is about, and it does not change while more is thought. */
export function headline(text: string): string {
  const line = text.trimStart().split("\n", 1)[0] ?? "";
  return line
    .replace(/[*_`#]/g, "")
    .trim()
    .slice(0, 160);
}

const planSignal: Record<string, SignalName> = {
  completed: "done",
  in_progress: "running",
  failed: "failed",
  cancelled: "stopped",
};

export const Plan = memo(function Plan({ item }: { item: Item }) {
  const { t } = useTranslation();
  const entries = item.body.plan ?? [];
  const done = entries.filter((entry) => entry.status === "completed").length;
  return (
    <ul className="plan" aria-label={t("timeline.plan", { done, all: entries.length })}>
      {entries.map((entry, at) => (
        <li
          key={at}
          className={entry.status === "completed" ? "dn" : entry.status === "in_progress" ? "now" : ""}
        >
          <Signal name={planSignal[entry.status] ?? "idle"} />
          <span>{entry.text}</span>
        </li>
      ))}
    </ul>
  );
});

/** One head for what the agent did: working or worked, for how long, how much. */
export const RunHead = memo(function RunHead({ run, open }: { run: Run; open: boolean }) {
  const { t } = useTranslation();
  const { chat } = useTimelineScope();
  const took = duration(Math.max(0, Date.parse(run.endedAt) - Date.parse(run.startedAt)));
  return (
    <button
      type="button"
      className="runh inset"
      aria-expanded={open}
      onClick={() => setRunOpen(chat, run.turn, !open)}
    >
      <Icon name="chev" className="car" />
      {run.live && <Signal name="running" />}
      <b className="num">
        {run.live ? (
          <>
            {t("timeline.working")} <Stopwatch since={run.startedAt} />
          </>
        ) : (
          endedWord(run, took, t)
        )}
      </b>
      <span className="facts num">
        {run.tools > 0 && <span>{t("timeline.tools", { count: run.tools })}</span>}
        {run.thoughts > 0 && <span>{t("timeline.thoughts", { count: run.thoughts })}</span>}
        {(run.added > 0 || run.removed > 0) && <Counts added={run.added} removed={run.removed} />}
        {run.failures > 0 && <span className="dan">{t("timeline.failures", { count: run.failures })}</span>}
      </span>
    </button>
  );
});

function endedWord(run: Run, took: string, t: TFunction): string {
  switch (run.state) {
    case "stopped":
      return t("timeline.stoppedAfter", { duration: took });
    case "failed":
      return t("timeline.failedAfter", { duration: took });
    case "interrupted":
      return t("timeline.interruptedAfter", { duration: took });
    default:
      return t("timeline.worked", { duration: took });
  }
}

/** The record of a request: asked, by whom it was answered, when. The form stands in the shelf. */
export const RequestRecord = memo(function RequestRecord({ item }: { item: Item }) {
  const { t } = useTranslation();
  const { chat } = useTimelineScope();
  const open = useExpanded(chat, item.id);
  const request = item.body.request;
  if (!request) return null;
  const given = request.answer;
  const denied =
    request.options?.find((option) => option.id === given?.option)?.kind.startsWith("reject") ?? false;
  const who = given?.by && given.by !== "owner" ? given.by : t("timeline.owner");
  const outcome = !given
    ? t("timeline.waits")
    : given.outcome === "answered"
      ? item.kind === "question"
        ? t("timeline.answered", { who })
        : denied
          ? t("timeline.denied", { who })
          : t("timeline.allowed", { who })
      : t(`timeline.${given.outcome}`);
  const signal: SignalName = !given
    ? item.kind === "question"
      ? "question"
      : "approval"
    : given.outcome !== "answered"
      ? "stopped"
      : denied
        ? "failed"
        : "done";
  return (
    <>
      <button
        type="button"
        className="tool inset"
        aria-expanded={open}
        onClick={() => setExpanded(chat, item.id, !open)}
      >
        <Signal name={signal} />
        <span className="v ell" style={{ flex: "0 1 auto" }}>
          {requestTitle(item, request, t)}
        </span>
        <span className="m ell">{request.command ?? ""}</span>
        <span className="d">
          <span className={given ? "" : "att"}>{outcome}</span>
          {given && <span>{clock(given.at)}</span>}
        </span>
        <Icon name="chev" className="car" />
      </button>
      {open && <RequestFacts item={item} />}
    </>
  );
});

function RequestFacts({ item }: { item: Item }) {
  const { t } = useTranslation();
  const request = item.body.request;
  const given = request?.answer;
  const option = request?.options?.find((one) => one.id === given?.option);
  return (
    <div className="details t12">
      {request?.command && <pre className="term whole">{request.command}</pre>}
      {request?.reason && <div className="sec">{request.reason}</div>}
      {request?.questions?.map((question) => (
        <div key={question.id}>
          <div className="sec">{question.text}</div>
          <div>{given?.answers?.[question.id]?.join(", ")}</div>
        </div>
      ))}
      {option && <div>{option.label}</div>}
      {given?.reason && <div className="sec">{t("timeline.reason", { reason: given.reason })}</div>}
    </div>
  );
}

/** An entry of a newer kind: kept, and shown plainly. */
export const UnknownEntry = memo(function UnknownEntry({ item }: { item: Item }) {
  const { t } = useTranslation();
  const { chat } = useTimelineScope();
  const open = useExpanded(chat, item.id);
  return (
    <div className="unknown">
      <Signal name="idle" />
      <div className="grow">
        <div className="mono t12">{item.kind}</div>
        {item.summary && <div className="t12 sec">{item.summary}</div>}
        <div className="t12 sec">
          {t("timeline.unknownKind")}{" "}
          <button
            type="button"
            className="acc"
            aria-expanded={open}
            onClick={() => setExpanded(chat, item.id, !open)}
          >
            {open ? t("timeline.hideText") : t("timeline.showAsText")}
          </button>
        </div>
        {open && <pre className="term whole">{JSON.stringify(item.body, null, 2)}</pre>}
      </div>
      <span className="t11 ter num">{clock(item.at)}</span>
    </div>
  );
});

/** A file the agent hands over. */
export const Artifact = memo(function Artifact({ item }: { item: Item }) {
  const file = item.body.artifact;
  if (!file) return <UnknownEntry item={item} />;
  if (!file.type.startsWith("image/")) return <FileRow file={file} />;
  return (
    <div className="shot">
      <ImageFigure image={file} />
    </div>
  );
});

export function FileRow({ file }: { file: FileRef }) {
  const { t } = useTranslation();
  return (
    <div className="card">
      <div className="h">
        <Icon name="file" className="ter" />
        <span className="med ell">{file.name}</span>
        <span className="ter num">{bytes(file.size)}</span>
        <span className="sp" />
        <IconButton
          small
          icon="down2"
          label={t("timeline.save")}
          onClick={() => void transport().saveFile(file.id, file.name)}
        />
      </div>
    </div>
  );
}
