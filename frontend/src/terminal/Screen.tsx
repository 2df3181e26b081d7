import { FitAddon } from "@xterm/addon-fit";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { Terminal as XTerm } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import i18next from "i18next";
import { useEffect, useRef, type RefObject } from "react";
import { useTranslation } from "react-i18next";
import { api, ApiError, unwrap } from "../api/client";
import { platform } from "../app/platform";
import { copyText } from "../ui/copy";
import { toast } from "../ui/Toasts";
import { Feed, type FeedState } from "./feed";
import { Replay } from "./replay";
import { takeFresh } from "./terminals";
import { onThemeChange, terminalTheme } from "./theme";
import { Typing } from "./typing";

// As much as the backend keeps, in usual lines; more would only use memory.
const SCROLLBACK = 10_000;
// A drag of the edge changes the size many times a second.
const RESIZE_MS = 80;
// The backend answers after this long even if there is nothing new.
const WAIT_S = 25;

export type ScreenHandle = { focus: () => void; selection: () => string; all: () => string };

type Props = {
  id: string;
  title: string;
  /** Shown: hidden screens keep what they show and do not ask for more. */
  active: boolean;
  /** Its program runs: what has ended has no size to be told. */
  running: boolean;
  handle: RefObject<ScreenHandle | undefined>;
  onState: (state: FeedState) => void;
  onGap: () => void;
};

/** The screen of one terminal. It follows the output from its beginning, as far as that is kept. */
export function Screen({ id, title, active, running, handle, onState, onGap }: Props) {
  const { t } = useTranslation();
  const box = useRef<HTMLDivElement>(null);
  const told = useRef({ onState, onGap });
  const live = useRef(running);
  useEffect(() => {
    told.current = { onState, onGap };
    live.current = running;
  });

  useEffect(() => {
    const element = box.current;
    if (!element || !active) return;
    const { theme, font, size } = terminalTheme();
    const term = new XTerm({
      theme,
      fontFamily: font,
      fontSize: size,
      lineHeight: 1.25,
      scrollback: SCROLLBACK,
      allowProposedApi: true, // the addon for wide characters needs it
      minimumContrastRatio: 4.5,
      macOptionIsMeta: true,
      screenReaderMode: true,
    });
    const fit = new FitAddon();
    term.loadAddon(fit);
    term.loadAddon(new UnicodeGraphemesAddon());
    term.unicode.activeVersion = "15-graphemes";
    term.open(element);
    fit.fit();

    const typing = new Typing(
      (data) =>
        unwrap(api.POST("/api/v1/terminals/{id}/input", { params: { path: { id } }, body: { data } })),
      (error) => {
        // Typing into a program that has ended is no loss worth a word.
        if (error instanceof ApiError && error.status < 500) return;
        const text = error instanceof Error ? error.message : String(error);
        toast(i18next.t("terminal.inputLost", { error: text }));
      },
    );
    const encoder = new TextEncoder();
    const replay = new Replay(takeFresh(id));
    const type = (bytes: Uint8Array) => {
      if (live.current && !replay.active) typing.type(bytes);
    };
    term.onData((data) => type(encoder.encode(data)));
    term.onBinary((data) => type(Uint8Array.from(data, (char) => char.charCodeAt(0))));
    term.attachCustomKeyEventHandler((event) => ownKeys(event, term));

    const stopFollowing = follow(id, term, told, replay);
    const stopSizing = keepSize(id, element, term, fit, () => live.current);
    const stopTheme = onThemeChange(() => {
      const next = terminalTheme();
      term.options.theme = next.theme;
      term.options.fontSize = next.size;
      fit.fit();
    });
    handle.current = {
      focus: () => term.focus(),
      selection: () => term.getSelection(),
      all: () => wholeText(term),
    };
    term.focus();
    return () => {
      handle.current = undefined;
      stopFollowing();
      stopSizing();
      stopTheme();
      term.dispose();
    };
  }, [id, active, handle]);

  return (
    <div className="term-screen" hidden={!active} role="group" aria-label={t("terminal.screen", { title })}>
      <div ref={box} className="term-box" />
    </div>
  );
}

type Told = RefObject<Pick<Props, "onState" | "onGap">>;

function follow(id: string, term: XTerm, told: Told, replay: Replay): () => void {
  const feed = new Feed({
    read: (after) =>
      unwrap(
        api.GET("/api/v1/terminals/{id}/output", {
          params: { path: { id }, query: { after, wait: WAIT_S } },
        }),
      ),
    write: async (bytes) => {
      await new Promise<void>((resolve) => term.write(bytes, resolve));
      replay.shown(bytes.length);
    },
    onGap: () => {
      term.reset();
      told.current.onGap();
    },
    onState: (state) => {
      if (state === "ended") term.options.cursorStyle = "underline";
      told.current.onState(state);
    },
    isGone: (error) => error instanceof ApiError && error.status === 404,
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
  void feed.run();
  return () => feed.stop();
}

/** The program is told the size of the screen, once it rests. */
function keepSize(
  id: string,
  element: HTMLElement,
  term: XTerm,
  fit: FitAddon,
  running: () => boolean,
): () => void {
  let told = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tell = () => {
    const { cols: columns, rows } = term;
    if (!running() || `${columns} ${rows}` === told || columns < 2) return;
    told = `${columns} ${rows}`;
    void unwrap(
      api.POST("/api/v1/terminals/{id}/resize", { params: { path: { id } }, body: { columns, rows } }),
    ).catch(() => (told = ""));
  };
  const observer = new ResizeObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      fit.fit();
      tell();
    }, RESIZE_MS);
  });
  observer.observe(element);
  tell();
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}

/** Copy and paste where Ctrl+C and Ctrl+V belong to the program; the chord that hides the terminals stays ours. */
function ownKeys(event: KeyboardEvent, term: XTerm): boolean {
  if (event.type !== "keydown") return true;
  if (event.ctrlKey && event.key === "`") return false;
  if (/^F6$/.test(event.key)) return false;
  const mac = platform.os === "darwin";
  const chord = mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && event.shiftKey;
  if (!chord) return true;
  switch (event.key.toLowerCase()) {
    case "c":
      if (term.hasSelection()) void copyText(term.getSelection());
      event.preventDefault();
      return false;
    case "v":
      // The browser pastes by itself, into the field that listens for it.
      return false;
    default:
      return true;
  }
}

function wholeText(term: XTerm): string {
  term.selectAll();
  const text = term.getSelection();
  term.clearSelection();
  return text.trimEnd();
}
