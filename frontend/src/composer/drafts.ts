import { create } from "zustand";
import { api, unwrap } from "../api/client";
import type { Attachment } from "../api/types";
import { transport } from "../transport";

/** A file on its way to the draft. */
export type Pending = { key: string; name: string; size: number; sent: number; error?: string };

export type DraftState = {
  text: string;
  attachments: Attachment[];
  uploads: Pending[];
  /** The kept draft was read, or the user was quicker. */
  loaded: boolean;
  /** Not on disk yet; `failed` says that it could not be put there. */
  dirty: boolean;
  failed?: string;
};

export const emptyDraft: DraftState = { text: "", attachments: [], uploads: [], loaded: false, dirty: false };

// A pause in typing this long puts the draft on disk.
const SAVE_AFTER_MS = 600;

const useDrafts = create<{ chats: ReadonlyMap<string, DraftState> }>(() => ({ chats: new Map() }));
const timers = new Map<string, ReturnType<typeof setTimeout>>();
const aborts = new Map<string, AbortController>();

export function useDraft(chat: string): DraftState {
  return useDrafts((state) => state.chats.get(chat) ?? emptyDraft);
}

export function draftOf(chat: string): DraftState {
  return useDrafts.getState().chats.get(chat) ?? emptyDraft;
}

function edit(chat: string, change: (draft: DraftState) => DraftState): void {
  useDrafts.setState(({ chats }) => ({
    chats: new Map(chats).set(chat, change(chats.get(chat) ?? emptyDraft)),
  }));
}

/** Reads the kept draft of a chat that was not opened in this page before. */
export async function loadDraft(chat: string): Promise<void> {
  if (draftOf(chat).loaded) return;
  try {
    const draft = await unwrap(api.GET("/api/v1/chats/{id}/draft", { params: { path: { id: chat } } }));
    edit(chat, (held) =>
      held.dirty
        ? { ...held, loaded: true }
        : { ...held, text: draft.text, attachments: draft.attachments ?? [], loaded: true },
    );
  } catch {
    // The composer stays usable: what is typed now is kept when it can be.
  }
}

export function setDraft(chat: string, change: Partial<Pick<DraftState, "text" | "attachments">>): void {
  edit(chat, (held) => ({ ...held, ...change, loaded: true, dirty: true }));
  clearTimeout(timers.get(chat));
  timers.set(
    chat,
    setTimeout(() => void saveDraft(chat), SAVE_AFTER_MS),
  );
}

/** Puts the draft on disk now. */
export async function saveDraft(chat: string): Promise<void> {
  clearTimeout(timers.get(chat));
  timers.delete(chat);
  const { text, attachments, dirty } = draftOf(chat);
  if (!dirty) return;
  try {
    await unwrap(
      api.PUT("/api/v1/chats/{id}/draft", { params: { path: { id: chat } }, body: { text, attachments } }),
    );
    edit(chat, (held) => {
      const { failed: _, ...rest } = held;
      return { ...rest, dirty: held.text !== text || held.attachments !== attachments };
    });
  } catch (error) {
    edit(chat, (held) => ({ ...held, failed: error instanceof Error ? error.message : String(error) }));
  }
}

/** On leaving the page. */
export function saveAllDrafts(): void {
  for (const [chat, draft] of useDrafts.getState().chats) if (draft.dirty) void saveDraft(chat);
}

/** Takes the draft for sending: the composer is empty at once. */
export function takeDraft(chat: string): { text: string; attachments: Attachment[] } {
  const { text, attachments } = draftOf(chat);
  setDraft(chat, { text: "", attachments: [] });
  return { text, attachments };
}

/** Gives back what could not be sent, before whatever was written meanwhile. */
export function giveBack(chat: string, text: string, attachments: Attachment[]): void {
  const held = draftOf(chat);
  setDraft(chat, {
    text: held.text && text ? `${text}\n\n${held.text}` : text || held.text,
    attachments: [
      ...attachments,
      ...held.attachments.filter((one) => !attachments.some((back) => back.file === one.file)),
    ],
  });
}

let nextKey = 1;

/** Uploads a file and attaches it to the draft. */
export async function attach(chat: string, file: File): Promise<void> {
  const key = `upload ${nextKey++}`;
  const abort = new AbortController();
  aborts.set(key, abort);
  const update = (change: Partial<Pending>) =>
    edit(chat, (held) => ({
      ...held,
      uploads: held.uploads.map((one) => (one.key === key ? { ...one, ...change } : one)),
    }));
  edit(chat, (held) => ({
    ...held,
    uploads: [...held.uploads, { key, name: file.name, size: file.size, sent: 0 }],
  }));
  try {
    const done = await transport().upload(file, {
      onProgress: (sent) => update({ sent }),
      signal: abort.signal,
    });
    const attachment: Attachment = { file: done.id, name: done.name, type: done.type, size: done.size };
    dropUpload(chat, key);
    setDraft(chat, { attachments: [...draftOf(chat).attachments, attachment] });
  } catch (error) {
    if (abort.signal.aborted) dropUpload(chat, key);
    else update({ error: error instanceof Error ? error.message : String(error) });
  } finally {
    aborts.delete(key);
  }
}

/** Stops an upload, or takes a failed one away. */
export function dropUpload(chat: string, key: string): void {
  aborts.get(key)?.abort();
  edit(chat, (held) => ({ ...held, uploads: held.uploads.filter((one) => one.key !== key) }));
}
