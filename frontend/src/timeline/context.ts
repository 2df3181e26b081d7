import { createContext, use } from "react";
import type { Agent } from "../api/types";

/** What rows need to know of the chat around them. It changes rarely. */
export type TimelineContext = {
  chat: string;
  agentTitle: string;
  agent: Agent | undefined;
  cwd: string;
};

export const TimelineScope = createContext<TimelineContext>({
  chat: "",
  agentTitle: "",
  agent: undefined,
  cwd: "",
});

export const useTimelineScope = () => use(TimelineScope);

/** A path as it reads from the chat's folder: relative inside it, whole outside. */
export function shownPath(path: string, cwd: string): string {
  const root = cwd.replace(/[\\/]+$/, "");
  return root && (path.startsWith(`${root}/`) || path.startsWith(`${root}\\`))
    ? path.slice(root.length + 1)
    : path;
}
