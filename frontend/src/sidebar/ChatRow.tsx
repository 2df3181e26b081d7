import { memo, type MouseEvent, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useAgent } from "../api/queries";
import { chatFacts, chatLine } from "../chats/chatFacts";
import { shortTime } from "../i18n/format";
import { useLive } from "../stream/store";
import { Stopwatch } from "../ui/Clock";
import { Signal } from "../ui/Signal";

type Props = {
  id: string;
  selected: boolean;
  /** The row that takes the focus of the list. */
  entry: boolean;
  onOpen: (id: string) => void;
  onMenu: (id: string, event: MouseEvent<HTMLElement>) => void;
};

/** A chat in the list. It reads its own chat, so that a change of one re-renders one. */
export const ChatRow = memo(function ChatRow({ id, selected, entry, onOpen, onMenu }: Props) {
  const { t } = useTranslation();
  const chat = useLive((state) => state.chats.get(id));
  const known = useLive((state) => state.connection.state === "online");
  const agent = useAgent(chat?.agent);
  if (!chat) return null;
  const facts = chatFacts(chat, t, known);
  const line = chatLine(chat, facts, t);
  const time = facts.since ? <Stopwatch since={facts.since} /> : shortTime(chat.updated_at);
  const quiet = !chat.unread && !facts.since;
  return (
    <div
      className={`chat inset ${chat.unread ? "new" : quiet ? "quiet" : ""}`}
      role="option"
      id={`chat-${id}`}
      data-chat={id}
      aria-selected={selected}
      title={`${chat.title}\n${line}`}
      tabIndex={entry ? 0 : -1}
      data-region-entry={entry || undefined}
      onClick={() => onOpen(id)}
      onContextMenu={(event) => onMenu(id, event)}
    >
      <RowBody signal={<Signal name={facts.signal} />} title={chat.title} time={time}>
        <span className="ag" aria-hidden="true">
          {agent?.mark ?? chat.agent.slice(0, 2)}
        </span>
        <span className={`ell ${facts.bad ? "dan" : ""}`}>{line}</span>
        <span className="vh">
          {[facts.word, agent?.title ?? chat.agent, chat.unread ? t("states.chat.unread") : ""]
            .filter((part) => part && part !== line)
            .join(", ")}
        </span>
      </RowBody>
    </div>
  );
});

export function RowBody(props: {
  signal: ReactNode;
  title: string;
  time: ReactNode;
  timeClass?: string;
  children: ReactNode;
}) {
  return (
    <>
      {props.signal}
      <span className="ti ell">{props.title}</span>
      <span className={`tm ${props.timeClass ?? ""}`}>{props.time}</span>
      <span className="sub">{props.children}</span>
    </>
  );
}
