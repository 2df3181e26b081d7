declare global {
  interface Window {
    /** Put there by Wails in the native window. */
    runtime?: {
      BrowserOpenURL(url: string): void;
      ClipboardSetText(text: string): Promise<boolean>;
      EventsOn(name: string, handler: (...data: unknown[]) => void): () => void;
    };
  }
}

/** Where the page runs. `native` is Berth's own window, which is its own transport and keeps no chords for itself. */
export const platform = {
  mac: /Mac|iP(hone|ad|od)/.test(navigator.platform),
  native: location.protocol === "wails:" || location.hostname === "wails.localhost",
};
