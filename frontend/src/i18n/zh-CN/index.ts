import type { Words } from "../catalogue";
import type { en } from "../en";
import { commands, groups } from "./commands";
import { common } from "./common";
import { states } from "./states";

export const zhCN: Words<typeof en> = { common, commands, groups, states };
