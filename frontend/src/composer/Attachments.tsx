import { useTranslation } from "react-i18next";
import { bytes, percent } from "../i18n/format";
import { IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Signal } from "../ui/Signal";
import { draftOf, dropUpload, setDraft, type DraftState } from "./drafts";

/** Files of the draft, and those on their way to it. */
export function Attachments({ chat, draft }: { chat: string; draft: DraftState }) {
  const { t } = useTranslation();
  if (draft.attachments.length + draft.uploads.length === 0) return null;
  const remove = (file: string) =>
    setDraft(chat, { attachments: draftOf(chat).attachments.filter((one) => one.file !== file) });
  return (
    <div className="attached">
      {draft.attachments.map((file) => (
        <span key={file.file} className="att-chip">
          <Icon name={file.type.startsWith("image/") ? "image" : "file"} />
          <span className="ell">{file.name}</span>
          <span className="ter num">{bytes(file.size)}</span>
          <IconButton
            small
            icon="x"
            label={t("composer.remove", { name: file.name })}
            onClick={() => remove(file.file)}
          />
        </span>
      ))}
      {draft.uploads.map((one) => (
        <span key={one.key} className="att-chip" title={one.error}>
          {one.error ? <Signal name="failed" /> : <Signal name="running" />}
          <span className="ell">
            {one.error ? t("composer.uploadFailed", { name: one.name, error: one.error }) : one.name}
          </span>
          {!one.error && <span className="ter num">{percent(one.size ? one.sent / one.size : 0)}</span>}
          <IconButton
            small
            icon="x"
            label={t("composer.remove", { name: one.name })}
            onClick={() => dropUpload(chat, one.key)}
          />
        </span>
      ))}
    </div>
  );
}
