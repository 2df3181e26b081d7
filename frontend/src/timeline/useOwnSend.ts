import { useEffect, useRef } from "react";
import { takeSent } from "../composer/sent";
import type { Row } from "./rows";

/** Calls `move` when the message that this page just sent appears: the one thing that moves the view. */
export function useOwnSend(chat: string, rows: readonly Row[], move: (key: string) => void): void {
  const act = useRef(move);
  useEffect(() => {
    act.current = move;
  });
  const last = rows.findLast((row) => row.kind === "user");
  const turn = last?.kind === "user" ? last.item.turn : undefined;
  useEffect(() => {
    if (last && turn && takeSent(chat, turn)) act.current(last.key);
  });
}
