import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import "./timeline.css";
import "./entries.css";
import type { Chat } from "../api/types";
import { useAgent } from "../api/queries";
import { useCommand } from "../app/registry";
import { isLive } from "../chats/chatFacts";
import { loadPage, useLive } from "../stream/store";
import type { Timeline as Stretch } from "../stream/state";
import { EmptyState, ErrorState, LoadingState } from "../ui/states";
import { anchorOf, isAtEnd, roomBelow, scrollTopFor, type Anchor, type Placed, type Room } from "./anchoring";
import { Below } from "./Below";
import { TimelineScope, type TimelineContext } from "./context";
import { Minimap } from "./Minimap";
import { guessHeight, rowName, RowView } from "./RowView";
import { useAtEnd } from "./useAtEnd";
import { useOwnSend } from "./useOwnSend";
import { useRows } from "./useRows";
import type { Row } from "./rows";

const PAD_TOP = 20;
const PAD_BOTTOM = 24;
// Older pages are read before the reader reaches the top.
const READ_AHEAD_PX = 1_200;
// While first rows are measured the end is held; after that nothing follows.
const SETTLE_MS = 600;
// Of a run that goes on, so much of the view stays free for what comes.
const LIVE_ROOM = 0.4;

/** The conversation of a chat, whatever state its items are in. */
export function Timeline({ chat }: { chat: Chat }) {
  const { t } = useTranslation();
  const stretch = useLive((state) => state.timelines.get(chat.id));
  const agent = useAgent(chat.agent);
  const agentTitle = agent?.title ?? chat.agent;
  const scope = useMemo<TimelineContext>(
    () => ({ chat: chat.id, agentTitle, agent, cwd: chat.cwd }),
    [chat.id, agentTitle, agent, chat.cwd],
  );
  const retry = () => void loadPage(chat.id, "newest");
  if (!stretch || stretch.phase === "following" || stretch.phase === "loading") {
    return <LoadingState what={t("timeline.loading")} />;
  }
  if (stretch.phase === "failed") {
    return (
      <ErrorState
        title={t("timeline.failed")}
        text={t("states.stillWorks")}
        detail={stretch.error}
        onRetry={retry}
      />
    );
  }
  if (stretch.items.length === 0 && !isLive(chat)) {
    const text = agent?.demo
      ? t("timeline.emptyDemo")
      : t("timeline.emptyText", { agent: agentTitle, folder: chat.cwd });
    return <EmptyState title={t("timeline.empty")} text={text} />;
  }
  return (
    <TimelineScope value={scope}>
      <Log key={chat.id} chat={chat} stretch={stretch} agentTitle={agentTitle} />
    </TimelineScope>
  );
}

