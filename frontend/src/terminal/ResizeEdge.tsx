import { useEffect, type KeyboardEvent, type PointerEvent } from "react";
import { useTranslation } from "react-i18next";

const STORE = "berth.terminalHeight";
const MIN_PX = 160;
// A part of the view stays in sight.
const ROOM_PX = 120;
const STEP_PX = 24;

const bounded = (height: number) =>
  Math.round(Math.max(MIN_PX, Math.min(height, window.innerHeight - ROOM_PX)));

function set(height: number | undefined): void {
  const root = document.documentElement.style;
  if (height === undefined) {
    root.removeProperty("--height-terminal");
    localStorage.removeItem(STORE);
    return;
  }
  root.setProperty("--height-terminal", `${bounded(height)}px`);
  localStorage.setItem(STORE, String(bounded(height)));
}

/** The upper edge of the terminals: dragged, or moved with the arrows; a double click resets it. */
export function ResizeEdge() {
  const { t } = useTranslation();
  useEffect(() => {
    const kept = Number(localStorage.getItem(STORE));
    if (kept > 0) set(kept);
  }, []);
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) set(window.innerHeight - event.clientY);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowUp: STEP_PX, ArrowDown: -STEP_PX }[event.key];
    const panel = event.currentTarget.parentElement;
    if (!step || !panel) return;
    event.preventDefault();
    set(panel.getBoundingClientRect().height + step);
  };
  return (
    <div
      className="term-edge"
      role="separator"
      aria-orientation="horizontal"
      aria-label={t("terminal.height")}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onDoubleClick={() => set(undefined)}
      onKeyDown={onKeyDown}
    />
  );
}
