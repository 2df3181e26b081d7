import { memo } from "react";
import { useTranslation } from "react-i18next";
import type { Item } from "../api/types";
import { openLayer, show } from "../app/view";
import { useLive } from "../stream/store";
import { Button } from "../ui/Button";
import { Signal } from "../ui/Signal";
import { sendAgain } from "../composer/again";
import { useTimelineScope } from "./context";

/** A fact between the entries, in one line. */
export const Mark = memo(function Mark({ item }: { item: Item }) {
  const { t } = useTranslation();
  const { agentTitle } = useTimelineScope();
  const code = item.body.notice?.code;
  const text = item.body.text ?? item.summary;
  switch (code) {
    case "stopped":
      return (
        <Fact
          signal="stopped"
          text={text === "The agent stopped." ? t("timeline.stoppedByAgent") : t("timeline.stoppedByYou")}
        />
      );
    case "interrupted":
      return <Fact signal="interrupted" text={t("timeline.interrupted")} />;
    case "delivery_unknown":
      return (
        <Fact
          signal="uncertain"
          text={t("timeline.deliveryUnknown", { agent: agentTitle })}
          detail={item.body.notice?.detail}
        />
      );
    default:
      return <div className="mark">{text || t("timeline.compacted")}</div>;
  }
});

function Fact({
  signal,
  text,
  detail,
}: {
  signal: "stopped" | "interrupted" | "uncertain";
  text: string;
  detail?: string | undefined;
}) {
  return (
    <div className="fact">
      <Signal name={signal} />
      <span>
        {text}
        {detail && <span className="mono t12 ter"> {detail}</span>}
      </span>
    </div>
  );
}

/** Information an agent gives in passing. */
export const Notice = memo(function Notice({ item }: { item: Item }) {
  const { notice, text } = item.body;
  return (
    <div className="fact">
      <Signal name={notice?.level === "warning" ? "uncertain" : "idle"} />
      <span>
        {text || item.summary}
        {notice?.detail && <span className="mono t12 ter"> {notice.detail}</span>}
      </span>
    </div>
  );
});

/** Every failure is a card: what happened, the machine's own last line, and the way on. */
export const ErrorCard = memo(function ErrorCard({ item }: { item: Item }) {
  const { text } = item.body;
  const { notice } = item.body;
  return (
    <div className="err" role="group">
      <div className="x">
        <Signal name="failed" />
        <span className="med dan">{text || item.summary}</span>
        <span className="sp" />
        <WayOn item={item} />
      </div>
      {notice?.detail && <div className="mono t12 sec last">{notice.detail}</div>}
    </div>
  );
});

function WayOn({ item }: { item: Item }) {
  const { t } = useTranslation();
  const { agent, agentTitle } = useTimelineScope();
  const chat = useLive((state) => state.chats.get(item.chat));
  const last = chat?.turn?.id === item.turn;
  const terminal = (argv: string[] | undefined, title: string) =>
    argv &&
    argv.length > 0 &&
    agent &&
    openLayer({ name: "terminal", job: { title, agent: agent.name, argv } });
  switch (item.body.notice?.action) {
    case "sign_in":
      return (
        <>
          {agent?.login && (
            <Button small onClick={() => terminal(agent.login, `${agentTitle}: ${t("timeline.signIn")}`)}>
              {t("timeline.signIn")}
            </Button>
          )}
          {last && <Again item={item} />}
        </>
      );
    case "install":
      return agent?.install ? (
        <Button small onClick={() => terminal(agent.install, `${agentTitle}: ${t("timeline.install")}`)}>
          {t("timeline.install")}
        </Button>
      ) : null;
    case "open_settings":
      return (
        <Button small onClick={() => show({ name: "settings", page: "agents" })}>
          {t("timeline.settings")}
        </Button>
      );
    case "choose_folder":
      return (
        <Button small onClick={() => openLayer({ name: "newChat", ...(chat ? { agent: chat.agent } : {}) })}>
          {t("timeline.newChatThere")}
        </Button>
      );
    default:
      return last ? <Again item={item} /> : null;
  }
}

/** Sends the turn's message once more, as a new turn: the user decides, Berth never does. */
function Again({ item }: { item: Item }) {
  const { t } = useTranslation();
  return (
    <Button
      small
      look={item.body.notice?.action === "sign_in" ? "quiet" : "plain"}
      onClick={() => void sendAgain(item.chat, item.turn ?? "")}
    >
      {t("timeline.sendAgain")}
    </Button>
  );
}
