import type { Agent, Permission, Settings } from "../api/types";

/** What was chosen for the last new chat, on this device. */
export type Remembered = {
  cwd?: string;
  agent?: string;
  /** By agent. */
  choices?: Record<string, Choice>;
};

export type Choice = { model: string; effort: string; permissions: Permission };

const STORE = "berth.newChat";

export function remembered(): Remembered {
  try {
    return (JSON.parse(localStorage.getItem(STORE) ?? "{}") ?? {}) as Remembered;
  } catch {
    return {};
  }
}

/** Full access is a choice of its own each time. */
export function remember(cwd: string, agent: string, choice: Choice): void {
  const kept = choice.permissions === "full" ? { ...choice, permissions: undefined } : choice;
  const choices = { ...remembered().choices, [agent]: kept };
  localStorage.setItem(STORE, JSON.stringify({ cwd, agent, choices }));
}

/** The agent a new chat begins with: asked for, set, used last, else the first that can. */
export function firstAgent(
  offered: readonly Agent[],
  wanted: (string | undefined)[],
  canBegin: (agent: Agent) => boolean,
): string | undefined {
  const names = offered.filter(canBegin).map((agent) => agent.name);
  return wanted.find((name) => name !== undefined && names.includes(name)) ?? names[0];
}

/** What a chat with this agent begins with: as last time, else as set, and only what the agent declares. */
export function firstChoice(agent: Agent, settings: Settings | undefined, last: Remembered): Choice {
  const before: Partial<Choice> = last.choices?.[agent.name] ?? {};
  const set = settings?.agents[agent.name];
  const models = agent.models.map((model) => model.value);
  const model = [before.model, set?.model].find((one) => one !== undefined && models.includes(one)) ?? "";
  const effort =
    [before.effort, set?.effort].find((one) => one !== undefined && effortsOf(agent, model).includes(one)) ??
    "";
  const permissions =
    [before.permissions, set?.permissions, settings?.default_permissions].find(
      (one) => one !== undefined && agent.modes.includes(one),
    ) ?? firstMode(agent);
  return { model, effort, permissions };
}

/** Never full access by itself, as long as the agent has another mode. */
const firstMode = (agent: Agent): Permission =>
  ((agent.modes.find((mode) => mode !== "full") ?? agent.modes[0]) as Permission | undefined) ?? "ask";

export function effortsOf(agent: Agent, model: string): string[] {
  return (agent.models.find((one) => one.value === model) ?? agent.models[0])?.efforts ?? [];
}
