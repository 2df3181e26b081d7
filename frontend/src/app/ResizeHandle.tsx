import { useRef, type KeyboardEvent, type PointerEvent } from "react";
import { useTranslation } from "react-i18next";

type Which = "sidebar" | "inspector";

const range = { sidebar: { min: 180, max: 420, step: 16 }, inspector: { min: 240, max: 640, step: 16 } };
const store = (which: Which) => `berth.width.${which}`;
const variable = (which: Which) => `--width-${which}`;

/** Column widths are kept per device; without one the design's own hold. */
export function applyStoredWidths(): void {
  for (const which of ["sidebar", "inspector"] as const) {
    const width = Number(localStorage.getItem(store(which)));
    if (width > 0) setWidth(which, width);
  }
}

function setWidth(which: Which, width: number | undefined): void {
  const { style } = document.documentElement;
  if (width === undefined) {
    style.removeProperty(variable(which));
    localStorage.removeItem(store(which));
    return;
  }
  const { min, max } = range[which];
  const bounded = Math.round(Math.max(min, Math.min(max, width)));
  style.setProperty(variable(which), `${bounded}px`);
  localStorage.setItem(store(which), String(bounded));
}

function widthNow(which: Which): number {
  return Math.round(
    document.querySelector(which === "sidebar" ? ".side" : ".insp")?.getBoundingClientRect().width ?? 0,
  );
}

/** The edge of a column: drag, arrows, and a double click for the design's width. */
export function ResizeHandle({ which }: { which: Which }) {
  const { t } = useTranslation();
  const drag = useRef<{ x: number; width: number } | undefined>(undefined);
  const sign = which === "sidebar" ? 1 : -1;
  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    drag.current = { x: event.clientX, width: widthNow(which) };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent) => {
    if (drag.current) setWidth(which, drag.current.width + sign * (event.clientX - drag.current.x));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    setWidth(which, widthNow(which) + sign * step * range[which].step);
  };
  return (
    <div
      className={`resize ${which}`}
      role="separator"
      aria-orientation="vertical"
      aria-label={which === "sidebar" ? t("sidebar.resize") : t("inspector.label")}
      aria-valuemin={range[which].min}
      aria-valuemax={range[which].max}
      aria-valuenow={Math.max(range[which].min, widthNow(which))}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => (drag.current = undefined)}
      onDoubleClick={() => setWidth(which, undefined)}
      onKeyDown={onKeyDown}
    />
  );
}
