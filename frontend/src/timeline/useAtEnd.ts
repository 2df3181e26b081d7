import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Chat } from "../api/types";
import { markRead } from "../chats/actions";
import { announce } from "../ui/announce";
import type { Row } from "./rows";

// A glance in passing is not reading.
const READ_AFTER_MS = 500;

const counts = (row: Row) =>
  row.kind === "step" || row.kind === "answer" || row.kind === "error" || row.kind === "user";

type Input = {
  chat: Chat;
  atEnd: boolean;
  rows: readonly Row[];
  /** Index of the last row in view. */
  lastVisible: number;
  /** Entries known to be after the last row. */
  beyond: number;
  /** Brings the end into view, and no more. */
  reveal: () => void;
};

/**
 * What being at the end means: the chat counts as read, and what comes while
 * the reader is elsewhere is counted. The first request of a turn brings the
 * reader who was at the end back to it.
 */
export function useAtEnd({ chat, atEnd, rows, lastVisible, beyond, reveal }: Input): number {
  const { t } = useTranslation();
  // Rows up to this key were in view, or there when the chat was opened.
  const [seen, setSeen] = useState<string | undefined>(() => rows.at(-1)?.key);
  const seenAt = seen === undefined ? -1 : rows.findIndex((row) => row.key === seen);
  const upTo = atEnd ? rows.length - 1 : Math.max(seenAt, lastVisible);
  const key = rows[upTo]?.key;
  useEffect(() => {
    if (key !== undefined) setSeen(key);
  }, [key]);
  const fresh = rows.slice(upTo + 1).filter(counts).length + beyond;

  useEffect(() => {
    if (fresh > 0) announce(t("timeline.below", { count: fresh }));
  }, [fresh, t]);

  const focused = useWindowFocus();
  const unread = chat.unread || chat.last_seq > chat.read_seq;
  useEffect(() => {
    if (!atEnd || !focused || !unread) return;
    const timer = setTimeout(() => void markRead(chat, { seq: chat.last_seq }), READ_AFTER_MS);
    return () => clearTimeout(timer);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the chat changes with each word; what matters is listed
  }, [atEnd, focused, unread, chat.id, chat.last_seq]);

  const asked = useRef<string | undefined>(undefined);
  const wasAtEnd = useRef(atEnd);
  const turn = chat.waiting && chat.waiting.length > 0 ? chat.turn?.id : undefined;
  useEffect(() => {
    if (!turn || asked.current === turn) return;
    asked.current = turn;
    if (wasAtEnd.current) reveal();
  }, [turn, reveal]);
  useEffect(() => {
    wasAtEnd.current = atEnd;
  });
  return fresh;
}

function useWindowFocus(): boolean {
  const [focused, setFocused] = useState(() => document.hasFocus());
  useEffect(() => {
    const update = () => setFocused(document.hasFocus() && !document.hidden);
    for (const name of ["focus", "blur"]) window.addEventListener(name, update);
    document.addEventListener("visibilitychange", update);
    return () => {
      for (const name of ["focus", "blur"]) window.removeEventListener(name, update);
      document.removeEventListener("visibilitychange", update);
    };
  }, []);
  return focused;
}
