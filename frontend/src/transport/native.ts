import type { Os } from "../app/platform";

/** What is native by nature, asked of the window by plain requests (docs/window.md). */
export type WindowState = { platform: Os; version: string; client: boolean };

/** The window this page lives in; undefined in a browser, where the request answers 404. */
export async function windowState(): Promise<WindowState | undefined> {
  // Served over plain HTTP from anywhere else, no window can be behind it.
  if (location.protocol.startsWith("http") && location.hostname !== "wails.localhost") return undefined;
  try {
    const response = await fetch("/window/state");
    if (!response.ok || !response.headers.get("content-type")?.includes("json")) return undefined;
    return (await response.json()) as WindowState;
  } catch {
    return undefined;
  }
}

async function ask<T>(method: "POST" | "PUT", path: string, body: unknown): Promise<T | undefined> {
  const response = await fetch(`/window/${path}`, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`The window refused ${path} with ${response.status}.`);
  return response.status === 204 ? undefined : ((await response.json()) as T);
}

export const nativeWindow = {
  ready: () => ask("POST", "ready", {}),
  presence: (focused: boolean, chat: string | undefined) =>
    ask("PUT", "presence", chat ? { focused, chat } : { focused }),
  takeLink: async () => (await ask<{ link?: string }>("POST", "link", {}))?.link,
  chooseFolder: async (title: string, start?: string) =>
    (await ask<{ path: string }>("POST", "choose-folder", start ? { title, start } : { title }))?.path,
  save: async (url: string, name: string) =>
    (await ask<{ path: string }>("POST", "save", { url, name }))?.path,
  openUrl: (url: string) => ask("POST", "open-url", { url }),
  background: (color: string) => ask("PUT", "background", { color }),
};
