import { useTranslation } from "react-i18next";
import type { Settings } from "../api/types";
import { textSizes } from "../app/appearance";
import { percent } from "../i18n/format";
import { Button } from "../ui/Button";
import { Signal } from "../ui/Signal";
import { SegmentedRow, SettingRow } from "./rows";
import { useChange } from "./useChange";

export function Appearance({ settings }: { settings: Settings }) {
  const { t } = useTranslation();
  return (
    <>
      <SegmentedRow
        id="theme"
        settings={settings}
        values={["system", "light", "dark"]}
        labels={{
          system: t("settings.theme.system"),
          light: t("settings.theme.light"),
          dark: t("settings.theme.dark"),
        }}
      />
      <SegmentedRow
        id="contrast"
        settings={settings}
        values={["system", "normal", "more"]}
        labels={{
          system: t("settings.contrast.system"),
          normal: t("settings.contrast.normal"),
          more: t("settings.contrast.more"),
        }}
      />
      <SegmentedRow
        id="density"
        settings={settings}
        values={["auto", "regular", "compact", "touch"]}
        labels={{
          auto: t("settings.density.auto"),
          regular: t("settings.density.regular"),
          compact: t("settings.density.compact"),
          touch: t("settings.density.touch"),
        }}
      />
      <TextSizeRow settings={settings} />
      <Preview />
    </>
  );
}

function TextSizeRow({ settings }: { settings: Settings }) {
  const { t } = useTranslation();
  const { change, error } = useChange();
  const size = settings.text_size;
  const smaller = textSizes.findLast((one) => one < size);
  const larger = textSizes.find((one) => one > size);
  const set = (next: number | undefined) => next !== undefined && void change({ text_size: next });
  return (
    <SettingRow id="text_size" error={error}>
      <Button
        small
        command="view.smaller"
        off={smaller === undefined ? t("settings.smallest") : undefined}
        onClick={() => set(smaller)}
      >
        {t("settings.smaller")}
      </Button>
      <output className="num size">{percent(size / 100)}</output>
      <Button
        small
        command="view.larger"
        off={larger === undefined ? t("settings.largest") : undefined}
        onClick={() => set(larger)}
      >
        {t("settings.larger")}
      </Button>
    </SettingRow>
  );
}

/** Rows and text as they are drawn elsewhere, so that a choice can be judged here. */
function Preview() {
  const { t } = useTranslation();
  return (
    <figure className="preview" aria-label={t("settings.preview.label")}>
      <div className="side" aria-hidden="true">
        <Sample
          signal="approval"
          title={t("settings.preview.chat")}
          line={t("settings.preview.line")}
          time="4:32"
        />
        <Sample
          signal="unseen"
          title={t("settings.preview.quiet")}
          line={t("settings.preview.quietLine")}
          time="09:41"
        />
      </div>
      <div className="talk" aria-hidden="true">
        <p className="t14">{t("settings.preview.answer")}</p>
        <p className="code">go test ./client -race</p>
      </div>
    </figure>
  );
}

function Sample(props: { signal: "approval" | "unseen"; title: string; line: string; time: string }) {
  return (
    <div className={`chat ${props.signal === "unseen" ? "new" : ""}`}>
      <Signal name={props.signal} />
      <span className="ti ell">{props.title}</span>
      <span className="tm">{props.time}</span>
      <span className="sub">
        <span className="ell">{props.line}</span>
      </span>
    </div>
  );
}
