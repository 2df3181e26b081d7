import { useMemo, useState, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import "./inspector.css";
import { useAgent } from "../api/queries";
import type { Chat } from "../api/types";
import { ResizeHandle } from "../app/ResizeHandle";
import { useView } from "../app/view";
import { useLive } from "../stream/store";
import { TimelineScope } from "../timeline/context";
import { ImageFigure } from "../timeline/Images";
import { IconButton } from "../ui/Button";
import { EmptyState } from "../ui/states";
import { FileRow } from "../timeline/entries";
import { Changes } from "./Changes";
import { Details } from "./Details";
import { artifactsOf, changesByTurn } from "./facts";

const tabs = ["changes", "artifacts", "details"] as const;
type Tab = (typeof tabs)[number];

const none: never[] = [];

/** Facts beside the conversation: what it changed, what was handed over, what it is. */
export function Inspector({ chat: id }: { chat: string }) {
  const { t } = useTranslation();
  const chat = useLive((state) => state.chats.get(id));
  const items = useLive((state) => state.timelines.get(id)?.items ?? none);
  const agent = useAgent(chat?.agent);
  const [tab, setTab] = useState<Tab>("changes");
  const turns = useMemo(() => changesByTurn(items), [items]);
  const handed = useMemo(() => artifactsOf(items), [items]);
  if (!chat) return null;
  const counts = {
    changes: new Set(turns.flatMap((turn) => turn.files.map((file) => file.path))).size,
    artifacts: handed.length,
    details: 0,
  };
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    if (!next) return;
    setTab(next);
    (event.currentTarget.children[tabs.indexOf(next)] as HTMLElement).focus();
  };
  return (
    <aside className="col insp" aria-label={t("inspector.label")} data-region="inspector">
      <div className="tb">
        <div className="tabs" role="tablist" aria-label={t("inspector.label")} onKeyDown={move}>
          {tabs.map((one) => (
            <button
              key={one}
              type="button"
              role="tab"
              id={`tab-${one}`}
              aria-selected={one === tab}
              aria-controls="inspected"
              tabIndex={one === tab ? 0 : -1}
              data-region-entry={one === tab || undefined}
              onClick={() => setTab(one)}
            >
              {t(`inspector.${one}`)}
              {counts[one] > 0 && <span className="n num">{counts[one]}</span>}
            </button>
          ))}
        </div>
        <span className="sp" />
        <IconButton
          icon="x"
          label={t("inspector.close")}
          command="view.inspector"
          onClick={() => useView.setState({ inspector: false })}
        />
      </div>
      <div className="body" id="inspected" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        <TimelineScope value={{ chat: id, agent, agentTitle: agent?.title ?? chat.agent, cwd: chat.cwd }}>
          {tab === "changes" && <Changes chat={chat} turns={turns} />}
          {tab === "artifacts" && <Artifacts chat={chat} />}
          {tab === "details" && <Details chat={chat} agent={agent} />}
        </TimelineScope>
      </div>
      <ResizeHandle which="inspector" />
    </aside>
  );
}

function Artifacts({ chat }: { chat: Chat }) {
  const { t } = useTranslation();
  const stretch = useLive((state) => state.timelines.get(chat.id));
  const handed = artifactsOf(stretch?.items ?? none);
  if (handed.length === 0)
    return <EmptyState title={t("inspector.noArtifacts")} text={t("inspector.noArtifactsText")} />;
  return (
    <>
      <div className="shot column">
        {handed.map(({ file }) =>
          file.type.startsWith("image/") ? (
            <ImageFigure key={file.id} image={file} />
          ) : (
            <FileRow key={file.id} file={file} />
          ),
        )}
      </div>
      {stretch?.hasBefore && <p className="t11 ter partly">{t("inspector.onlyShown")}</p>}
    </>
  );
}
