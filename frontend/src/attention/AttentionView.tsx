import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import "./attention.css";
import { useAttention, useSettings } from "../api/queries";
import type { Attention } from "../api/types";
import { inTextField, isComposing } from "../app/keys";
import { runCommand } from "../app/registry";
import { openChat } from "../app/view";
import { isLive } from "../chats/chatFacts";
import { useLive } from "../stream/store";
import { Button, IconButton } from "../ui/Button";
import { Keys } from "../ui/Keys";
import { SegmentedControl } from "../ui/SegmentedControl";
import { EmptyState, ErrorState, LoadingState } from "../ui/states";
import { Detail } from "./Detail";
import { List, type Done } from "./List";
import { filtered, filters, keyOf, placeOf, type Filter } from "./queue";
import { AroundAge } from "./words";

// Answered entries stay in view, so that one sees what was done; older ones go.
const MAX_DONE = 8;

/** Everything that waits for the human, oldest first, worked off from the keyboard. */
export function AttentionView() {
  const { t } = useTranslation();
  const attention = useAttention();
  const [filter, setFilter] = useState<Filter>("all");
  const [done, setDone] = useState<Done[]>([]);
  const all = attention.data ?? [];
  const list = filtered(all, filter);
  const { at, move, choose } = usePlace(list);
  const root = useRef<HTMLDivElement>(null);
  const current = list[at];
  const oldest = all[0];

  /** The chosen row takes the focus, so that the keys go on working. */
  const focusList = () =>
    requestAnimationFrame(() => root.current?.querySelector<HTMLElement>('[aria-selected="true"]')?.focus());
  const shown = current && keyOf(current);
  useEffect(() => {
    // The row or button that had the focus went with its entry: the next one takes it.
    if (shown && (document.activeElement ?? document.body) === document.body) focusList();
  }, [shown]);

  const finish = (one: Attention, text: string) => {
    setDone((held) => [...held, { key: keyOf(one), title: one.text || one.title, text }].slice(-MAX_DONE));
    focusList();
  };
  const step = (by: 1 | -1) => {
    move(by);
    focusList();
  };
  const onKeyDown = useKeys(root, current, step);

  return (
    <div className="attn" ref={root} onKeyDown={onKeyDown}>
      <header className="tb">
        <h1 className="t13 semi">{t("attention.title")}</h1>
        <span className="num sec">{all.length}</span>
        {oldest && (
          <span className="t12 ter num hide-sm">
            <AroundAge words={t("attention.oldest", { age: "\u0000" })} at={oldest.at} />
          </span>
        )}
        {list.length > 1 && (
          <span className="row only-sm stepper">
            <IconButton icon="back" label={t("attention.previous")} onClick={() => step(-1)} />
            <span className="t12 ter num">{t("attention.of", { at: at + 1, all: list.length })}</span>
            <IconButton icon="chev" label={t("attention.next")} onClick={() => step(1)} />
          </span>
        )}
        <span className="sp" />
        <SegmentedControl
          label={t("attention.filter")}
          value={filter}
          onChange={setFilter}
          choices={filters.map((value) => ({ value, label: t(`attention.filters.${value}`) }))}
        />
        <Button small look="quiet" hint="Escape" onClick={() => runCommand("layer.close")}>
          {t("common.close")}
        </Button>
      </header>
      <div className="main">
        <List
          list={list}
          done={done.filter((one) => !list.some((waits) => keyOf(waits) === one.key))}
          at={at}
          onChoose={choose}
        />
        <main className="pane" aria-live="polite">
          {current ? (
            <Detail key={keyOf(current)} one={current} onDone={(text) => finish(current, text)} />
          ) : attention.isError ? (
            <ErrorState
              title={t("attention.failed")}
              text={t("states.stillWorks")}
              detail={attention.error.message}
              onRetry={() => void attention.refetch()}
            />
          ) : attention.isPending ? (
            <LoadingState what={t("attention.loading")} />
          ) : (
            <Nothing filter={filter} onAll={() => setFilter("all")} />
          )}
        </main>
      </div>
      <KeyHints />
    </div>
  );
}

