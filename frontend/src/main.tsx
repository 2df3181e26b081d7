import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./ui/controls.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { startTranslations, systemLanguage } from "./i18n";
import { App } from "./app/App";

async function start(root: HTMLElement) {
  await startTranslations(systemLanguage());
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}

const root = document.getElementById("root");
if (root) void start(root);
