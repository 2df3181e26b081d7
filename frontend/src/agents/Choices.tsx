import { useTranslation } from "react-i18next";
import type { Agent, Permission } from "../api/types";
import { Select } from "../ui/Select";

/** Model, effort and permissions as an agent declares them, for forms. What it does not declare is not offered. */
export function ModelSelect(props: {
  agent: Agent;
  value: string;
  onChange: (model: string) => void;
  label?: string;
}) {
  const { t } = useTranslation();
  const { agent, value, onChange } = props;
  if (agent.models.length === 0) return null;
  const listed = agent.models.some((model) => model.value === value)
    ? agent.models
    : // A model that is not in the list (any more) stays as it is called.
      [{ value, label: value }, ...agent.models];
  return (
    <Select
      label={props.label ?? t("agents.model")}
      value={value}
      onChange={onChange}
      choices={listed.map((model) => ({
        value: model.value,
        label: model.label || t("agents.modelDefault"),
        note: "note" in model ? model.note : undefined,
        off: "locked" in model ? model.locked : undefined,
      }))}
    />
  );
}

export function EffortSelect(props: {
  efforts: string[];
  value: string;
  onChange: (effort: string) => void;
  label?: string;
}) {
  const { t } = useTranslation();
  const { efforts, value, onChange } = props;
  if (efforts.length === 0) return null;
  return (
    <Select
      label={props.label ?? t("agents.effort")}
      value={value}
      onChange={onChange}
      choices={["", ...efforts].map((effort) => ({
        value: effort,
        label: effort ? effortName(effort) : t("agents.effortDefault"),
      }))}
    />
  );
}

/** Agents name efforts in small letters: low, high. */
export const effortName = (effort: string) => effort.charAt(0).toUpperCase() + effort.slice(1);

const permissions: readonly Permission[] = ["ask", "accept-edits", "plan", "full"];

export function PermissionSelect(props: {
  /** The modes that can be chosen; by default all. */
  modes?: readonly string[];
  value: Permission;
  onChange: (permissions: Permission) => void;
  hideLabel?: boolean;
}) {
  const { t } = useTranslation();
  const { modes = permissions, value, onChange } = props;
  return (
    <Select
      label={t("agents.permissions")}
      hideLabel={props.hideLabel ?? false}
      danger={value === "full"}
      value={value}
      onChange={onChange}
      choices={permissions
        .filter((mode) => modes.includes(mode))
        .map((mode) => ({
          value: mode,
          label: t(`agents.permission.${mode}`),
          note: t(`agents.permissionNote.${mode}`),
        }))}
    />
  );
}
