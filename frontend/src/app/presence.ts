import { useEffect } from "react";
import { nativeWindow } from "../transport/native";
import { platform } from "./platform";
import { runCommand } from "./registry";
import { commandIds, type CommandId } from "./commands";
import { openChat, show, useView } from "./view";

/** Tells the window which chat is looked at, and does what its menu and links ask (docs/window.md). */
export function useNativeWindow(): void {
  const chat = useView((state) => (state.view.name === "chat" ? state.view.chat : undefined));
  useEffect(() => {
    if (!platform.native) return;
    const tell = () => void nativeWindow.presence(document.hasFocus(), chat).catch(() => {});
    tell();
    window.addEventListener("focus", tell);
    window.addEventListener("blur", tell);
    return () => {
      window.removeEventListener("focus", tell);
      window.removeEventListener("blur", tell);
    };
  }, [chat]);
  useEffect(() => {
    if (!platform.native) return;
    const off = window.runtime?.EventsOn("berth:action", (id) => act(String(id)));
    void nativeWindow
      .ready()
      .then(followLink)
      .catch(() => {});
    return off;
  }, []);
  useEffect(() => {
    // A file dropped beside a target would navigate away.
    const keep = (event: DragEvent) => event.preventDefault();
    document.addEventListener("dragover", keep);
    document.addEventListener("drop", keep);
    return () => {
      document.removeEventListener("dragover", keep);
      document.removeEventListener("drop", keep);
    };
  }, []);
}

function act(id: string): void {
  if (id.startsWith("edit."))
    document.execCommand(id === "edit.select_all" ? "selectAll" : id.slice("edit.".length));
  else if (id === "link.open") void followLink().catch(() => {});
  // The help entries of the menu: what there is to know stands on this page.
  else if (id === "docs" || id === "report") show({ name: "settings", page: "about" });
  else if (commandIds.some((one) => one === id)) runCommand(id as CommandId);
}

async function followLink(): Promise<void> {
  const link = await nativeWindow.takeLink();
  const chat = /^chat\/([\w-]+)$/.exec(link ?? "")?.[1];
  if (chat) openChat(chat);
}
