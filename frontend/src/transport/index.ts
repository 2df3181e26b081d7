import type { Transport } from "./transport";

let current: Transport | undefined;

/** The transport of this page, chosen once at start. */
export function transport(): Transport {
  if (!current) throw new Error("The transport is not set yet.");
  return current;
}

export function setTransport(next: Transport): void {
  current = next;
}

export type { ConnectionStatus, StreamSink, Subscription, Transport } from "./transport";
