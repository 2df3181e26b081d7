import { useState } from "react";
import { useTranslation } from "react-i18next";
import { EffortSelect, ModelSelect } from "../agents/Choices";
import { checkAgent } from "../agents/look";
import type { Agent, Permission, Settings } from "../api/types";
import { effortsOf } from "../newchat/remembered";
import { Field } from "../ui/Field";
import { Select } from "../ui/Select";
import { Switch } from "../ui/Switch";
import { useChange } from "./useChange";

type AgentSettings = Settings["agents"][string];

/** How Berth starts an agent, and what its new chats begin with. Each field is saved when it is left. */
export function AgentForm({ agent, held }: { agent: Agent; held: AgentSettings }) {
  const { t } = useTranslation();
  const { change, error, field } = useChange();
  const [saved, setSaved] = useState(false);
  const save = async (next: Partial<AgentSettings>, look = false) => {
    setSaved(false);
    const taken = await change({ agents: { [agent.name]: { ...held, ...next } } });
    setSaved(taken);
    if (taken && look) void checkAgent(agent.name);
    return taken;
  };
  const errorAt = (part: string) => (field?.includes(`.${part}`) ? error : undefined);
  const shown = errorAt("executable") ?? errorAt("env");
  return (
    <div className="agent-form">
      {!agent.demo && (
        <>
          <TextField
            label={t("settings.agent.executable")}
            value={held.executable ?? ""}
            note={t("settings.agent.executableNote", {
              found: agent.executable ?? t("settings.agent.notFound"),
            })}
            error={errorAt("executable")}
            onSave={(executable) => save({ executable }, true)}
          />
          <EnvField value={held.env ?? []} error={errorAt("env")} onSave={(env) => save({ env }, true)} />
        </>
      )}
      <div className="three">
        <ModelSelect
          label={t("settings.agent.model")}
          agent={agent}
          value={held.model ?? ""}
          onChange={(model) =>
            void save({
              model,
              ...(effortsOf(agent, model).includes(held.effort ?? "") ? {} : { effort: "" }),
            })
          }
        />
        <EffortSelect
          label={t("settings.agent.effort")}
          efforts={effortsOf(agent, held.model ?? "")}
          value={held.effort ?? ""}
          onChange={(effort) => void save({ effort })}
        />
        <PermissionOr agent={agent} held={held} onChange={(permissions) => void save({ permissions })} />
      </div>
      <div className="row line">
        <Switch
          label={t("settings.agent.hidden")}
          checked={!held.hidden}
          onChange={(offered) => void save({ hidden: !offered })}
        />
        <span aria-hidden="true">{t("settings.agent.hidden")}</span>
        <span className="sp" />
        {error && !shown && (
          <span className="t12 dan" role="alert">
            {error}
          </span>
        )}
        {saved && (
          <span className="t11 ter" role="status">
            {t("settings.agent.saved")}. {t("settings.agent.applies")}
          </span>
        )}
      </div>
    </div>
  );
}

/** A mode of its own, or that of all agents. */
function PermissionOr(props: {
  agent: Agent;
  held: AgentSettings;
  onChange: (permissions: Permission | undefined) => void;
}) {
  const { t } = useTranslation();
  const { agent, held } = props;
  const modes = (["ask", "accept-edits", "plan", "full"] as const).filter((mode) =>
    agent.modes.includes(mode),
  );
  return (
    <Select<Permission | "">
      label={t("settings.agent.permissions")}
      value={held.permissions ?? ""}
      danger={held.permissions === "full"}
      choices={[
        { value: "", label: t("settings.agent.asAll") },
        ...modes.map((mode) => ({
          value: mode,
          label: t(`agents.permission.${mode}`),
          note: t(`agents.permissionNote.${mode}`),
        })),
      ]}
      onChange={(next) => props.onChange(next === "" ? undefined : next)}
    />
  );
}

function TextField(props: {
  label: string;
  value: string;
  note: string;
  error: string | undefined;
  onSave: (value: string) => Promise<boolean>;
}) {
  const [typed, setTyped] = useState<string>();
  const commit = () => {
    if (typed === undefined || typed.trim() === props.value) return setTyped(undefined);
    void props.onSave(typed.trim()).then((taken) => taken && setTyped(undefined));
  };
  return (
    <Field
      label={props.label}
      className="mono"
      value={typed ?? props.value}
      spellCheck={false}
      autoComplete="off"
      note={props.note}
      error={props.error}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => event.key === "Enter" && commit()}
    />
  );
}

function EnvField(props: {
  value: string[];
  error: string | undefined;
  onSave: (env: string[]) => Promise<boolean>;
}) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState<string>();
  const text = typed ?? props.value.join("\n");
  const commit = () => {
    if (typed === undefined) return;
    const env = typed.split("\n").filter((line) => line.trim() !== "");
    void props.onSave(env).then((taken) => taken && setTyped(undefined));
  };
  return (
    <label className="field">
      <span className="med">{t("settings.agent.env")}</span>
      <textarea
        className="inp mono t12"
        rows={Math.min(8, Math.max(2, text.split("\n").length))}
        spellCheck={false}
        aria-invalid={props.error ? true : undefined}
        value={text}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onBlur={commit}
      />
      <span className={`t11 ${props.error ? "dan" : "ter"}`} role={props.error ? "alert" : undefined}>
        {props.error ?? t("settings.agent.envNote")}
      </span>
    </label>
  );
}
