import { lazy, Suspense, useEffect } from "react";
import { useTranslation } from "react-i18next";
import "./shell.css";
import { useAttention } from "../api/queries";
import { ChatDialogs } from "../chats/ChatDialogs";
import { Sidebar } from "../sidebar/Sidebar";
import { useLive } from "../stream/store";
import { LinkDialog } from "../ui/links";
import { useAppearance } from "./appearance";
import { Bars } from "./Bars";
import { useNavigation } from "./navigation";
import { useNativeWindow } from "./presence";
import { Layers, OtherView } from "./Layers";
import { useView } from "./view";

// The conversation brings Markdown, colours and diffs: the frame and the list of chats stand before they are here.
const ChatView = lazy(() => import("./ChatView").then((module) => ({ default: module.ChatView })));
const Inspector = lazy(() =>
  import("../inspector/Inspector").then((module) => ({ default: module.Inspector })),
);
const Lightbox = lazy(() => import("../timeline/Lightbox").then((module) => ({ default: module.Lightbox })));

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
      <OtherView />
      <Layers />
      <ChatDialogs />
      <LinkDialog />
      <Suspense fallback={null}>
        <Lightbox />
      </Suspense>
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
      <main className="col conv" aria-label={t("app.conversation")}>
        <Bars />
        <Suspense fallback={null}>
          <ChatView id={chat} />
        </Suspense>
      </main>
      {inspected && (
        <Suspense fallback={<aside className="insp" />}>
          <Inspector key={inspected} chat={inspected} />
        </Suspense>
      )}
    </div>
  );
}

/** How many wait, and what is in view, where the system lists windows and tabs. */
function useTitle(): void {
  const waiting = useAttention().data?.length ?? 0;
  const chat = useView(({ view }) => (view.name === "chat" ? view.chat : undefined));
  const title = useLive((state) => (chat ? state.chats.get(chat)?.title : undefined));
  useEffect(() => {
    document.title = [waiting > 0 ? `(${waiting}) ` : "", title ? `${title} · ` : "", "Berth"].join("");
  }, [waiting, title]);
}
