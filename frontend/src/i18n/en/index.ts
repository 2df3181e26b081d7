import { app } from "./app";
import { agents } from "./agents";
import { newchat } from "./newchat";
import { onboarding } from "./onboarding";
import { attention } from "./attention";
import { common } from "./common";
import { composer } from "./composer";
import { groups } from "./groups";
import { inspector } from "./inspector";
import { links } from "./links";
import { palette } from "./palette";
import { settings } from "./settings";
import { queue } from "./queue";
import { requests } from "./requests";
import { sidebar } from "./sidebar";
import { states } from "./states";
import { terminal } from "./terminal";
import { timeline } from "./timeline";

/** English is the source: the other catalogues have the same keys and placeholders (tested). */
export const en = {
  agents,
  newchat,
  onboarding,
  app,
  attention,
  common,
  composer,
  groups,
  inspector,
  links,
  palette,
  settings,
  queue,
  requests,
  sidebar,
  states,
  terminal,
  timeline,
} as const;
