import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import type { components } from "../api/schema";

export type Terminal = components["schemas"]["Terminal"];
export type NewTerminal = components["schemas"]["NewTerminal"];

const KEY = ["terminals"];

/** The open terminals of this Berth, oldest first. */
export const useTerminals = () =>
  useQuery({
    queryKey: KEY,
    staleTime: 0,
    queryFn: async () => (await unwrap(api.GET("/api/v1/terminals"))).terminals,
  });

export const reloadTerminals = () => queryClient.invalidateQueries({ queryKey: KEY });

// Opened by this page and not shown yet: what they ask the screen is asked for the first time.
const fresh = new Set<string>();

/** Whether a screen shows this terminal for the first time, from its first byte on. True once. */
export const takeFresh = (id: string): boolean => fresh.delete(id);

export async function openTerminal(wanted: NewTerminal): Promise<Terminal> {
  const terminal = await unwrap(api.POST("/api/v1/terminals", { body: wanted }));
  fresh.add(terminal.id);
  queryClient.setQueryData<Terminal[]>(KEY, (held) => [...(held ?? []), terminal]);
  return terminal;
}

export async function closeTerminal(id: string): Promise<void> {
  await unwrap(api.DELETE("/api/v1/terminals/{id}", { params: { path: { id } } }));
  queryClient.setQueryData<Terminal[]>(KEY, (held) => held?.filter((one) => one.id !== id));
}

/** A terminal by what runs in it, where it has no title. */
export function titleOf(terminal: Terminal, shell: string): string {
  if (terminal.title) return terminal.title;
  const [program] = terminal.command;
  return program?.split(/[\\/]/).at(-1) ?? shell;
}
