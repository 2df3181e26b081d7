import { useQuery } from "@tanstack/react-query";
import i18next from "i18next";
import { useState } from "react";
import { api, unwrap } from "../api/client";
import { queryClient, queryKeys, useAgents } from "../api/queries";
import type { Agent } from "../api/types";
import { toast } from "../ui/Toasts";

// While looks go on, what they found so far is asked for this often.
const SEEN_EVERY_MS = 400;

/** The agents as far as they are known; while looks go on, without those still to come. */
export type KnownAgents = {
  agents: Agent[];
  looking: boolean;
  /** How many there are to look at, while that goes on. */
  all: number;
  error: Error | null;
  retry: () => void;
};

export function useKnownAgents(): KnownAgents {
  const agents = useAgents();
  const looking = agents.isPending;
  const seen = useQuery({
    queryKey: [...queryKeys.agents, "seen"],
    enabled: looking,
    refetchInterval: SEEN_EVERY_MS,
    staleTime: 0,
    queryFn: async () =>
      (await unwrap(api.GET("/api/v1/agents", { params: { query: { seen: true } } }))).agents,
  });
  return {
    agents: agents.data ?? seen.data?.filter((agent) => agent.status !== "unknown") ?? [],
    looking,
    all: seen.data?.length ?? 0,
    error: agents.error,
    retry: () => void agents.refetch(),
  };
}

/** Looks at one agent again. Undefined when it could not be looked at; why is said. */
export async function checkAgent(name: string): Promise<Agent | undefined> {
  try {
    const agent = await unwrap(api.POST("/api/v1/agents/{name}/check", { params: { path: { name } } }));
    queryClient.setQueryData<Agent[]>(queryKeys.agents, (held) =>
      held?.map((one) => (one.name === name ? agent : one)),
    );
    return agent;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    toast(i18next.t("agents.checkFailed", { agent: name, error: text }));
    return undefined;
  }
}

/** Looks at one agent again, and says that it does. */
export function useCheck(name: string): { checking: boolean; check: () => void } {
  const [checking, setChecking] = useState(false);
  const check = () => {
    setChecking(true);
    void checkAgent(name).finally(() => setChecking(false));
  };
  return { checking, check };
}

/** Looks at all agents again. */
export function useLookAgain(): { looking: boolean; lookAgain: () => void } {
  const [looking, setLooking] = useState(false);
  const lookAgain = () => {
    setLooking(true);
    void unwrap(api.GET("/api/v1/agents", { params: { query: { refresh: true } } }))
      .then(({ agents }) => queryClient.setQueryData(queryKeys.agents, agents))
      .catch(() => queryClient.invalidateQueries({ queryKey: queryKeys.agents }))
      .finally(() => setLooking(false));
  };
  return { looking, lookAgain };
}
