declare global {
  interface Window {
    /** Put there by Wails in the native window; only its events are used (docs/window.md). */
    runtime?: { EventsOn(name: string, handler: (...data: unknown[]) => void): () => void };
  }
}

export type Os = "linux" | "darwin" | "windows";

/**
 * Where the page runs. `native` is Berth's own window, which keeps no chords
 * for itself; main.tsx settles it before anything is drawn.
 */
export const platform: { os: Os; native: boolean } = {
  os: /Mac|iP(hone|ad|od)/.test(navigator.platform)
    ? "darwin"
    : /Win/.test(navigator.platform)
      ? "windows"
      : "linux",
  native: false,
};
