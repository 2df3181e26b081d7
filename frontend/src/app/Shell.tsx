import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import "./shell.css";
import { useAttention } from "../api/queries";
import { ChatDialogs } from "../chats/ChatDialogs";
import { Inspector } from "../inspector/Inspector";
import { Sidebar } from "../sidebar/Sidebar";
import { useLive } from "../stream/store";
import { Lightbox } from "../timeline/Lightbox";
import { LinkDialog } from "../ui/links";
import { useAppearance } from "./appearance";
import { Bars } from "./Bars";
import { ChatView } from "./ChatView";
import { useNavigation } from "./navigation";
import { useNativeWindow } from "./presence";
import { ResizeHandle } from "./ResizeHandle";
import { useView } from "./view";

/** The window: one view, and the layers above it. */
export function Shell() {
  const view = useView((state) => state.view);
  useAppearance();
  useNavigation();
  useNativeWindow();
  useTitle();
  return (
    <>
      {view.name === "chat" && <Columns chat={view.chat} />}
      <ChatDialogs />
      <LinkDialog />
      <Lightbox />
    </>
  );
}

function Columns({ chat }: { chat: string | undefined }) {
  const { t } = useTranslation();
  const sidebar = useView((state) => state.sidebar);
  const inspector = useView((state) => state.inspector);
  const known = useLive((state) => chat !== undefined && state.chats.has(chat));
  const inspected = inspector && known ? chat : undefined;
  return (
    <div className={`app ${sidebar ? "" : "hide-side"} ${inspected ? "show-insp" : "hide-insp"}`}>
      {sidebar && <Sidebar />}
      {sidebar && <ResizeHandle which="sidebar" />}
      <main className="col conv" aria-label={t("app.conversation")}>
        <Bars />
        <ChatView id={chat} />
      </main>
      {inspected && <ResizeHandle which="inspector" />}
      {inspected && <Inspector key={inspected} chat={inspected} />}
    </div>
  );
}

/** How many wait, and what is in view, where the system lists windows and tabs. */
function useTitle(): void {
  const waiting = useAttention().data?.length ?? 0;
  const title = useLive((state) => {
    const { view } = useView.getState();
    return view.name === "chat" && view.chat ? state.chats.get(view.chat)?.title : undefined;
  });
  useEffect(() => {
    document.title = [waiting > 0 ? `(${waiting}) ` : "", title ? `${title} · ` : "", "Berth"].join("");
  }, [waiting, title]);
}
