import type { KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import { canBegin } from "../agents/ways";
import type { Agent } from "../api/types";
import { closeLayer, show } from "../app/view";
import { Icon } from "../ui/Icon";
import { Signal } from "../ui/Signal";

type Props = {
  agents: readonly Agent[];
  /** More may come. */
  looking: boolean;
  value: string | undefined;
  onChange: (name: string) => void;
};

/** The agents a chat can be begun with: one tab stop, arrows inside. Those that cannot are counted, with the way to set them up. */
export function AgentList({ agents, looking, value, onChange }: Props) {
  const { t } = useTranslation();
  const offered = agents.filter(canBegin);
  const rest = agents.length - offered.length;
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = offered.findIndex((agent) => agent.name === value);
    const next = offered[(at + step + offered.length) % offered.length];
    if (!next) return;
    onChange(next.name);
    event.currentTarget.querySelector<HTMLElement>(`[data-agent="${next.name}"]`)?.focus();
  };
  return (
    <div className="field">
      <span className="med" aria-hidden="true">
        {t("newchat.agent")}
      </span>
      <div role="radiogroup" aria-label={t("newchat.agent")} className="agent-list" onKeyDown={onKeyDown}>
        {offered.map((agent) => (
          <AgentOption
            key={agent.name}
            agent={agent}
            chosen={agent.name === value}
            entry={agent.name === (value ?? offered[0]?.name)}
            onChoose={() => onChange(agent.name)}
          />
        ))}
      </div>
      {looking && (
        <span className="row t12 sec" style={{ gap: 8 }} role="status">
          <Signal name="running" />
          {t("onboarding.looking")}
        </span>
      )}
      {agents.length === 0 && !looking && <span className="t12 ter">{t("newchat.noAgents")}</span>}
      {rest > 0 && !looking && (
        <span className="t11 ter">
          {t("newchat.unavailable", { count: rest })}{" "}
          <button
            type="button"
            className="acc"
            onClick={() => {
              closeLayer("newChat");
              show({ name: "settings", page: "agents" });
            }}
          >
            {t("newchat.setUp")}
          </button>
        </span>
      )}
    </div>
  );
}

function AgentOption(props: { agent: Agent; chosen: boolean; entry: boolean; onChoose: () => void }) {
  const { t } = useTranslation();
  const { agent, chosen } = props;
  return (
    <button
      type="button"
      role="radio"
      aria-checked={chosen}
      tabIndex={props.entry ? 0 : -1}
      data-agent={agent.name}
      className="agent-opt"
      onClick={props.onChoose}
    >
      <span className="ag" aria-hidden="true">
        {agent.mark}
      </span>
      <span className="ell med">{agent.title}</span>
      <span className="t11 ter num ell">{agent.version}</span>
      {agent.demo && <span className="tag">{t("agents.demo")}</span>}
      {agent.status !== "ready" && (
        <span className={`tag ${agent.status === "signed_out" ? "att" : ""}`}>
          {t(`agents.status.${agent.status}`)}
        </span>
      )}
      <span className="sp" />
      {chosen && <Icon name="check" className="acc" />}
    </button>
  );
}
