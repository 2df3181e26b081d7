import { useState, type FormEvent } from "react";
import { useTranslation } from "react-i18next";
import { changeSettings, useSettings } from "../api/queries";
import type { Agent } from "../api/types";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { checkAgent } from "./look";

/** Asks for the file of an agent that was not found, and looks at it. */
export function ExecutableDialog({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const { t } = useTranslation();
  const { data } = useSettings();
  const held = data?.agents[agent.name];
  const [path, setPath] = useState(held?.executable ?? "");
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);

  const save = async (executable: string) => {
    setBusy(true);
    try {
      await changeSettings({ agents: { [agent.name]: { ...held, executable } } });
    } catch (refused) {
      setError(refused instanceof Error ? refused.message : String(refused));
      setBusy(false);
      return;
    }
    await checkAgent(agent.name);
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (path.trim() && !busy) void save(path.trim());
  };

  return (
    <Dialog
      open
      onClose={onClose}
      title={t("agents.executable.title", { agent: agent.title })}
      description={t("agents.executable.text")}
    >
      <form onSubmit={submit} style={{ marginTop: 12 }}>
        <Field
          label={t("agents.executable.label")}
          className="mono"
          value={path}
          spellCheck={false}
          autoComplete="off"
          error={error}
          note={t("agents.executable.example", { name: agent.name })}
          onChange={(event) => {
            setPath(event.currentTarget.value);
            setError(undefined);
          }}
        />
        <div className="foot">
          {held?.executable && (
            <>
              <Button look="quiet" off={busy ? t("common.busy") : undefined} onClick={() => void save("")}>
                {t("agents.executable.forget")}
              </Button>
              <span className="sp" />
            </>
          )}
          <Button onClick={onClose}>{t("common.cancel")}</Button>
          <Button look="primary" submit off={busy ? t("common.busy") : undefined}>
            {t("agents.executable.save")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
