import { create } from "zustand";

// A screen reader is told of what goes on at most this often.
const POLITE_EVERY_MS = 5_000;

const useSaid = create<{ polite: string; assertive: string }>(() => ({ polite: "", assertive: "" }));

let waiting = "";
let timer: ReturnType<typeof setTimeout> | undefined;
let last = 0;

/** Tells a screen reader, when it has a moment. Of several in a short while the latest is said. */
export function announce(text: string): void {
  waiting = text;
  timer ??= setTimeout(
    () => {
      timer = undefined;
      last = Date.now();
      useSaid.setState({ polite: waiting });
    },
    Math.max(0, last + POLITE_EVERY_MS - Date.now()),
  );
}

/** Tells a screen reader at once: requests and emergencies, once each. */
export function announceNow(text: string): void {
  useSaid.setState({ assertive: text });
}

export function Announcer() {
  const { polite, assertive } = useSaid();
  return (
    <>
      <div className="vh" role="status" aria-live="polite">
        {polite}
      </div>
      <div className="vh" role="alert" aria-live="assertive">
        {assertive}
      </div>
    </>
  );
}
