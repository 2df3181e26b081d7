import { useState, type FormEvent } from "react";
import { useTranslation } from "react-i18next";
import { create } from "zustand";
import type { Chat } from "../api/types";
import { Button } from "../ui/Button";
import { ConfirmDialog, Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { changeChat, deleteChat } from "./actions";
import { isLive } from "./chatFacts";

type Question = "rename" | "group" | "delete";

const useQuestion = create<{ asked: { what: Question; chat: Chat } | undefined }>(() => ({
  asked: undefined,
}));

/** Asks what is needed for a change of a chat. */
export function askChat(what: Question, chat: Chat): void {
  useQuestion.setState({ asked: { what, chat } });
}

const close = () => useQuestion.setState({ asked: undefined });

export function ChatDialogs() {
  const asked = useQuestion((state) => state.asked);
  const { t } = useTranslation();
  if (!asked) return null;
  const { what, chat } = asked;
  switch (what) {
    case "rename":
      return (
        <NameDialog
          title={t("sidebar.rename.title")}
          label={t("sidebar.rename.name")}
          initial={chat.title}
          confirm={t("sidebar.rename.save")}
          onName={(title) => void changeChat(chat, { title })}
        />
      );
    case "group":
      return (
        <NameDialog
          title={t("sidebar.group.title")}
          label={t("sidebar.group.name")}
          initial=""
          confirm={t("sidebar.group.save")}
          onName={(folder) => void changeChat(chat, { folder })}
        />
      );
    case "delete":
      return (
        <ConfirmDialog
          open
          danger
          title={t("sidebar.delete.title", { title: chat.title })}
          text={
            <>
              {t("sidebar.delete.text", { cwd: chat.cwd })} {isLive(chat) && t("sidebar.delete.running")}
            </>
          }
          confirm={t("sidebar.delete.confirm")}
          onConfirm={() => deleteChat(chat)}
          onClose={close}
        />
      );
  }
}

// As the backend bounds titles and folders.
const MAX_NAME = 120;

function NameDialog(props: {
  title: string;
  label: string;
  initial: string;
  confirm: string;
  onName: (name: string) => void;
}) {
  const { t } = useTranslation();
  const [name, setName] = useState(props.initial);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!name.trim()) return;
    props.onName(name.trim());
    close();
  };
  return (
    <Dialog open onClose={close} title={props.title}>
      <form onSubmit={submit} style={{ marginTop: 12 }}>
        <Field
          label={props.label}
          value={name}
          maxLength={MAX_NAME}
          onFocus={(event) => event.currentTarget.select()}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div className="foot">
          <Button onClick={close}>{t("common.cancel")}</Button>
          <Button look="primary" submit>
            {props.confirm}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
