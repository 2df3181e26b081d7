import { useState } from "react";
import { useTranslation } from "react-i18next";
import { AgentRow } from "../agents/AgentRow";
import { useKnownAgents, useLookAgain } from "../agents/look";
import { inOrder } from "../agents/ways";
import { useHealth } from "../api/queries";
import type { Agent, Settings } from "../api/types";
import { Button, IconButton } from "../ui/Button";
import { Select } from "../ui/Select";
import { Signal } from "../ui/Signal";
import { ErrorState } from "../ui/states";
import { PathLine } from "./About";
import { AgentForm } from "./AgentForm";
import { SettingRow } from "./rows";
import { useChange } from "./useChange";

export function AgentsPage({ settings }: { settings: Settings }) {
  const { t } = useTranslation();
  const known = useKnownAgents();
  const again = useLookAgain();
  const health = useHealth().data;
  const busy = known.looking || again.looking;
  if (known.error) {
    return <ErrorState title={t("onboarding.failed")} detail={known.error.message} onRetry={known.retry} />;
  }
  return (
    <>
      <DefaultAgent settings={settings} agents={known.agents} />
      <div className="row headline">
        <h2>{t("onboarding.agents")}</h2>
        {known.looking && (
          <span className="t12 sec row" role="status">
            <Signal name="running" />
            {t("onboarding.looking")}
          </span>
        )}
        <span className="sp" />
        <Button small look="quiet" off={busy ? t("onboarding.looking") : undefined} onClick={again.lookAgain}>
          {busy ? t("onboarding.lookingAgain") : t("onboarding.lookAgain")}
        </Button>
      </div>
      <div role="list" aria-label={t("onboarding.agents")}>
        {inOrder(known.agents).map((agent) => (
          <Row key={agent.name} agent={agent} settings={settings} />
        ))}
      </div>
      {health && (
        <SettingRow
          id="agents_file"
          below={<PathLine path={`${health.state}${health.os === "windows" ? "\\" : "/"}agents.json`} />}
        />
      )}
    </>
  );
}

function DefaultAgent({ settings, agents }: { settings: Settings; agents: Agent[] }) {
  const { t } = useTranslation();
  const { change, error } = useChange();
  const listed = inOrder(agents).map((agent) => ({ value: agent.name, label: agent.title }));
  const missing = settings.default_agent && !listed.some((one) => one.value === settings.default_agent);
  return (
    <SettingRow id="default_agent" error={error}>
      <Select
        hideLabel
        label={t("settings.row.default_agent.label")}
        value={settings.default_agent}
        choices={[
          { value: "", label: t("settings.usedLast") },
          ...listed,
          ...(missing ? [{ value: settings.default_agent, label: settings.default_agent }] : []),
        ]}
        onChange={(default_agent) => void change({ default_agent })}
      />
    </SettingRow>
  );
}

function Row({ agent, settings }: { agent: Agent; settings: Settings }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <AgentRow
        agent={agent}
        more={
          <IconButton
            icon={open ? "down" : "chev"}
            label={t("settings.agent.more", { agent: agent.title })}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          />
        }
      />
      {open && <AgentForm agent={agent} held={settings.agents[agent.name] ?? {}} />}
    </>
  );
}
