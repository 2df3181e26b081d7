import type { Agent } from "../api/types";

/** Agents for tests; never part of the product. */
export function agent(name: string, rest: Partial<Agent> = {}): Agent {
  return {
    name,
    title: name,
    mark: name.slice(0, 2),
    status: "ready",
    models: [],
    modes: ["ask", "accept-edits", "plan", "full"],
    capabilities: {
      approvals: true,
      commands: true,
      cost: true,
      effort_per_turn: true,
      files: true,
      fork: false,
      images: true,
      instructions: true,
      interrupt: true,
      model_per_turn: true,
      plans: true,
      questions: true,
      resume: true,
      steer: true,
      subagents: true,
      thinking: true,
      usage: true,
    },
    checked_at: "2026-11-27T09:00:00.000Z",
    ...rest,
  };
}
