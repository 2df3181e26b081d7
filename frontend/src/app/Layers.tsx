import { lazy, Suspense } from "react";
import { useFirstStart } from "../onboarding/firstStart";
import { useLive } from "../stream/store";
import { useCommand } from "./registry";
import { closeLayer, openLayer, useView } from "./view";

// None of these is needed for the first picture.
const AttentionView = lazy(() =>
  import("../attention/AttentionView").then((module) => ({ default: module.AttentionView })),
);
const SettingsView = lazy(() =>
  import("../settings/SettingsView").then((module) => ({ default: module.SettingsView })),
);
const Welcome = lazy(() => import("../onboarding/Welcome").then((module) => ({ default: module.Welcome })));
const Palette = lazy(() => import("../palette/Palette").then((module) => ({ default: module.Palette })));
const NewChat = lazy(() => import("../newchat/NewChat").then((module) => ({ default: module.NewChat })));
const TerminalLayer = lazy(() =>
  import("../terminal/TerminalLayer").then((module) => ({ default: module.TerminalLayer })),
);

/** The views beside the conversation; each fills the window. */
export function OtherView() {
  const view = useView((state) => state.view);
  useFirstStart();
  switch (view.name) {
    case "attention":
      return <Suspense fallback={null}>{<AttentionView />}</Suspense>;
    case "settings":
      return <Suspense fallback={null}>{<SettingsView page={view.page} />}</Suspense>;
    case "welcome":
      return <Suspense fallback={null}>{<Welcome />}</Suspense>;
    default:
      return null;
  }
}

/** What lies above the view, the last opened on top. */
export function Layers() {
  const layers = useView((state) => state.layers);
  useTerminalCommand();
  return layers.map((layer) => (
    <Suspense key={layer.name} fallback={null}>
      {layer.name === "palette" ? (
        <Palette />
      ) : layer.name === "newChat" ? (
        <NewChat cwd={layer.cwd} agent={layer.agent} />
      ) : (
        <TerminalLayer job={layer.job} cwd={layer.cwd} />
      )}
    </Suspense>
  ));
}

/** Shows or hides the terminals; a first shell begins in the folder of the chat in view. */
function useTerminalCommand(): void {
  useCommand("view.terminal", () => {
    const { view, layers } = useView.getState();
    if (layers.some((layer) => layer.name === "terminal")) {
      closeLayer("terminal");
      return;
    }
    const chat = view.name === "chat" && view.chat ? useLive.getState().chats.get(view.chat) : undefined;
    openLayer(chat ? { name: "terminal", cwd: chat.cwd } : { name: "terminal" });
  });
}
