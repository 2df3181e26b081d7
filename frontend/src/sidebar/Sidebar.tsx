import type { TFunction } from "i18next";
import { useCallback, useEffect, useMemo, useState, type MouseEvent } from "react";
import { useTranslation } from "react-i18next";
import "./sidebar.css";
import { ResizeHandle } from "../app/ResizeHandle";
import { openChat, openLayer, show, useView } from "../app/view";
import { runCommand } from "../app/registry";
import { groupChats, type Group } from "../chats/groups";
import { isLive } from "../chats/chatFacts";
import { dollars } from "../i18n/format";
import { loadChats, useLive } from "../stream/store";
import { Button, IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Signal } from "../ui/Signal";
import { EmptyState, ErrorState, LoadingState } from "../ui/states";
import { ChatRow } from "./ChatRow";
import { DragChats } from "./DragChats";
import { useListKeys } from "./listKeys";
import { RowMenu, type RowMenuTarget } from "./RowMenu";
import { Waiting } from "./Waiting";

export function Sidebar() {
  const { t } = useTranslation();
  return (
    <nav className="col side" aria-label={t("sidebar.label")} data-region="sidebar">
      <div className="tb">
        <span className="sp" />
        <IconButton
          icon="search"
          label={t("sidebar.search")}
          command="palette"
          onClick={() => runCommand("palette")}
        />
        <IconButton
          icon="plus"
          label={t("sidebar.newChat")}
          command="chat.new"
          onClick={() => openLayer({ name: "newChat" })}
        />
      </div>
      <Waiting />
      <ChatList />
      <SidebarFoot />
      <ResizeHandle which="sidebar" />
    </nav>
  );
}

function ChatList() {
  const { t } = useTranslation();
  const lists = useLive((state) => state.lists);
  const some = useLive((state) => state.chats.size > 0);
  if (lists.open === "reading" && !some) return <LoadingState what={t("sidebar.loading")} />;
  if (lists.open === "failed" && !some) {
    return (
      <ErrorState title={t("sidebar.failed")} detail={lists.error} onRetry={() => void loadChats(false)} />
    );
  }
  if (!some) {
    return (
      <EmptyState
        title={t("sidebar.empty")}
        text={t("sidebar.emptyText")}
        action={
          <Button command="chat.new" onClick={() => openLayer({ name: "newChat" })}>
            {t("sidebar.newChat")}
          </Button>
        }
      />
    );
  }
  return <Groups />;
}

const FOLDED = "berth.folded";

function useFolded() {
  const [folded, setFolded] = useState(
    () => new Set<string>(JSON.parse(localStorage.getItem(FOLDED) ?? '["archived"]') as string[]),
  );
  const toggle = (key: string) => {
    const next = new Set(folded);
    if (!next.delete(key)) next.add(key);
    setFolded(next);
    localStorage.setItem(FOLDED, JSON.stringify([...next]));
  };
  return { folded, toggle };
}

function Groups() {
  const { t } = useTranslation();
  const chats = useLive((state) => state.chats);
  const hasArchived = useLive((state) => state.lists.archived);
  const groups = useMemo(() => groupChats(chats.values()), [chats]);
  const selected = useView((state) => (state.view.name === "chat" ? state.view.chat : undefined));
  const { folded, toggle } = useFolded();
  const [menu, setMenu] = useState<RowMenuTarget>();
  const openMenu = useCallback((id: string, event: MouseEvent<HTMLElement>) => {
    event.preventDefault();
    setMenu({ id, anchor: event.currentTarget });
  }, []);
  const archivedOpen = !folded.has("archived");
  useEffect(() => {
    if (archivedOpen && !hasArchived) void loadChats(true);
  }, [archivedOpen, hasArchived]);
  const keys = useListKeys();
  const first = groups.find((group) => !folded.has(group.key))?.chats[0]?.id;
  const entry = groups.some(
    (group) => !folded.has(group.key) && group.chats.some((chat) => chat.id === selected),
  )
    ? selected
    : first;
  const all: Group[] = groups.some((group) => group.kind === "archived")
    ? groups
    : [...groups, { key: "archived", kind: "archived", label: "", chats: [] }];
  return (
    <div className="scroll" style={{ padding: "0 8px 12px" }} {...keys}>
      <DragChats groups={groups}>
        {all.map((group) => (
          <section key={group.key}>
            <button
              type="button"
              className="fold"
              aria-expanded={!folded.has(group.key)}
              title={group.cwd}
              onClick={() => toggle(group.key)}
            >
              <Icon name="chev" />
              <span className="ell">{groupLabel(group, t)}</span>
              <span className="sp" />
              {(group.kind !== "archived" || hasArchived) && (
                <span className="br num">{group.chats.length}</span>
              )}
            </button>
            {!folded.has(group.key) && (
              <div role="listbox" aria-label={groupLabel(group, t)}>
                {group.chats.map((chat) => (
                  <ChatRow
                    key={chat.id}
                    id={chat.id}
                    selected={chat.id === selected}
                    entry={chat.id === entry}
                    onOpen={openChat}
                    onMenu={openMenu}
                  />
                ))}
              </div>
            )}
          </section>
        ))}
      </DragChats>
      <RowMenu target={menu} onClose={() => setMenu(undefined)} />
    </div>
  );
}

function groupLabel(group: Group, t: TFunction): string {
  if (group.kind === "pinned") return t("sidebar.pinned");
  return group.kind === "archived" ? t("sidebar.archived") : group.label;
}

function SidebarFoot() {
  const { t } = useTranslation();
  const running = useLive((state) => [...state.chats.values()].filter(isLive).length);
  const cost = useLive((state) => {
    let sum: number | undefined;
    for (const chat of state.chats.values())
      if (chat.usage?.cost_usd !== undefined) sum = (sum ?? 0) + chat.usage.cost_usd;
    return sum;
  });
  return (
    <div className="side-foot">
      <Signal name={running > 0 ? "running" : "idle"} />
      <span className="num">
        {running > 0 ? t("sidebar.running", { count: running }) : t("sidebar.nothingRuns")}
      </span>
      {cost !== undefined && (
        <span className="num ell" title={t("sidebar.costTitle")}>
          {dollars(cost)}
        </span>
      )}
      <span className="sp" />
      <IconButton
        small
        icon="gear"
        label={t("sidebar.settings")}
        command="settings"
        onClick={() => show({ name: "settings", page: "general" })}
      />
    </div>
  );
}
