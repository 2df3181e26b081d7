import type { SettingsPage } from "../app/view";
import type { IconName } from "../ui/Icon";

export const settingsIcons: Record<SettingsPage, IconName> = {
  general: "gear",
  appearance: "eye",
  agents: "proc",
  permissions: "shield",
  notifications: "bell",
  phrases: "comment",
  shortcuts: "list",
  about: "read",
};

/** The settings that can be found by name, and where they stand. */
export const settingsRows = {
  language: "general",
  first_page: "general",
  idle_minutes: "general",
  keep_raw: "general",
  gpu: "general",
  theme: "appearance",
  contrast: "appearance",
  density: "appearance",
  text_size: "appearance",
  default_agent: "agents",
  agents_file: "agents",
  default_permissions: "permissions",
  notify: "notifications",
  notify_text: "notifications",
  letter_keys: "shortcuts",
  version: "about",
  state: "about",
  telemetry: "about",
  report: "about",
} as const satisfies Record<string, SettingsPage>;

export type RowId = keyof typeof settingsRows;
export const rowIds = Object.keys(settingsRows) as RowId[];
