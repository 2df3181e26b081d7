/** Turns that this page started just now, until the timeline has moved to them. */
const sent = new Map<string, string>();

export function noteSent(chat: string, turn: string): void {
  sent.set(chat, turn);
}

/** Whether that turn is the one this page just started; true once. */
export function takeSent(chat: string, turn: string): boolean {
  if (sent.get(chat) !== turn) return false;
  sent.delete(chat);
  return true;
}
