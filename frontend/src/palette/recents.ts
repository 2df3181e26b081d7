// What was used last, on this device; more would push the chats out of view.
const STORE = "berth.palette";
const KEPT = 6;

/** The ids of what was used last, newest first. */
export function recents(): string[] {
  try {
    const held: unknown = JSON.parse(localStorage.getItem(STORE) ?? "[]");
    return Array.isArray(held)
      ? held.filter((id): id is string => typeof id === "string").slice(0, KEPT)
      : [];
  } catch {
    return [];
  }
}

export function used(id: string): void {
  localStorage.setItem(STORE, JSON.stringify([id, ...recents().filter((one) => one !== id)].slice(0, KEPT)));
}