/** The place in the list: it stays with its entry, and goes to the next one when that is gone. */
function usePlace(list: readonly Attention[]) {
  const keys = list.map(keyOf);
  const [chosen, setChosen] = useState<string>();
  const before = useRef(0);
  const at = placeOf(keys, chosen, before.current);
  const shown = keys[at];
  useEffect(() => {
    before.current = at;
    setChosen(shown);
  }, [at, shown]);
  return {
    at,
    choose: (place: number) => setChosen(keys[place]),
    move: (by: 1 | -1) => {
      if (keys.length > 0) setChosen(keys[(at + by + keys.length) % keys.length]);
    },
  };
}

/** J and K, O, digits and Enter, wherever in the view the focus is. The letters of a request are its own. */
function useKeys(
  root: React.RefObject<HTMLDivElement | null>,
  current: Attention | undefined,
  step: (by: 1 | -1) => void,
) {
  const letters = useSettings().data?.letter_keys !== false;
  return (event: KeyboardEvent<HTMLDivElement>) => {
    const { nativeEvent } = event;
    if (event.defaultPrevented || isComposing(nativeEvent) || inTextField(nativeEvent)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const take = (run: () => void) => {
      event.preventDefault();
      run();
    };
    const pane = root.current?.querySelector(".pane");
    const inList = (event.target as HTMLElement).closest('[role="option"]') !== null;
    const key = event.key.toLowerCase();
    if (inList && event.key === "ArrowDown") return take(() => step(1));
    if (inList && event.key === "ArrowUp") return take(() => step(-1));
    if (inList && event.key === "Enter") {
      // Never an approval: none of its buttons is marked so.
      const primary = pane?.querySelector<HTMLElement>("[data-enter], [role=radio], [role=checkbox]");
      return take(() => (primary?.matches("[data-enter]") ? primary.click() : primary?.focus()));
    }
    if (!letters || event.shiftKey) return;
    if (key === "j") return take(() => step(1));
    if (key === "k") return take(() => step(-1));
    if (key === "o" && current) return take(() => openChat(current.chat));
    if (/^[1-9]$/.test(key)) {
      const choice = pane?.querySelectorAll<HTMLElement>("[role=radio], [role=checkbox]")[Number(key) - 1];
      if (!choice) return;
      take(() => {
        choice.click();
        choice.focus();
      });
    }
  };
}

function Nothing({ filter, onAll }: { filter: Filter; onAll: () => void }) {
  const { t } = useTranslation();
  const running = useLive((state) => [...state.chats.values()].filter(isLive).length);
  if (filter !== "all") {
    return (
      <EmptyState
        signal="done"
        title={t("attention.nothingOfKind")}
        action={<Button onClick={onAll}>{t("attention.showAll")}</Button>}
      />
    );
  }
  return (
    <EmptyState
      signal="done"
      title={t("attention.nothing")}
      text={t("attention.nothingText", { count: running })}
    />
  );
}

function KeyHints() {
  const { t } = useTranslation();
  const letters = useSettings().data?.letter_keys !== false;
  if (!letters) return null;
  const hints: [string[], string][] = [
    [["J", "K"], t("attention.keys.move")],
    [["A"], t("attention.keys.allow")],
    [["D"], t("attention.keys.deny")],
    [["1–9"], t("attention.keys.choose")],
    [["O"], t("attention.keys.open")],
  ];
  return (
    <footer className="keys" aria-label={t("attention.keys.label")}>
      {hints.map(([keys, words]) => (
        <span key={words}>
          {keys.map((key) => (
            <Keys key={key} keys={key} />
          ))}
          {words}
        </span>
      ))}
      <span className="sp" />
      <span className="why">{t("attention.keys.promise")}</span>
    </footer>
  );
}
