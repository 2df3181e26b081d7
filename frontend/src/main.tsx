import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./ui/controls.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { platform } from "./app/platform";
import { startTranslations, systemLanguage } from "./i18n";
import { windowState } from "./transport/native";

async function start(root: HTMLElement) {
  const [native] = await Promise.all([windowState(), startTranslations(systemLanguage())]);
  if (native) Object.assign(platform, { native: true, os: native.platform });
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}

const root = document.getElementById("root");
if (root) void start(root);
