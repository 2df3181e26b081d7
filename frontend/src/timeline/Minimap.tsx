import { memo, type KeyboardEvent, type MouseEvent } from "react";
import { useTranslation } from "react-i18next";
import type { Row } from "./rows";

// More ticks than this would run together.
const MAX_TICKS = 160;

type Props = {
  rows: readonly Row[];
  startOf: (at: number) => number;
  contentEnd: number;
  view: { scrollTop: number; height: number };
  onGo: (key: string) => void;
};

type Tick = { key: string; top: number; look: string };

function look(row: Row): string | undefined {
  switch (row.kind) {
    case "user":
      return "u";
    case "error":
      return "x";
    case "run":
      return row.run.live ? "n" : "";
    case "step":
      if (row.item.status === "failed") return "x";
      if ((row.item.kind === "approval" || row.item.kind === "question") && row.item.status === "pending")
        return "w";
      return row.live ? "n" : "";
    case "answer":
      return "";
    default:
      return undefined;
  }
}

/** A thin rail with one tick for each entry that is held: where turns begin, what failed, what waits, where the reader is. */
export const Minimap = memo(function Minimap({ rows, startOf, contentEnd, view, onGo }: Props) {
  const { t } = useTranslation();
  const turns = rows.flatMap((row, at) =>
    row.kind === "user" ? [{ key: row.key, start: startOf(at) }] : [],
  );
  if (turns.length < 2) return <div className="mini" />;
  const current = Math.max(
    0,
    turns.findLastIndex((turn) => turn.start <= view.scrollTop + view.height / 2),
  );
  const ticks = thin(
    rows.flatMap((row, at): Tick[] => {
      const kind = look(row);
      return kind === undefined ? [] : [{ key: row.key, top: (startOf(at) / contentEnd) * 100, look: kind }];
    }),
  );
  const go = (at: number) => {
    const turn = turns[Math.max(0, Math.min(at, turns.length - 1))];
    if (turn) onGo(turn.key);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowUp: current - 1, ArrowDown: current + 1, Home: 0, End: turns.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  };
  const onClick = (event: MouseEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = ((event.clientY - box.top) / box.height) * contentEnd;
    go(turns.findLastIndex((turn) => turn.start <= at));
  };
  return (
    <div
      className="mini inset"
      role="scrollbar"
      aria-label={t("timeline.minimap")}
      aria-orientation="vertical"
      aria-controls="conversation"
      aria-valuemin={1}
      aria-valuemax={turns.length}
      aria-valuenow={current + 1}
      aria-valuetext={t("timeline.minimapValue", { turn: current + 1, all: turns.length })}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      <div className="rail">
        {ticks.map((tick) => (
          <i key={tick.key} className={tick.look} style={{ top: `${tick.top}%` }} />
        ))}
        <b
          style={{
            top: `${(view.scrollTop / contentEnd) * 100}%`,
            height: `${(view.height / contentEnd) * 100}%`,
          }}
        />
      </div>
    </div>
  );
});

/** Where there are too many, turns and what is marked stay. */
function thin(ticks: Tick[]): Tick[] {
  if (ticks.length <= MAX_TICKS) return ticks;
  const marked = ticks.filter((tick) => tick.look !== "");
  const step = Math.ceil(marked.length / MAX_TICKS);
  return marked.filter((tick, at) => tick.look !== "u" || at % step === 0);
}
