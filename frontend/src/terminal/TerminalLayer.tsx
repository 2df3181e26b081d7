import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import "./terminal.css";
import { checkAgent } from "../agents/look";
import { closeLayer, type TerminalJob } from "../app/view";
import { Button, IconButton } from "../ui/Button";
import { copyText } from "../ui/copy";
import { ConfirmDialog } from "../ui/Dialog";
import { Signal } from "../ui/Signal";
import { EmptyState, ErrorState, LoadingState } from "../ui/states";
import { toast } from "../ui/Toasts";
import type { FeedState } from "./feed";
import { ResizeEdge } from "./ResizeEdge";
import { Screen, type ScreenHandle } from "./Screen";
import {
  closeTerminal,
  openTerminal,
  reloadTerminals,
  titleOf,
  useTerminals,
  type Terminal,
} from "./terminals";

type Props = {
  /** What is to be run in a terminal of its own. */
  job?: TerminalJob | undefined;
  /** Where a shell begins. */
  cwd?: string | undefined;
};

// Which terminals run a command on behalf of an agent: it is looked at when the command ends.
const jobs = new Map<string, TerminalJob>();

/** The user's terminals, over the view. Hiding them ends nothing. */
export function TerminalLayer({ job, cwd }: Props) {
  const { t } = useTranslation();
  const list = useTerminals();
  const { active, setActive, opening, failed, open } = useOpening({ job, cwd });
  const [asked, setAsked] = useState<Terminal>();
  const terminals = list.data ?? [];
  const shown = terminals.find((one) => one.id === active) ?? terminals.at(-1);

  const close = async (terminal: Terminal) => {
    try {
      await closeTerminal(terminal.id);
    } catch (error) {
      toast(t("terminal.closeFailed", { error: error instanceof Error ? error.message : String(error) }));
      await reloadTerminals();
    }
    jobs.delete(terminal.id);
    if (terminals.length === 1) closeLayer("terminal");
  };
  const askToClose = (terminal: Terminal) =>
    terminal.state === "running" ? setAsked(terminal) : void close(terminal);

  return (
    <section className="terms" role="region" aria-label={t("terminal.label")}>
      <ResizeEdge />
      <header className="row">
        <Tabs terminals={terminals} shown={shown} onShow={setActive} onClose={askToClose} />
        <IconButton small icon="plus" label={t("terminal.new")} onClick={() => void open({ cwd })} />
        <span className="sp" />
        <IconButton
          small
          icon="down"
          label={t("terminal.hide")}
          command="view.terminal"
          onClick={() => closeLayer("terminal")}
        />
      </header>
      {failed ? (
        <ErrorState
          title={t("terminal.failed")}
          detail={failed.text}
          onRetry={() => void open(failed.wanted)}
        />
      ) : list.isError ? (
        <ErrorState
          title={t("terminal.listFailed")}
          detail={list.error.message}
          onRetry={() => void list.refetch()}
        />
      ) : shown ? (
        terminals.map((terminal) => (
          <Panel
            key={terminal.id}
            terminal={terminal}
            active={terminal === shown}
            onAgain={(again) => void open({ job: again })}
            onClose={() => void close(terminal)}
          />
        ))
      ) : opening || list.isPending ? (
        <LoadingState what={t("terminal.loading")} />
      ) : (
        <EmptyState
          title={t("terminal.empty")}
          action={<Button onClick={() => void open({ cwd })}>{t("terminal.open")}</Button>}
        />
      )}
      {asked && (
        <ConfirmDialog
          open
          danger
          title={t("terminal.ask.title", { title: titleOf(asked, t("terminal.shell")) })}
          text={t("terminal.ask.text", { command: asked.command.join(" ") || t("terminal.shell") })}
          confirm={t("terminal.ask.confirm")}
          onConfirm={() => close(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  );
}

// What a terminal has until its screen is measured.
const USUAL_SIZE = { columns: 80, rows: 24 };

type Wanted = { job?: TerminalJob | undefined; cwd?: string | undefined };

/** Opens what the layer was opened for, once: a job, else a shell where there is none. */
function useOpening({ job, cwd }: Wanted) {
  const list = useTerminals();
  const [active, setActive] = useState<string>();
  const [opening, setOpening] = useState(false);
  const [failed, setFailed] = useState<{ text: string; wanted: Wanted }>();
  const open = async (wanted: Wanted) => {
    setOpening(true);
    setFailed(undefined);
    try {
      const terminal = await openTerminal({
        ...USUAL_SIZE,
        ...(wanted.job ? { command: wanted.job.argv, title: wanted.job.title } : {}),
        ...(wanted.cwd ? { cwd: wanted.cwd } : {}),
      });
      if (wanted.job) jobs.set(terminal.id, wanted.job);
      setActive(terminal.id);
    } catch (error) {
      setFailed({ text: error instanceof Error ? error.message : String(error), wanted });
    }
    setOpening(false);
  };
  const begun = useRef<TerminalJob | "shell">(undefined);
  const none = list.data?.length === 0;
  useEffect(() => {
    const wanted = job ?? (none ? "shell" : undefined);
    if (!wanted || begun.current === wanted) return;
    // A shell is opened once; each job once.
    if (wanted === "shell" && begun.current) return;
    begun.current = wanted;
    void open(job ? { job } : { cwd });
  }, [job, cwd, none]);
  return { active, setActive, opening, failed, open };
}

type TabsProps = {
  terminals: Terminal[];
  shown: Terminal | undefined;
  onShow: (id: string) => void;
  onClose: (terminal: Terminal) => void;
};

function Tabs({ terminals, shown, onShow, onClose }: TabsProps) {
  const { t } = useTranslation();
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !shown) return;
    event.preventDefault();
    const next = terminals[(terminals.indexOf(shown) + step + terminals.length) % terminals.length];
    if (!next) return;
    onShow(next.id);
    event.currentTarget.querySelector<HTMLElement>(`#term-tab-${next.id}`)?.focus();
  };
  return (
    <div className="term-tabs" role="tablist" aria-label={t("terminal.tabs")} onKeyDown={onKeyDown}>
      {terminals.map((terminal) => {
        const title = titleOf(terminal, t("terminal.shell"));
        return (
          <div key={terminal.id} className={`term-tab ${terminal === shown ? "on" : ""}`}>
            <button
              type="button"
              role="tab"
              id={`term-tab-${terminal.id}`}
              aria-selected={terminal === shown}
              aria-controls={`term-${terminal.id}`}
              tabIndex={terminal === shown ? 0 : -1}
              title={`${terminal.command.join(" ")}\n${terminal.cwd}`}
              onClick={() => onShow(terminal.id)}
            >
              <Signal name={terminal.state === "running" ? "running" : exitSignal(terminal)} />
              <span className="ell">{title}</span>
            </button>
            <IconButton
              small
              icon="x"
              label={t("terminal.close", { title })}
              onClick={() => onClose(terminal)}
            />
          </div>
        );
      })}
    </div>
  );
}

const exitSignal = (terminal: Terminal) => (terminal.exit_code === 0 ? "done" : "stopped");

type PanelProps = {
  terminal: Terminal;
  active: boolean;
  onAgain: (job: TerminalJob) => void;
  onClose: () => void;
};

function Panel({ terminal, active, onAgain, onClose }: PanelProps) {
  const { t } = useTranslation();
  const [state, setState] = useState<FeedState>("following");
  const [gap, setGap] = useState(false);
  const screen = useRef<ScreenHandle>(undefined);
  const job = jobs.get(terminal.id);
  const change = (next: FeedState) => {
    setState(next);
    if (next === "ended" || next === "gone") void reloadTerminals();
  };
  const ended = state === "ended" || terminal.state === "ended";
  return (
    <div
      className="term-panel"
      id={`term-${terminal.id}`}
      role="tabpanel"
      aria-labelledby={`term-tab-${terminal.id}`}
      hidden={!active}
    >
      <Screen
        id={terminal.id}
        title={titleOf(terminal, t("terminal.shell"))}
        active={active}
        running={terminal.state === "running"}
        handle={screen}
        onState={change}
        onGap={() => setGap(true)}
      />
      <footer className="row t11 ter">
        <Status terminal={terminal} state={state} ended={ended} job={job} />
        {gap && <span>{t("terminal.dropped")}</span>}
        <span className="sp" />
        {ended && job && (
          <Button small onClick={() => onAgain(job)}>
            {t("terminal.again")}
          </Button>
        )}
        <Button small look="quiet" onClick={() => void copyText(screen.current?.all() ?? "")}>
          {t("terminal.copyAll")}
        </Button>
        {(ended || state === "gone") && (
          <Button small look="quiet" onClick={onClose}>
            {t("terminal.closeOne")}
          </Button>
        )}
      </footer>
    </div>
  );
}

function Status(props: {
  terminal: Terminal;
  state: FeedState;
  ended: boolean;
  job: TerminalJob | undefined;
}) {
  const { t } = useTranslation();
  const { terminal, state, ended, job } = props;
  const found = useLookWhenEnded(job, ended);
  if (state === "gone") return <span role="status">{t("terminal.gone")}</span>;
  if (state === "reconnecting") {
    return (
      <span className="row" role="status">
        <Signal name="offline" />
        {t("terminal.reconnecting")}
      </span>
    );
  }
  if (!ended) return <span className="mono ell">{terminal.cwd}</span>;
  return (
    <span className="row num" role="status">
      <Signal name={exitSignal(terminal)} />
      {terminal.exit_code === undefined
        ? t("terminal.endedUnknown")
        : t("terminal.ended", { code: terminal.exit_code })}
      {found && <span className="sec">{found}</span>}
    </span>
  );
}

/** What was run for an agent has ended: whether it helped is looked at, once. */
function useLookWhenEnded(job: TerminalJob | undefined, ended: boolean): string | undefined {
  const { t } = useTranslation();
  const [found, setFound] = useState<string>();
  const looked = useRef(false);
  useEffect(() => {
    if (!job || !ended || looked.current) return;
    looked.current = true;
    setFound(t("terminal.checking", { agent: job.agent }));
    void checkAgent(job.agent).then((agent) =>
      setFound(
        agent && t("terminal.checked", { agent: agent.title, status: t(`agents.status.${agent.status}`) }),
      ),
    );
  }, [job, ended, t]);
  return found;
}
