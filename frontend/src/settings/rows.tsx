import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Settings } from "../api/types";
import { SegmentedControl } from "../ui/SegmentedControl";
import { Select } from "../ui/Select";
import { Switch } from "../ui/Switch";
import type { RowId } from "./pages";
import { useChange } from "./useChange";

/** A setting: its name, its control, what it means, and what was refused. */
export function SettingRow(props: {
  id: RowId;
  error?: string | undefined;
  children?: ReactNode;
  /** Stands below the words, over the whole width. */
  below?: ReactNode;
}) {
  const { t } = useTranslation();
  const note = t(`settings.row.${props.id}.note`);
  return (
    <div className="f" id={`set-${props.id}`} tabIndex={-1}>
      <span className="med">{t(`settings.row.${props.id}.label`)}</span>
      <div className="ctl">{props.children}</div>
      {note && <span className="d">{note}</span>}
      {props.error && (
        <span className="t12 dan err" role="alert">
          {props.error}
        </span>
      )}
      {props.below}
    </div>
  );
}

type BooleanKey = { [K in keyof Settings]: Settings[K] extends boolean ? K : never }[keyof Settings] & RowId;

export function SwitchRow({ id, settings }: { id: BooleanKey; settings: Settings }) {
  const { t } = useTranslation();
  const { change, error } = useChange();
  return (
    <SettingRow id={id} error={error}>
      <Switch
        label={t(`settings.row.${id}.label`)}
        checked={settings[id]}
        onChange={(on) => void change({ [id]: on })}
      />
    </SettingRow>
  );
}

type ChoiceKey = "theme" | "contrast" | "density" | "language" | "notify";

type ChoiceProps<K extends ChoiceKey> = {
  id: K;
  settings: Settings;
  values: readonly Settings[K][];
  labels: Record<Settings[K], string>;
};

/** A few choices side by side. */
export function SegmentedRow<K extends ChoiceKey>({ id, settings, values, labels }: ChoiceProps<K>) {
  const { t } = useTranslation();
  const { change, error } = useChange();
  return (
    <SettingRow id={id} error={error}>
      <SegmentedControl<Settings[K]>
        label={t(`settings.row.${id}.label`)}
        value={settings[id]}
        choices={values.map((value) => ({ value, label: labels[value] }))}
        onChange={(value) => void change({ [id]: value })}
      />
    </SettingRow>
  );
}

/** Choices with longer names. */
export function SelectRow<K extends ChoiceKey>({ id, settings, values, labels }: ChoiceProps<K>) {
  const { t } = useTranslation();
  const { change, error } = useChange();
  return (
    <SettingRow id={id} error={error}>
      <Select<Settings[K]>
        hideLabel
        label={t(`settings.row.${id}.label`)}
        value={settings[id]}
        choices={values.map((value) => ({ value, label: labels[value] }))}
        onChange={(value) => void change({ [id]: value })}
      />
    </SettingRow>
  );
}
