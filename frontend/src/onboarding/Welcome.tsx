import type { TFunction } from "i18next";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import "./onboarding.css";
import { AgentRow } from "../agents/AgentRow";
import { useKnownAgents, useLookAgain } from "../agents/look";
import { inOrder } from "../agents/ways";
import { useAgents, useSettings } from "../api/queries";
import type { Agent } from "../api/types";
import { isComposing } from "../app/keys";
import { runCommand } from "../app/registry";
import { openChat, openLayer, useView } from "../app/view";
import { Button } from "../ui/Button";
import { Brand } from "../ui/Icon";
import { Signal } from "../ui/Signal";
import { ErrorState } from "../ui/states";
import { finishFirstStart } from "./firstStart";

/** The first page: which agents there are, what they lack, and the first step. */
export function Welcome() {
  const { t } = useTranslation();
  const known = useKnownAgents();
  const { agents, looking } = known;
  const ready = agents.filter((agent) => agent.status === "ready" && !agent.demo).length;
  useEnter(() => (ready > 0 ? start() : demo()));
  return (
    <main className="ob" aria-label={t("onboarding.label")}>
      <CloseBar />
      <div className="in">
        <Brand />
        <h1>{looking ? t("onboarding.looking") : title(ready, t)}</h1>
        <p className="lead sec">{t("onboarding.text")}</p>
        {known.error ? (
          <ErrorState title={t("onboarding.failed")} detail={known.error.message} onRetry={known.retry} />
        ) : (
          <Rows agents={agents} looking={looking} all={known.all} />
        )}
        <Demo primary={!looking && ready === 0} />
        <Foot primary={looking || ready > 0} looking={looking} />
      </div>
    </main>
  );
}

function title(count: number, t: TFunction): string {
  const words = ["n0", "n1", "n2", "n3", "n4", "n5"] as const;
  return t(`onboarding.ready.${words[count] ?? "many"}`, { count });
}

const start = () => openLayer({ name: "newChat" });
const demo = () => {
  if (runCommand("chat.demo")) finishFirstStart();
};

/** Enter takes the first step, as long as nothing else has the focus. */
function useEnter(run: () => void): void {
  const current = useRef(run);
  useEffect(() => {
    current.current = run;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || event.target !== document.body || isComposing(event)) return;
      if (useView.getState().layers.length > 0) return;
      event.preventDefault();
      current.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

/** A way back, once there is something to go back to. */
function CloseBar() {
  const { t } = useTranslation();
  const { data } = useSettings();
  return (
    <div className="tb">
      <span className="sp" />
      {data?.onboarded && (
        <Button small look="quiet" hint="Escape" onClick={() => runCommand("layer.close")}>
          {t("common.close")}
        </Button>
      )}
    </div>
  );
}

/** Found agents stay where they first appeared; those not installed follow when all were looked at. */
function Rows({ agents, looking, all }: { agents: Agent[]; looking: boolean; all: number }) {
  const { t } = useTranslation();
  const arrived = useRef<string[]>([]);
  const rows = inOrder(agents.filter((agent) => !agent.demo && !(looking && agent.status === "missing")));
  if (looking) {
    for (const { name } of rows) if (!arrived.current.includes(name)) arrived.current.push(name);
  }
  const place = (agent: Agent) => {
    const at = arrived.current.indexOf(agent.name);
    return at < 0 ? arrived.current.length : at;
  };
  rows.sort((a, b) => place(a) - place(b));
  return (
    <>
      <div role="list" aria-label={t("onboarding.agents")}>
        {rows.map((agent) => (
          <AgentRow key={agent.name} agent={agent} />
        ))}
      </div>
      {looking && <Progress seen={agents.length} all={all} />}
    </>
  );
}

function Progress({ seen, all }: { seen: number; all: number }) {
  const { t } = useTranslation();
  return (
    <div className="looking" role="status">
      <Signal name="running" />
      <span className="t12 sec num">
        {all > 0 ? t("onboarding.lookedAt", { seen, all }) : t("onboarding.looking")}
      </span>
      {all > 0 && (
        <div className="bar" aria-hidden="true">
          <i style={{ width: `${(100 * seen) / all}%` }} />
        </div>
      )}
    </div>
  );
}

function Demo({ primary }: { primary: boolean }) {
  const { t } = useTranslation();
  const mark = useAgents().data?.find((agent) => agent.demo)?.mark ?? "DM";
  return (
    <div className="demo">
      <span className="ag big" aria-hidden="true">
        {mark}
      </span>
      <div>
        <div className="med">{t("onboarding.demo.title")}</div>
        <div className="t12 sec">{t("onboarding.demo.text")}</div>
      </div>
      <Button look={primary ? "primary" : "plain"} {...(primary ? { hint: "Enter" } : {})} onClick={demo}>
        {t("onboarding.demo.start")}
      </Button>
    </div>
  );
}

function Foot({ primary, looking }: { primary: boolean; looking: boolean }) {
  const { t } = useTranslation();
  const again = useLookAgain();
  const { data } = useSettings();
  const busy = looking || again.looking;
  return (
    <div className="row foot2">
      <Button
        large
        look={primary ? "primary" : "plain"}
        {...(primary ? { hint: "Enter" } : {})}
        onClick={start}
      >
        {t("onboarding.start")}
      </Button>
      {data?.onboarded === false && (
        <Button
          large
          look="quiet"
          onClick={() => {
            finishFirstStart();
            openChat(undefined);
          }}
        >
          {t("onboarding.skip")}
        </Button>
      )}
      <span className="sp" />
      <Button large look="quiet" off={busy ? t("onboarding.looking") : undefined} onClick={again.lookAgain}>
        {busy ? t("onboarding.lookingAgain") : t("onboarding.lookAgain")}
      </Button>
    </div>
  );
}
