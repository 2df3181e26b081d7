import { create } from "zustand";

/** What the user expanded and folded in a chat, for as long as the window lives. */
export type ChatView = {
  /** Runs drawn with all their steps: seen at work since the chat was opened, or opened by hand. */
  open: ReadonlySet<string>;
  folded: ReadonlySet<string>;
  /** Items opened, by id. */
  expanded: ReadonlySet<string>;
  /** Items closed that would be open by themselves. */
  closed: ReadonlySet<string>;
};

const none: ChatView = { open: new Set(), folded: new Set(), expanded: new Set(), closed: new Set() };

// Chats beyond this forget what was expanded in them.
const MAX_CHATS = 30;

const useViews = create<{ chats: ReadonlyMap<string, ChatView> }>(() => ({ chats: new Map() }));

export function useChatView(chat: string): ChatView {
  return useViews((state) => state.chats.get(chat) ?? none);
}

/** Whether an item is expanded; `byDefault` is what it is when the user said nothing. */
export function useExpanded(chat: string, item: string, byDefault = false): boolean {
  return useViews((state) => {
    const view = state.chats.get(chat) ?? none;
    return byDefault ? !view.closed.has(item) : view.expanded.has(item);
  });
}

function change(chat: string, edit: (view: ChatView) => ChatView): void {
  useViews.setState(({ chats }) => {
    const next = new Map(chats);
    const view = edit(next.get(chat) ?? none);
    next.delete(chat);
    next.set(chat, view);
    for (const id of next.keys()) {
      if (next.size <= MAX_CHATS) break;
      next.delete(id);
    }
    return { chats: next };
  });
}

function withEntry(set: ReadonlySet<string>, entry: string, present: boolean): ReadonlySet<string> {
  if (set.has(entry) === present) return set;
  const next = new Set(set);
  if (present) next.add(entry);
  else next.delete(entry);
  return next;
}

export function setExpanded(chat: string, item: string, open: boolean, byDefault = false): void {
  change(chat, (view) =>
    byDefault
      ? { ...view, closed: withEntry(view.closed, item, !open) }
      : { ...view, expanded: withEntry(view.expanded, item, open) },
  );
}

/** A run that works in view stays open when it ends. */
export function keepRunOpen(chat: string, turn: string): void {
  if (useViews.getState().chats.get(chat)?.open.has(turn)) return;
  change(chat, (view) => ({ ...view, open: withEntry(view.open, turn, true) }));
}

export function setRunOpen(chat: string, turn: string, open: boolean): void {
  change(chat, (view) => ({
    ...view,
    open: open ? withEntry(view.open, turn, true) : view.open,
    folded: withEntry(view.folded, turn, !open),
  }));
}

/** A chat that is opened again shows its finished runs folded. */
export function foldFinishedRuns(chat: string): void {
  if (!useViews.getState().chats.has(chat)) return;
  change(chat, (view) => ({ ...view, open: new Set(), folded: new Set() }));
}
