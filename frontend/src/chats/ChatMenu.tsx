import type { ReactElement } from "react";
import { useTranslation } from "react-i18next";
import type { Chat } from "../api/types";
import { useLive } from "../stream/store";
import { Menu, MenuItem, MenuSeparator, MenuSub } from "../ui/Menu";
import { archiveChat, changeChat, markRead } from "./actions";
import { askChat } from "./ChatDialogs";
import { groupChats, positionAt } from "./groups";

type Props = { chat: Chat; trigger: ReactElement; open?: boolean; onOpenChange?: (open: boolean) => void };

/** Everything that can be done with a chat as a whole. */
export function ChatMenu({ chat, trigger, open, onOpenChange }: Props) {
  return (
    <Menu
      trigger={trigger}
      align="end"
      {...(open === undefined ? {} : { open })}
      {...(onOpenChange ? { onOpenChange } : {})}
    >
      <ChatMenuItems chat={chat} />
    </Menu>
  );
}

export function ChatMenuItems({ chat }: { chat: Chat }) {
  const { t } = useTranslation();
  return (
    <>
      <MenuItem icon="edit" command="chat.rename" onSelect={() => askChat("rename", chat)}>
        {t("sidebar.menu.rename")}
      </MenuItem>
      {!chat.archived && (
        <MenuItem icon="pin" onSelect={() => void changeChat(chat, { pinned: !chat.pinned })}>
          {chat.pinned ? t("sidebar.menu.unpin") : t("sidebar.menu.pin")}
        </MenuItem>
      )}
      <MenuItem
        icon="eye"
        onSelect={() => void markRead(chat, chat.unread ? { seq: chat.last_seq } : { unread: true })}
      >
        {chat.unread ? t("sidebar.menu.markRead") : t("sidebar.menu.markUnread")}
      </MenuItem>
      {!chat.archived && <MoveItems chat={chat} />}
      <MenuSeparator />
      <MenuItem icon="file" onSelect={() => void archiveChat(chat)}>
        {chat.archived ? t("sidebar.menu.unarchive") : t("sidebar.menu.archive")}
      </MenuItem>
      <MenuItem icon="x" danger onSelect={() => askChat("delete", chat)}>
        {t("sidebar.menu.delete")}
      </MenuItem>
    </>
  );
}

/** The textual twin of dragging. */
function MoveItems({ chat }: { chat: Chat }) {
  const { t } = useTranslation();
  const groups = groupChats(useLive((state) => state.chats).values());
  const group = groups.find((one) => one.chats.some((held) => held.id === chat.id));
  const place = group?.chats.findIndex((held) => held.id === chat.id) ?? 0;
  const last = (group?.chats.length ?? 1) - 1;
  const move = (to: number) =>
    void changeChat(chat, { position: positionAt(group?.chats ?? [], chat.id, to) });
  const folders = [...new Set(groups.flatMap((one) => (one.kind === "folder" ? [one.label] : [])))];
  return (
    <>
      <MenuItem
        icon="up"
        off={place === 0 ? t("sidebar.menu.alreadyFirst") : undefined}
        onSelect={() => move(place - 1)}
      >
        {t("sidebar.menu.moveUp")}
      </MenuItem>
      <MenuItem
        icon="down2"
        off={place === last ? t("sidebar.menu.alreadyLast") : undefined}
        onSelect={() => move(place + 1)}
      >
        {t("sidebar.menu.moveDown")}
      </MenuItem>
      <MenuSub icon="folder" label={t("sidebar.menu.moveTo")}>
        {chat.folder && (
          <MenuItem onSelect={() => void changeChat(chat, { folder: "" })}>
            {t("sidebar.menu.byFolder")}
          </MenuItem>
        )}
        {folders
          .filter((folder) => folder !== chat.folder)
          .map((folder) => (
            <MenuItem key={folder} onSelect={() => void changeChat(chat, { folder })}>
              {folder}
            </MenuItem>
          ))}
        <MenuItem onSelect={() => askChat("group", chat)}>{t("sidebar.menu.newFolder")}</MenuItem>
      </MenuSub>
    </>
  );
}
