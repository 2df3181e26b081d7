import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { en } from "./en";
import { zhCN } from "./zh-CN";

export const languages = ["en", "zh-CN"] as const;
export type Language = (typeof languages)[number];

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "berth";
    resources: { berth: typeof en };
  }
}

/** The language of the system, if we speak it. `navigator.language` may be "C", which no Intl constructor takes. */
export function systemLanguage(): Language {
  return navigator.languages.some((language) => /^zh\b/i.test(language)) && !/^en\b/i.test(navigator.language)
    ? "zh-CN"
    : "en";
}

export async function startTranslations(language: Language): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: "en",
    defaultNS: "berth",
    ns: ["berth"],
    resources: { en: { berth: en }, "zh-CN": { berth: zhCN } },
    interpolation: { escapeValue: false }, // React escapes
    returnNull: false,
  });
  document.documentElement.lang = language;
  i18next.on("languageChanged", (next) => (document.documentElement.lang = next));
}

/** The language in use, as Intl takes it. */
export function locale(): Language {
  return languages.find((language) => language === i18next.language) ?? "en";
}
