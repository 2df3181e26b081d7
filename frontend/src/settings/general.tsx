import { useState } from "react";
import { useTranslation } from "react-i18next";
import { PermissionSelect } from "../agents/Choices";
import type { Permission, Settings } from "../api/types";
import { platform } from "../app/platform";
import { show } from "../app/view";
import { languages } from "../i18n";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { SelectRow, SettingRow, SwitchRow } from "./rows";
import { useChange } from "./useChange";

type Props = { settings: Settings };

export function General({ settings }: Props) {
  const { t } = useTranslation();
  return (
    <>
      <SelectRow
        id="language"
        settings={settings}
        values={["auto", ...languages]}
        labels={{
          auto: t("settings.language.auto"),
          en: t("settings.language.en"),
          "zh-CN": t("settings.language.zh-CN"),
        }}
      />
      <SettingRow id="first_page">
        <Button onClick={() => show({ name: "welcome" })}>{t("settings.open")}</Button>
      </SettingRow>
      <IdleRow settings={settings} />
      <SwitchRow id="keep_raw" settings={settings} />
      {platform.native && <SwitchRow id="gpu" settings={settings} />}
    </>
  );
}

/** Minutes, taken when the field is left or Enter is pressed. */
function IdleRow({ settings }: Props) {
  const { t } = useTranslation();
  const { change, error } = useChange();
  const [typed, setTyped] = useState<string>();
  const commit = () => {
    if (typed === undefined) return;
    void change({ idle_minutes: Number(typed) }).then((taken) => taken && setTyped(undefined));
  };
  return (
    <SettingRow id="idle_minutes" error={error}>
      <input
        className="inp num short"
        inputMode="numeric"
        aria-label={t("settings.row.idle_minutes.label")}
        aria-invalid={error ? true : undefined}
        value={typed ?? settings.idle_minutes}
        onChange={(event) => setTyped(event.currentTarget.value.replace(/\D/g, ""))}
        onBlur={commit}
        onKeyDown={(event) => event.key === "Enter" && commit()}
      />
      <span className="t12 sec">{t("settings.minutes")}</span>
    </SettingRow>
  );
}

const modes: readonly Permission[] = ["ask", "accept-edits", "plan", "full"];

export function Permissions({ settings }: Props) {
  const { t } = useTranslation();
  const { change, error } = useChange();
  return (
    <>
      <SettingRow id="default_permissions" error={error}>
        <PermissionSelect
          hideLabel
          value={settings.default_permissions}
          onChange={(next) => void change({ default_permissions: next })}
        />
      </SettingRow>
      <dl className="modes">
        {modes.map((mode) => (
          <div key={mode}>
            <dt className={mode === "full" ? "med dan" : "med"}>{t(`agents.permission.${mode}`)}</dt>
            <dd className="sec">{t(`agents.permissionNote.${mode}`)}</dd>
          </div>
        ))}
      </dl>
      <p className="t12 sec row hint">
        <Icon name="shield" />
        {t("settings.sandbox")}
      </p>
    </>
  );
}

export function Notifications({ settings }: Props) {
  const { t } = useTranslation();
  return (
    <>
      <SelectRow
        id="notify"
        settings={settings}
        values={["all", "needs_you", "off"]}
        labels={{
          all: t("settings.notify.all"),
          needs_you: t("settings.notify.needs_you"),
          off: t("settings.notify.off"),
        }}
      />
      <SwitchRow id="notify_text" settings={settings} />
    </>
  );
}
