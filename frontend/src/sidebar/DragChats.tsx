import { useEffect, useRef, useState, type PointerEvent, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { ChatChange } from "../api/types";
import { changeChat } from "../chats/actions";
import { positionAt, type Group } from "../chats/groups";
import { useLive } from "../stream/store";

// Less than this is a click with an unsteady hand.
const TOLERANCE_PX = 6;

type Drag = { id: string; row: HTMLElement; x: number; y: number; started: boolean };
type Target = { id: string; side: "before" | "after" };

/**
 * Reorders chats with the pointer, within a group or into another; the menu's
 * "Move up", "Move down" and "Move to" do the same in words. One request per
 * drop.
 */
export function DragChats({ groups, children }: { groups: Group[]; children: ReactNode }) {
  const { t } = useTranslation();
  const [said, setSaid] = useState("");
  const drag = useRef<Drag | undefined>(undefined);
  const target = useRef<{ row: HTMLElement; side: Target["side"] } | undefined>(undefined);

  const mark = (row: HTMLElement | undefined, side: Target["side"] = "before") => {
    target.current?.row.classList.remove("before", "after");
    target.current = row ? { row, side } : undefined;
    row?.classList.add(side);
  };

  const finish = () => {
    drag.current?.row.classList.remove("dragged");
    mark(undefined);
    drag.current = undefined;
  };

  const drop = (id: string, over: Target) => {
    const chat = useLive.getState().chats.get(id);
    const group = groups.find((one) => one.chats.some((held) => held.id === over.id));
    if (!chat || !group) return;
    const others = group.chats.filter((held) => held.id !== id);
    const place = others.findIndex((held) => held.id === over.id) + (over.side === "after" ? 1 : 0);
    void changeChat(chat, { ...membership(group), position: positionAt(group.chats, id, place) });
    setSaid(
      t("sidebar.moved", { title: chat.title, place: place + 1, group: group.label || t("sidebar.pinned") }),
    );
  };

  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    const row = (event.target as HTMLElement).closest<HTMLElement>("[data-chat]");
    if (event.button !== 0 || event.pointerType === "touch" || !row?.dataset.chat) return;
    drag.current = { id: row.dataset.chat, row, x: event.clientX, y: event.clientY, started: false };
  };

  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    const held = drag.current;
    if (!held) return;
    if (!held.started) {
      if (Math.hypot(event.clientX - held.x, event.clientY - held.y) < TOLERANCE_PX) return;
      held.started = true;
      held.row.classList.add("dragged");
      event.currentTarget.setPointerCapture(event.pointerId);
    }
    const row = document.elementFromPoint(event.clientX, event.clientY)?.closest<HTMLElement>("[data-chat]");
    const group = row && groups.find((one) => one.chats.some((chat) => chat.id === row.dataset.chat));
    if (!row || row === held.row || !group || !accepts(group, held.id)) return mark(undefined);
    const box = row.getBoundingClientRect();
    mark(row, event.clientY < box.top + box.height / 2 ? "before" : "after");
  };

  /** A chat leaves its working folder's group only for one of the user's own; its folder on disk does not change. */
  const accepts = (group: Group, id: string) => {
    if (group.kind === "archived") return false;
    return group.kind !== "cwd" || useLive.getState().chats.get(id)?.cwd === group.cwd;
  };

  const onPointerUp = (event: PointerEvent<HTMLDivElement>) => {
    const held = drag.current;
    const over = target.current;
    finish();
    if (!held?.started) return;
    // The click that ends a drag opens nothing.
    const root = event.currentTarget;
    const swallow = (click: Event) => click.stopPropagation();
    root.addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => root.removeEventListener("click", swallow, { capture: true }));
    if (over?.row.dataset.chat) drop(held.id, { id: over.row.dataset.chat, side: over.side });
  };

  useEffect(() => {
    const onEscape = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || !drag.current?.started) return;
      event.preventDefault();
      finish();
    };
    document.addEventListener("keydown", onEscape, true);
    return () => document.removeEventListener("keydown", onEscape, true);
  });

  return (
    <div
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={finish}
    >
      {children}
      <span className="vh" role="status">
        {said}
      </span>
    </div>
  );
}

/** What of a chat puts it into that group. */
function membership(group: Group): ChatChange {
  switch (group.kind) {
    case "pinned":
      return { pinned: true };
    case "folder":
      return { pinned: false, folder: group.label };
    default:
      return { pinned: false, folder: "" };
  }
}
