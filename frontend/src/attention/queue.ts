import type { Attention } from "../api/types";

export type Filter = "all" | "approvals" | "questions" | "finished";

export const filters: readonly Filter[] = ["all", "approvals", "questions", "finished"];

const shows: Record<Exclude<Filter, "all">, readonly Attention["kind"][]> = {
  approvals: ["approval"],
  questions: ["question"],
  finished: ["finished"],
};

export function filtered(list: readonly Attention[], filter: Filter): Attention[] {
  return filter === "all" ? [...list] : list.filter((one) => shows[filter].includes(one.kind));
}

/** What tells one thing that waits from another, also after the list was read again. */
export const keyOf = (one: Attention) => [one.kind, one.chat, one.request ?? one.turn ?? ""].join(" ");

/**
 * Which place is shown: that of the chosen entry, or, when it is gone, the one
 * that took its place, else the last.
 */
export function placeOf(keys: readonly string[], chosen: string | undefined, before: number): number {
  const at = chosen === undefined ? -1 : keys.indexOf(chosen);
  return at >= 0 ? at : Math.max(0, Math.min(before, keys.length - 1));
}
