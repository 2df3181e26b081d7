import { useEffect, useRef, useSyncExternalStore } from "react";
import type { CommandId } from "./commands";

type Handler = { run: () => void; off: string | undefined };

// The latest registration wins, so that a view above another takes its commands over.
const handlers = new Map<CommandId, { current: Handler }[]>();
const listeners = new Set<() => void>();
let version = 0;

function changed() {
  version++;
  for (const listener of listeners) listener();
}

/** Says what a command does while this component is shown. `off` is why it cannot be done now. */
export function useCommand(
  id: CommandId,
  run: () => void,
  options: { off?: string | undefined; when?: boolean } = {},
): void {
  const { off, when = true } = options;
  const handler = useRef<Handler>({ run, off });
  useEffect(() => {
    handler.current = { run, off };
  });
  useEffect(() => {
    if (!when) return;
    const mine = handler;
    handlers.set(id, [...(handlers.get(id) ?? []), mine]);
    changed();
    return () => {
      handlers.set(
        id,
        (handlers.get(id) ?? []).filter((one) => one !== mine),
      );
      changed();
    };
  }, [id, when]);
}

function handlerOf(id: CommandId): Handler | undefined {
  return handlers.get(id)?.at(-1)?.current;
}

/** Runs a command. False when nothing in view can do it. */
export function runCommand(id: CommandId): boolean {
  const handler = handlerOf(id);
  if (!handler || handler.off !== undefined) return false;
  handler.run();
  return true;
}

/** What the palette offers: commands that something in view can do. */
export function useAvailableCommands(): (id: CommandId) => { available: boolean; off: string | undefined } {
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => version,
  );
  return (id) => {
    const handler = handlerOf(id);
    return { available: handler !== undefined, off: handler?.off };
  };
}
