import { QueryClientProvider } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { queryClient } from "../api/queries";
import { saveAllDrafts } from "../composer/drafts";
import { watchOutbox } from "../composer/outbox";
import { connect, useLive } from "../stream/store";
import { token } from "../transport/browser";
import { Announcer } from "../ui/announce";
import { Toasts } from "../ui/Toasts";
import { TooltipProvider } from "../ui/Tooltip";
import { AppKeys } from "./AppKeys";
import { platform } from "./platform";
import { Shell } from "./Shell";
import { TokenPage } from "./TokenPage";

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <Entrance />
        <Toasts />
        <Announcer />
      </TooltipProvider>
    </QueryClientProvider>
  );
}

/** The window is its owner's; a browser shows a token first. */
function Entrance() {
  const [held, setHeld] = useState(() => platform.native || token.get() !== undefined);
  const [refused, setRefused] = useState(false);
  const unauthorised = useLive((state) => state.connection.state === "unauthorised");
  useEffect(() => {
    if (held) connect();
  }, [held]);
  useEffect(() => {
    if (!unauthorised) return;
    token.forget();
    setHeld(false);
    setRefused(true);
  }, [unauthorised]);
  if (!held) return <TokenPage refused={refused} onToken={() => setHeld(true)} />;
  return <Inside />;
}

function Inside() {
  useEffect(watchOutbox, []);
  useEffect(() => {
    window.addEventListener("pagehide", saveAllDrafts);
    return () => window.removeEventListener("pagehide", saveAllDrafts);
  }, []);
  return (
    <>
      <Shell />
      <AppKeys />
    </>
  );
}
