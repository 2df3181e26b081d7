import type { TFunction } from "i18next";
import { useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import "./agents.css";
import type { Agent } from "../api/types";
import { openLayer } from "../app/view";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/copy";
import { Signal } from "../ui/Signal";
import { ExecutableDialog } from "./ExecutableDialog";
import { useCheck } from "./look";
import { namedModels, wayOut } from "./ways";

const tags: Partial<Record<Agent["status"], string>> = { signed_out: "att", too_old: "att", broken: "dan" };

/** One agent as installed, what is wrong with it, and the way out. */
export function AgentRow({ agent, more }: { agent: Agent; more?: ReactNode }) {
  const { t } = useTranslation();
  const { checking, check } = useCheck(agent.name);
  const detail = agent.status === "broken" || agent.status === "unknown" ? agent.detail : undefined;
  return (
    <div className={`ag2 ${agent.status === "missing" ? "off" : ""}`} role="listitem">
      <span className="ag big" aria-hidden="true">
        {agent.mark}
      </span>
      <div>
        <div className="l1">
          <span className="med nm">{agent.title}</span>
          <Version agent={agent} />
          {agent.demo && <span className="tag">{t("agents.demo")}</span>}
          {agent.status !== "ready" && (
            <span className={`tag ${tags[agent.status] ?? ""}`}>{t(`agents.status.${agent.status}`)}</span>
          )}
        </div>
        <div className="l2" title={agent.executable}>
          {lineOf(agent, t)}
        </div>
      </div>
      <div className="row acts2">
        <Actions agent={agent} checking={checking} check={check} />
        {more}
      </div>
      {detail && (
        <div className="last" role="group" aria-label={t("agents.lastLine")}>
          <span className="grow">{detail}</span>
          <CopyButton text={() => detail} label={t("agents.copyLine")} />
        </div>
      )}
    </div>
  );
}

function Version({ agent }: { agent: Agent }) {
  const { t } = useTranslation();
  if (agent.version) return <span className="t12 ter num">{agent.version}</span>;
  if (agent.status === "missing") return null;
  return <span className="t12 ter">{t("agents.versionUnknown")}</span>;
}

/** What is known of it, in a sentence. Its own words stand where we have none. */
function lineOf(agent: Agent, t: TFunction): string {
  const count = namedModels(agent);
  switch (agent.status) {
    case "ready":
      if (agent.account) return t("agents.signedInText", { account: agent.account, count });
      if (agent.demo && agent.message) return agent.message;
      return count > 0 ? t("agents.readyText", { count }) : t("agents.readyPlain");
    case "missing":
      return t("agents.missingText");
    case "signed_out":
      return t("agents.signedOutText");
    case "unknown":
      return agent.message ?? t("agents.unknownText");
    default:
      return agent.message ?? "";
  }
}

function Actions({ agent, checking, check }: { agent: Agent; checking: boolean; check: () => void }) {
  const { t } = useTranslation();
  const [choosing, setChoosing] = useState(false);
  const way = wayOut(agent);
  if (agent.status === "ready" && !checking) {
    return (
      <span className="st3 suc">
        <Signal name="done" />
        {t("agents.status.ready")}
      </span>
    );
  }
  const words = { install: t("agents.install"), login: t("agents.signIn"), update: t("agents.update") };
  return (
    <>
      {agent.status === "missing" && (
        <Button look="quiet" onClick={() => setChoosing(true)}>
          {t("agents.chooseFile")}
        </Button>
      )}
      {!way && (
        <Button off={checking ? t("common.busy") : undefined} onClick={check}>
          {checking ? t("agents.checking") : t("agents.checkAgain")}
        </Button>
      )}
      {way && (
        <Button
          onClick={() =>
            openLayer({
              name: "terminal",
              job: {
                title: t(`agents.title.${way.kind}`, { agent: agent.title }),
                agent: agent.name,
                argv: way.argv,
              },
            })
          }
        >
          {words[way.kind]}
        </Button>
      )}
      {choosing && <ExecutableDialog agent={agent} onClose={() => setChoosing(false)} />}
    </>
  );
}
