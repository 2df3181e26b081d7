import { useSyncExternalStore } from "react";
import { age, stopwatch } from "../i18n/format";

// One timer for all clocks; each re-renders only its own text.
const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time, to the second. Never spoken while it runs. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => (listeners.size > 0 ? now : (now = Date.now())));
}

/** 4:32, running. */
export function Stopwatch({ since }: { since: string }) {
  return <>{stopwatch(useNow() - Date.parse(since))}</>;
}

/** 38 s, 12 min: how long something waits. */
export function Age({ at }: { at: string }) {
  return <>{age(useNow() - Date.parse(at))}</>;
}
