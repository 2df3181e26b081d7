import { useState, type FormEvent } from "react";
import { useTranslation } from "react-i18next";
import { token } from "../transport/browser";
import { Brand } from "../ui/Icon";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";

/** A browser asks for the token once, and keeps it for its tab. */
export function TokenPage({ refused, onToken }: { refused: boolean; onToken: () => void }) {
  const { t } = useTranslation();
  const [value, setValue] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!value.trim()) return;
    token.set(value.trim());
    onToken();
  };
  return (
    <main className="token">
      <form onSubmit={submit}>
        <Brand />
        <h1>{t("app.token.title")}</h1>
        <p className="sec">{t("app.token.text")}</p>
        <Field
          label={t("app.token.label")}
          type="password"
          autoComplete="off"
          spellCheck={false}
          autoFocus
          value={value}
          error={refused ? t("app.token.wrong") : undefined}
          note={t("app.token.where")}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
        <Button look="primary" large submit>
          {t("app.token.open")}
        </Button>
      </form>
    </main>
  );
}
