import type { Agent } from "../api/types";

/** A command that puts an agent right, run by the user in a terminal. */
export type Way = { kind: "install" | "login" | "update"; argv: string[] };

/** What can be done about an agent that is not ready; undefined where it names no command. */
export function wayOut(agent: Agent): Way | undefined {
  const way = (kind: Way["kind"], argv: string[] | null | undefined): Way | undefined =>
    argv && argv.length > 0 ? { kind, argv } : undefined;
  switch (agent.status) {
    case "missing":
      return way("install", agent.install);
    case "signed_out":
      return way("login", agent.login);
    case "too_old":
      return way("update", agent.update);
    default:
      return undefined;
  }
}

/** Whether a chat with it can be begun. An agent that is signed out can be chosen: its first answer says so. */
export function canBegin(agent: Agent): boolean {
  return agent.status === "ready" || agent.status === "signed_out" || agent.status === "unknown";
}

// What can be worked with first, what is not there last.
const ranks: Record<Agent["status"], number> = {
  ready: 0,
  signed_out: 1,
  too_old: 2,
  broken: 3,
  unknown: 4,
  missing: 5,
};

/** The agents in the order in which they are offered; the demo, which is no agent to work with, last. */
export function inOrder(agents: readonly Agent[]): Agent[] {
  const rank = (agent: Agent) => (agent.demo ? 10 : ranks[agent.status]);
  return [...agents].sort((a, b) => rank(a) - rank(b));
}

/** Models that can be named beside the agent's own default. */
export const namedModels = (agent: Agent) => agent.models.filter((model) => model.value !== "").length;
