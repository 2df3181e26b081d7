import type { Words } from "../catalogue";
import type { en } from "../en";
import { groups } from "./groups";
import { common } from "./common";
import { sidebar } from "./sidebar";
import { states } from "./states";

export const zhCN: Words<typeof en> = { common, groups, sidebar, states };
