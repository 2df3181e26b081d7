import { groups } from "./groups";
import { common } from "./common";
import { sidebar } from "./sidebar";
import { states } from "./states";

/** English is the source: the other catalogues have the same keys and placeholders (tested). */
export const en = { common, groups, sidebar, states } as const;
