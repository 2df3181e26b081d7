import { useTranslation } from "react-i18next";
import { useAgents } from "../api/queries";
import type { Agent, Chat, Permission } from "../api/types";
import { changeChat } from "../chats/actions";
import { Icon } from "../ui/Icon";
import { Menu, MenuChoices } from "../ui/Menu";
import { Tooltip } from "../ui/Tooltip";

const caret = <Icon name="down" className="car" />;

/** Agent, model, effort and permissions of the chat: what its agent declares, and nothing else. */
export function Choices({ chat, agent }: { chat: Chat; agent: Agent | undefined }) {
  return (
    <>
      <AgentChoice chat={chat} agent={agent} />
      {agent && <ModelChoice chat={chat} agent={agent} />}
      {agent && <EffortChoice chat={chat} agent={agent} />}
      {agent && <PermissionChoice chat={chat} agent={agent} />}
    </>
  );
}

function AgentChoice({ chat, agent }: { chat: Chat; agent: Agent | undefined }) {
  const { t } = useTranslation();
  const { data: agents } = useAgents();
  const face = (
    <>
      <span className="ag">{agent?.mark ?? chat.agent.slice(0, 2)}</span>
      <span className="only-wide">{agent?.title ?? chat.agent}</span>
    </>
  );
  if (chat.turn) {
    return (
      <Tooltip text={t("composer.agentFixed")}>
        <span
          className="chip"
          aria-label={`${t("composer.agent")}: ${agent?.title ?? chat.agent}`}
          role="img"
        >
          {face}
        </span>
      </Tooltip>
    );
  }
  return (
    <Menu
      side="top"
      trigger={
        <button
          type="button"
          className="chip"
          aria-label={`${t("composer.agent")}: ${agent?.title ?? chat.agent}`}
        >
          {face}
          {caret}
        </button>
      }
    >
      <MenuChoices
        label={t("composer.agent")}
        value={chat.agent}
        onChange={(next) => void changeChat(chat, { agent: next, model: "", effort: "" })}
        choices={(agents ?? []).map((one) => ({
          value: one.name,
          label: one.title,
          off:
            one.status === "missing" || one.status === "broken" || one.status === "too_old"
              ? one.message
              : undefined,
        }))}
      />
    </Menu>
  );
}

function ModelChoice({ chat, agent }: { chat: Chat; agent: Agent }) {
  const { t } = useTranslation();
  const { models } = agent;
  if (models.length === 0) return null;
  const value = chat.model ?? "";
  const known = models.find((model) => model.value === value);
  const off =
    !agent.capabilities.model_per_turn && chat.turn
      ? t("composer.modelFixed", { agent: agent.title })
      : undefined;
  // A model that is not in the list (any more) stays as it is called.
  const listed = known ? models : [{ value, label: value }, ...models];
  const change = (model: string) => {
    const efforts = models.find((one) => one.value === model)?.efforts ?? [];
    void changeChat(chat, {
      model,
      ...(chat.effort && !efforts.includes(chat.effort) ? { effort: "" } : {}),
    });
  };
  return (
    <Menu
      side="top"
      trigger={
        <button
          type="button"
          className="chip"
          aria-label={`${t("composer.model")}: ${known?.label ?? value}`}
        >
          <span className="ell">{(known?.label ?? value) || t("composer.modelDefault")}</span>
          {caret}
        </button>
      }
    >
      <MenuChoices
        label={t("composer.model")}
        value={value}
        onChange={change}
        choices={listed.map((model) => ({
          value: model.value,
          label: model.label || t("composer.modelDefault"),
          ...("note" in model && model.note ? { note: model.note } : {}),
          off: off ?? ("locked" in model ? model.locked : undefined),
        }))}
      />
    </Menu>
  );
}

function EffortChoice({ chat, agent }: { chat: Chat; agent: Agent }) {
  const { t } = useTranslation();
  const model = agent.models.find((one) => one.value === (chat.model ?? "")) ?? agent.models[0];
  const efforts = model?.efforts ?? [];
  if (efforts.length === 0) return null;
  const value = chat.effort ?? "";
  const off =
    !agent.capabilities.effort_per_turn && chat.turn
      ? t("composer.modelFixed", { agent: agent.title })
      : undefined;
  const name = (effort: string) =>
    effort ? effort[0]?.toUpperCase() + effort.slice(1) : t("composer.effortDefault");
  return (
    <Menu
      side="top"
      trigger={
        <button
          type="button"
          className="chip cq-s"
          aria-label={`${t("composer.effort")}: ${name(value || (model?.default_effort ?? ""))}`}
        >
          {name(value || (model?.default_effort ?? ""))}
          {caret}
        </button>
      }
    >
      <MenuChoices
        label={t("composer.effort")}
        value={value}
        onChange={(effort) => void changeChat(chat, { effort })}
        choices={["", ...efforts].map((effort) => ({ value: effort, label: name(effort), off }))}
      />
    </Menu>
  );
}

function PermissionChoice({ chat, agent }: { chat: Chat; agent: Agent }) {
  const { t } = useTranslation();
  const modes = agent.modes.filter((mode): mode is Permission => mode in names);
  if (modes.length === 0) return null;
  return (
    <Menu
      side="top"
      trigger={
        <button
          type="button"
          className={`chip cq-s ${chat.permissions === "full" ? "dan" : ""}`}
          aria-label={`${t("composer.permissions")}: ${t(`composer.permission.${chat.permissions}`)}`}
        >
          <Icon name="shield" />
          {t(`composer.permission.${chat.permissions}`)}
          {caret}
        </button>
      }
    >
      <MenuChoices
        label={t("composer.permissions")}
        value={chat.permissions}
        onChange={(permissions) => void changeChat(chat, { permissions })}
        choices={modes.map((mode) => ({
          value: mode,
          label: t(`composer.permission.${mode}`),
          note: t(`composer.permissionNote.${mode}`),
        }))}
      />
    </Menu>
  );
}

const names: Record<Permission, true> = { ask: true, "accept-edits": true, plan: true, full: true };
