import { useEffect, useMemo, useRef, useState } from "react";
import type { Chat } from "../api/types";
import { isLive } from "../chats/chatFacts";
import type { Timeline } from "../stream/state";
import { deriveRows, type Row } from "./rows";
import { foldFinishedRuns, keepRunOpen, useChatView } from "./timelineView";

/** The rows of a chat, and where what was not seen begins. */
export function useRows(chat: Chat, stretch: Timeline): { rows: Row[]; unreadAt: boolean } {
  const view = useChatView(chat.id);
  const before = useRef<Row[]>([]);
  // The line stays where it was drawn until the chat is left.
  const [unreadSeq] = useState(() =>
    chat.unread && chat.last_seq > chat.read_seq && chat.read_seq > 0 ? chat.read_seq + 1 : undefined,
  );
  const liveTurn = isLive(chat) ? chat.turn?.id : undefined;
  useEffect(() => foldFinishedRuns(chat.id), [chat.id]);
  useEffect(() => {
    if (liveTurn) keepRunOpen(chat.id, liveTurn);
  }, [chat.id, liveTurn]);
  const rows = useMemo(
    () =>
      deriveRows(
        {
          items: stretch.items,
          whole: !stretch.hasBefore,
          turns: stretch.turns,
          turn: chat.turn,
          open: view.open,
          folded: view.folded,
          expanded: view.expanded,
          unreadSeq,
        },
        before.current,
      ),
    [stretch.items, stretch.hasBefore, stretch.turns, chat.turn, view, unreadSeq],
  );
  useEffect(() => {
    before.current = rows;
  }, [rows]);
  return { rows, unreadAt: rows.some((row) => row.kind === "unread") };
}
