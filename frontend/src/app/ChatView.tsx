import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import "./chatview.css";
import { api, unwrap } from "../api/client";
import { useAgent } from "../api/queries";
import type { Chat } from "../api/types";
import { archiveChat, changeChat, markRead } from "../chats/actions";
import { askChat } from "../chats/ChatDialogs";
import { Composer } from "../composer/Composer";
import { QueueShelf } from "../queue/QueueShelf";
import { RequestShelf } from "../requests/RequestShelf";
import { loadChats, openTimeline, useLive } from "../stream/store";
import { Timeline } from "../timeline/Timeline";
import { Button } from "../ui/Button";
import { Signal } from "../ui/Signal";
import { EmptyState, ErrorState, LoadingState } from "../ui/states";
import { ChatHeader } from "./ChatHeader";
import { startDemo } from "./demo";
import { useCommand } from "./registry";
import { openLayer } from "./view";

/** The conversation column. */
export function ChatView({ id }: { id: string | undefined }) {
  const { t } = useTranslation();
  const chat = useLive((state) => (id ? state.chats.get(id) : undefined));
  const lists = useLive((state) => state.lists);
  if (chat) return <Conversation chat={chat} />;
  if (id && lists.open === "reading") return <LoadingState what={t("timeline.loading")} />;
  if (id && !lists.archived) return <FindArchived />;
  if (id) return <ErrorState title={t("timeline.notFound")} action={<NewChatButton />} />;
  return <NoChat />;
}

/** A link may lead to an archived chat: that list is read only when it is needed. */
function FindArchived() {
  const { t } = useTranslation();
  useEffect(() => void loadChats(true), []);
  return <LoadingState what={t("timeline.loading")} />;
}

function NewChatButton() {
  const { t } = useTranslation();
  return (
    <Button look="primary" command="chat.new" onClick={() => openLayer({ name: "newChat" })}>
      {t("app.newChat")}
    </Button>
  );
}

function NoChat() {
  const { t } = useTranslation();
  return (
    <>
      <h1 className="vh">Berth</h1>
      <EmptyState
        title={t("app.noChat")}
        text={t("app.noChatText")}
        action={
          <div className="row" style={{ gap: 6 }}>
            <NewChatButton />
            <Button look="quiet" onClick={() => void startDemo()}>
              {t("app.tryDemo")}
            </Button>
          </div>
        }
      />
    </>
  );
}

function Conversation({ chat }: { chat: Chat }) {
  const agent = useAgent(chat.agent);
  useEffect(() => openTimeline(chat.id), [chat.id]);
  useChatCommands(chat);
  return (
    <>
      <ChatHeader chat={chat} agent={agent} />
      <FencedBar chat={chat} />
      <Timeline chat={chat} />
      <div className="dock">
        <div className="stack">
          <RequestShelf chat={chat} />
          <QueueShelf chat={chat} agentTitle={agent?.title ?? chat.agent} />
          <Composer chat={chat} agent={agent} />
        </div>
      </div>
    </>
  );
}

function useChatCommands(chat: Chat): void {
  useCommand("chat.rename", () => askChat("rename", chat));
  useCommand("chat.pin", () => void changeChat(chat, { pinned: !chat.pinned }));
  useCommand("chat.archive", () => void archiveChat(chat));
  useCommand("chat.unread", () => void markRead(chat, { unread: true }));
  useCommand("chat.delete", () => askChat("delete", chat));
}

/** What is not proven gone, and that nothing new starts until it is. */
function FencedBar({ chat }: { chat: Chat }) {
  const { t } = useTranslation();
  if (chat.state === "dead") {
    return (
      <div className="ban dan" role="status">
        <Signal name="failed" />
        <span className="grow">
          {t("app.dead")} {chat.reason}
        </span>
      </div>
    );
  }
  if (chat.state !== "fenced") return null;
  const check = () =>
    void unwrap(api.POST("/api/v1/chats/{id}/stop", { params: { path: { id: chat.id } } })).catch(() => {});
  return (
    <div className="ban dan" role="status">
      <Signal name="fenced" />
      <span className="grow">
        <b className="med">{t("app.fenced")}</b> {t("app.fencedText", { reason: chat.reason ?? "" })}
      </span>
      <Button small onClick={check}>
        {t("app.checkAgain")}
      </Button>
    </div>
  );
}