function Log({ chat, stretch, agentTitle }: { chat: Chat; stretch: Stretch; agentTitle: string }) {
  const { t } = useTranslation();
  const live = isLive(chat);
  const { rows, unreadAt } = useRows(chat, stretch);
  const scroller = useRef<HTMLDivElement>(null);
  const anchor = useRef<Anchor>({ at: "end" });
  const expected = useRef(-1);
  const [room, setRoom] = useState<Room>();
  const [view, setView] = useState({ scrollTop: 0, height: 0 });

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (at) => guessHeight(rows[at] as Row),
    getItemKey: (at) => (rows[at] as Row).key,
    overscan: 6,
    paddingStart: PAD_TOP,
  });
  // Ours alone keeps the place: two would correct each other.
  virtual.shouldAdjustScrollPositionOnItemSizeChange = never;

  const places = useMemo(() => new Map(rows.map((row, at) => [row.key, at])), [rows]);
  const contentEnd = virtual.getTotalSize() + PAD_BOTTOM;
  const startOf = (key: string) => {
    const at = places.get(key);
    return at === undefined ? undefined : virtual.measurementsCache[at]?.start;
  };
  const below = roomBelow(room, startOf, contentEnd);
  const items = virtual.getVirtualItems();

  /** Keeps the row that is read where it is, whatever changed above it. */
  const settle = () => {
    const element = scroller.current;
    if (!element) return;
    const wanted = scrollTopFor(anchor.current, startOf, contentEnd, element.clientHeight);
    if (wanted === undefined) {
      anchor.current = anchorOf(placed(items), element.scrollTop);
      return;
    }
    if (Math.abs(element.scrollTop - wanted) < 1) return;
    element.scrollTop = wanted;
    expected.current = element.scrollTop;
  };
  useLayoutEffect(settle);

  const goTo = useCallback((next: Anchor) => {
    anchor.current = next;
    setView((held) => ({ ...held }));
  }, []);

  useEffect(() => {
    const first: Anchor = unreadAt ? { at: "row", key: "unread", offset: -150 } : { at: "end" };
    anchor.current = first;
    const timer = setTimeout(() => {
      const element = scroller.current;
      if (element && anchor.current === first && first.at === "end")
        anchor.current = anchorOf(placed(virtual.getVirtualItems()), element.scrollTop);
    }, SETTLE_MS);
    return () => clearTimeout(timer);
    // Only when the chat is opened: the component is keyed by it.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  const onScroll = () => {
    const element = scroller.current;
    if (!element) return;
    const { scrollTop, clientHeight } = element;
    if (Math.abs(scrollTop - expected.current) > 1) {
      anchor.current = anchorOf(placed(virtual.getVirtualItems()), scrollTop);
      expected.current = -1;
    }
    setView({ scrollTop, height: clientHeight });
    if (scrollTop < READ_AHEAD_PX && stretch.hasBefore && !stretch.paging) void loadPage(chat.id, "before");
    if (
      contentEnd - scrollTop - clientHeight < READ_AHEAD_PX &&
      stretch.hasAfter &&
      !stretch.paging &&
      stretch.phase === "ready"
    ) {
      void loadPage(chat.id, "after");
    }
  };
  // A page that does not fill the view asks for the next one.
  useEffect(onScroll, [stretch.items.length, stretch.phase]); // eslint-disable-line react-hooks/exhaustive-deps

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() =>
      setView({ scrollTop: element.scrollTop, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const toEnd = useCallback(() => {
    const element = scroller.current;
    const last = rows.at(-1);
    if (!element || !last) return;
    if (stretch.hasAfter) void loadPage(chat.id, "newest");
    if (live) {
      const start = virtual.measurementsCache[rows.length - 1];
      const height = (start?.size ?? 0) + element.clientHeight * LIVE_ROOM;
      setRoom({ key: last.key, height });
      const end = (start?.end ?? 0) + element.clientHeight * LIVE_ROOM;
      goTo({
        at: "row",
        key: last.key,
        offset: Math.max(-element.clientHeight, end - element.clientHeight - (start?.start ?? 0)),
      });
      return;
    }
    goTo({ at: "end" });
    setTimeout(() => {
      if (anchor.current.at === "end")
        anchor.current = anchorOf(placed(virtual.getVirtualItems()), element.scrollTop);
    }, SETTLE_MS);
  }, [rows, live, goTo, virtual, stretch.hasAfter, chat.id]);

  const reveal = useCallback(() => {
    const element = scroller.current;
    const last = virtual.measurementsCache.at(-1);
    if (!element || !last) return;
    const wanted = last.end + PAD_BOTTOM - element.clientHeight;
    if (wanted > element.scrollTop) goTo({ at: "row", key: String(last.key), offset: wanted - last.start });
  }, [goTo, virtual]);

  useOwnSend(chat.id, rows, (key) => {
    const height = scroller.current?.clientHeight ?? 0;
    setRoom({ key, height: height - PAD_TOP / 2 });
    goTo({ at: "row", key, offset: -PAD_TOP / 2 });
  });

  const atEnd = !stretch.hasAfter && isAtEnd(view.scrollTop, contentEnd, view.height);
  const lastVisible =
    items.findLast((item) => item.start < view.scrollTop + view.height)?.index ?? rows.length - 1;
  const fresh = useAtEnd({ chat, atEnd, rows, lastVisible, beyond: stretch.beyond.length, reveal });

  const step = (direction: 1 | -1) => {
    const top = scroller.current?.scrollTop ?? 0;
    const turns = rows.flatMap((row, at) =>
      row.kind === "user" ? [{ key: row.key, start: virtual.measurementsCache[at]?.start ?? 0 }] : [],
    );
    const target =
      direction === 1
        ? turns.find((one) => one.start > top + PAD_TOP)
        : turns.findLast((one) => one.start < top - 1);
    if (target) goTo({ at: "row", key: target.key, offset: -PAD_TOP / 2 });
  };
  useCommand("turn.previous", () => step(-1));
  useCommand("turn.next", () => step(1));
  useCommand("timeline.end", toEnd);

  return (
    <div className="tlwrap" data-region="timeline">
      <div
        ref={scroller}
        className="tline inset"
        role="feed"
        aria-label={t("timeline.feed")}
        aria-busy={live}
        tabIndex={0}
        data-region-entry
        onScroll={onScroll}
      >
        <div className="log" style={{ height: contentEnd + below }}>
          {items.map((item) => {
            const row = rows[item.index] as Row;
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                data-row={row.kind}
                className="vrow"
                role="article"
                aria-label={rowName(row, agentTitle, t)}
                aria-posinset={item.index + 1}
                aria-setsize={stretch.hasBefore || stretch.hasAfter ? -1 : rows.length}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <RowView row={row} />
              </div>
            );
          })}
        </div>
      </div>
      <Minimap
        rows={rows}
        startOf={(at) => virtual.measurementsCache[at]?.start ?? 0}
        contentEnd={contentEnd + below}
        view={view}
        onGo={(key) => goTo({ at: "row", key, offset: -PAD_TOP / 2 })}
      />
      <Below show={!atEnd} count={fresh} onClick={toEnd} />
    </div>
  );
}

const never = () => false;

function placed(items: readonly { key: string | number | bigint; start: number; size: number }[]): Placed[] {
  return items.map(({ key, start, size }) => ({ key: String(key), start, size }));
}
