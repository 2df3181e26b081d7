import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./ui/controls.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { applyStoredAppearance } from "./app/appearance";
import { platform } from "./app/platform";
import { applyStoredWidths } from "./app/ResizeHandle";
import { newClientId } from "./composer/outbox";
import { startTranslations, systemLanguage } from "./i18n";
import { setTransport } from "./transport";
import { BrowserTransport } from "./transport/browser";
import { windowState } from "./transport/native";
import { WindowTransport } from "./transport/window";

async function start(root: HTMLElement) {
  const [native] = await Promise.all([windowState(), startTranslations(systemLanguage())]);
  if (native) Object.assign(platform, { native: true, os: native.platform });
  applyStoredAppearance();
  applyStoredWidths();
  const client = newClientId();
  setTransport(native ? new WindowTransport(client) : new BrowserTransport(client));
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}

const root = document.getElementById("root");
if (root) void start(root);
