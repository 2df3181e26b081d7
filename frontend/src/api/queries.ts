import { QueryClient, useQuery } from "@tanstack/react-query";
import { api, ApiError, unwrap } from "./client";
import type { Agent, Settings } from "./types";

// A resource that could not be read is tried once more; a refusal is not.
const RETRIES = 1;

/**
 * Resources that are read as a whole. Chats and items are not here: the
 * stream keeps them (stream/). An event of the stream marks a resource stale.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The stream says when something changed.
      staleTime: Infinity,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < RETRIES && !(error instanceof ApiError && error.status < 500),
    },
  },
});

export const queryKeys = {
  health: ["health"],
  agents: ["agents"],
  settings: ["settings"],
  phrases: ["phrases"],
  attention: ["attention"],
  queue: (chat: string) => ["queue", chat],
  commands: (chat: string) => ["commands", chat],
  files: (chat: string, query: string) => ["files", chat, query],
};

export const useHealth = () =>
  useQuery({ queryKey: queryKeys.health, queryFn: () => unwrap(api.GET("/api/v1/health")) });

export const useAgents = () =>
  useQuery({
    queryKey: queryKeys.agents,
    queryFn: async () => (await unwrap(api.GET("/api/v1/agents"))).agents,
  });

/** One agent as installed; undefined until it is known. */
export function useAgent(name: string | undefined): Agent | undefined {
  return useAgents().data?.find((agent) => agent.name === name);
}

export const useSettings = () =>
  useQuery({ queryKey: queryKeys.settings, queryFn: () => unwrap(api.GET("/api/v1/settings")) });

/** Changes settings; what they become is shown at once and confirmed by the answer. */
export async function changeSettings(change: Partial<Settings>): Promise<void> {
  queryClient.setQueryData<Settings>(queryKeys.settings, (held) => held && { ...held, ...change });
  try {
    queryClient.setQueryData(
      queryKeys.settings,
      await unwrap(api.PATCH("/api/v1/settings", { body: change })),
    );
  } catch (error) {
    void queryClient.invalidateQueries({ queryKey: queryKeys.settings });
    throw error;
  }
}

export const usePhrases = () =>
  useQuery({
    queryKey: queryKeys.phrases,
    queryFn: async () => (await unwrap(api.GET("/api/v1/phrases"))).phrases,
  });

/** Everything that waits for the human, oldest first. */
export const useAttention = () =>
  useQuery({
    queryKey: queryKeys.attention,
    queryFn: async () => (await unwrap(api.GET("/api/v1/attention"))).attention,
  });

/** The turns that wait behind the running one, in order. */
export const useQueue = (chat: string, enabled: boolean) =>
  useQuery({
    queryKey: queryKeys.queue(chat),
    enabled,
    queryFn: async () =>
      (await unwrap(api.GET("/api/v1/chats/{id}/queue", { params: { path: { id: chat } } }))).turns,
  });

/** What the chat's agent offers after "/". */
export const useAgentCommands = (chat: string, enabled: boolean) =>
  useQuery({
    queryKey: queryKeys.commands(chat),
    enabled,
    // Discovered by the agent as it runs.
    staleTime: 30_000,
    queryFn: async () =>
      (await unwrap(api.GET("/api/v1/chats/{id}/commands", { params: { path: { id: chat } } }))).commands,
  });
