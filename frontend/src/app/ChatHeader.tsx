import { useTranslation } from "react-i18next";
import type { Agent, Chat } from "../api/types";
import { askChat } from "../chats/ChatDialogs";
import { ChatMenu } from "../chats/ChatMenu";
import { copyText } from "../ui/copy";
import { IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Tooltip } from "../ui/Tooltip";
import { shortPaths } from "../chats/groups";
import { useView } from "./view";

export function ChatHeader({ chat, agent }: { chat: Chat; agent: Agent | undefined }) {
  const { t } = useTranslation();
  const inspector = useView((state) => state.inspector);
  const sidebar = useView((state) => state.sidebar);
  const folder = shortPaths([chat.cwd]).get(chat.cwd) ?? chat.cwd;
  return (
    <header className="tb">
      {!sidebar && (
        <IconButton
          icon="sidebar"
          label={t("app.sidebar")}
          command="view.sidebar"
          onClick={() => useView.setState({ sidebar: true })}
        />
      )}
      <h1 className="t13 semi ell title" onDoubleClick={() => askChat("rename", chat)}>
        {chat.title || t("app.untitled")}
      </h1>
      {agent?.demo && <span className="tag">{t("app.demoTag")}</span>}
      <Tooltip text={t("app.folder", { path: chat.cwd })}>
        <button type="button" className="chip hide-sm" onClick={() => void copyText(chat.cwd)}>
          <Icon name="folder" />
          <span className="mono ell">{folder}</span>
        </button>
      </Tooltip>
      <span className="sp" />
      <ChatMenu chat={chat} trigger={<IconButton icon="more" label={t("app.chatMenu")} />} />
      <IconButton
        icon="inspector"
        label={t("app.inspector")}
        command="view.inspector"
        aria-pressed={inspector}
        onClick={() => useView.setState({ inspector: !inspector })}
      />
    </header>
  );
}
