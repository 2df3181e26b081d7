import i18next from "i18next";
import { useEffect } from "react";
import { changeSettings, useSettings } from "../api/queries";
import type { Settings } from "../api/types";
import { systemLanguage } from "../i18n";
import { nativeWindow } from "../transport/native";
import { platform } from "./platform";
import { useCommand } from "./registry";

// Kept for the next start, so that its first picture is right already.
const STORE = "berth.appearance";

type Appearance = Pick<Settings, "theme" | "contrast" | "density" | "text_size" | "language">;

/** The steps of the text size, in percent of the root. */
export const textSizes = [87.5, 93.75, 100, 112.5, 125, 137.5, 150] as const;

export function applyAppearance({ theme, contrast, density, text_size, language }: Appearance): void {
  const root = document.documentElement;
  const set = (name: string, value: string | undefined) =>
    value ? root.setAttribute(name, value) : root.removeAttribute(name);
  set("data-theme", theme === "system" ? undefined : theme);
  set("data-contrast", contrast === "system" ? undefined : contrast);
  set("data-density", density === "auto" ? undefined : density);
  root.style.fontSize = text_size === 100 ? "" : `${text_size}%`;
  const wanted = language === "auto" ? systemLanguage() : language;
  if (i18next.language !== wanted) void i18next.changeLanguage(wanted);
}

/** What the last page showed, before the settings are read. */
export function applyStoredAppearance(): void {
  try {
    const stored = JSON.parse(localStorage.getItem(STORE) ?? "null") as Appearance | null;
    if (stored) applyAppearance(stored);
  } catch {
    // A damaged entry is replaced with the next settings.
  }
}

/** Applies the settings to the page, and their commands. */
export function useAppearance(): void {
  const { data } = useSettings();
  useEffect(() => {
    if (!data) return;
    const { theme, contrast, density, text_size, language } = data;
    applyAppearance({ theme, contrast, density, text_size, language });
    localStorage.setItem(STORE, JSON.stringify({ theme, contrast, density, text_size, language }));
    paintBehind();
  }, [data]);
  useEffect(() => {
    const media = matchMedia("(prefers-color-scheme: dark)");
    media.addEventListener("change", paintBehind);
    return () => media.removeEventListener("change", paintBehind);
  }, []);
  const change = (next: Partial<Settings>) => void changeSettings(next).catch(() => {});
  useCommand("theme.light", () => change({ theme: "light" }));
  useCommand("theme.dark", () => change({ theme: "dark" }));
  useCommand("theme.system", () => change({ theme: "system" }));
  const size = data?.text_size ?? 100;
  useCommand("view.larger", () => change({ text_size: textSizes.find((one) => one > size) ?? size }));
  useCommand("view.smaller", () => change({ text_size: textSizes.findLast((one) => one < size) ?? size }));
  useCommand("view.actual", () => change({ text_size: 100 }));
}

/** The window's own ground follows the theme, so that it does not flash while it grows or starts. */
function paintBehind(): void {
  if (!platform.native) return;
  const color = getComputedStyle(document.documentElement).getPropertyValue("--surface-canvas").trim();
  void nativeWindow.background(color).catch(() => {});
}
