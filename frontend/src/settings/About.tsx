import { useTranslation } from "react-i18next";
import { useHealth } from "../api/queries";
import type { Health } from "../api/types";
import { platform } from "../app/platform";
import { clock, longDay } from "../i18n/format";
import { Button } from "../ui/Button";
import { CopyButton, copyText } from "../ui/copy";
import { Brand } from "../ui/Icon";
import { ErrorState, LoadingState } from "../ui/states";
import { SettingRow } from "./rows";

export function About() {
  const { t } = useTranslation();
  const health = useHealth();
  if (health.isError) {
    return (
      <ErrorState
        title={t("states.failed")}
        detail={health.error.message}
        onRetry={() => void health.refetch()}
      />
    );
  }
  if (!health.data) return <LoadingState what={t("settings.loading")} />;
  const { version, os, arch, state, pid, started_at } = health.data;
  const since = `${longDay(started_at)}, ${clock(started_at)}`;
  return (
    <>
      <div className="brand">
        <Brand />
        <span className="t20 semi">Berth</span>
      </div>
      <SettingRow
        id="version"
        below={<span className="d num">{t("settings.about.running", { time: since, pid })}</span>}
      >
        <span className="mono t12">
          {version}, {os}/{arch}
        </span>
      </SettingRow>
      <SettingRow id="state" below={<PathLine path={state} />} />
      <SettingRow id="telemetry" />
      <SettingRow id="report">
        <Button onClick={() => void copyText(details(health.data))}>{t("settings.about.details")}</Button>
      </SettingRow>
    </>
  );
}

/** A path of this machine, to be taken elsewhere. */
export function PathLine({ path }: { path: string }) {
  const { t } = useTranslation();
  return (
    <span className="row mono t12 path">
      <span className="grow">{path}</span>
      <CopyButton text={() => path} label={t("settings.copyPath")} />
    </span>
  );
}

/** What a report of a fault needs; nothing of the user's own. */
export function details({ version, os, arch, started_at }: Health): string {
  return [
    `Berth ${version}, ${os}/${arch}`,
    `${platform.native ? "window" : "browser"}: ${navigator.userAgent}`,
    `${window.innerWidth}x${window.innerHeight}, started ${started_at}`,
  ].join("\n");
}
