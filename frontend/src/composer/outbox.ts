import i18next from "i18next";
import { create } from "zustand";
import { api, ApiError, unwrap } from "../api/client";
import type { Attachment, NewTurn } from "../api/types";
import { useLive } from "../stream/store";
import { toast } from "../ui/Toasts";
import { giveBack } from "./drafts";
import { noteSent } from "./sent";

/**
 * Messages that the backend has not acknowledged. Each is kept until it is,
 * over a reload too, and is sent again with the same client_id: the backend
 * makes one turn of it however often it comes. A refusal gives the words back
 * to the composer.
 */
export type Outgoing = {
  id: string;
  chat: string;
  text: string;
  attachments: Attachment[];
  model?: string;
  effort?: string;
  permissions?: NewTurn["permissions"];
};

const STORE = "berth.outbox";
const RETRY_MS = 3_000;

function read(): Outgoing[] {
  try {
    return JSON.parse(localStorage.getItem(STORE) ?? "[]") as Outgoing[];
  } catch {
    return [];
  }
}

export const useOutbox = create<{ list: readonly Outgoing[] }>(() => ({ list: read() }));

// Those whose request is under way.
const flying = new Set<string>();

function change(list: readonly Outgoing[]): void {
  useOutbox.setState({ list });
  try {
    localStorage.setItem(STORE, JSON.stringify(list));
  } catch {
    // Too large for this browser: it is kept while the page lives.
  }
}

function without(id: string): void {
  change(useOutbox.getState().list.filter((one) => one.id !== id));
}

/** An id that no other client makes. */
export function newClientId(): string {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return `page-${[...random].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Sends a message; it stays in the outbox until it is accepted. */
export function post(message: Omit<Outgoing, "id">): void {
  const outgoing = { ...message, id: newClientId() };
  change([...useOutbox.getState().list, outgoing]);
  void flush();
}

/** Takes a message back that did not go out yet. */
export function takeBack(id: string): void {
  const message = useOutbox.getState().list.find((one) => one.id === id);
  if (!message || flying.has(id)) return;
  without(id);
  giveBack(message.chat, message.text, message.attachments);
}

let retry: ReturnType<typeof setTimeout> | undefined;

/** Tries what waits, in order within each chat. */
export async function flush(): Promise<void> {
  clearTimeout(retry);
  const blocked = new Set<string>();
  let progress = false;
  for (const message of useOutbox.getState().list) {
    if (flying.has(message.id) || blocked.has(message.chat)) {
      blocked.add(message.chat);
      continue;
    }
    if ((await trySend(message)) === "later") blocked.add(message.chat);
    else progress = true;
  }
  // What was posted meanwhile waited for its turn.
  if (progress && useOutbox.getState().list.length > 0) return flush();
  if (useOutbox.getState().list.length > 0) retry = setTimeout(() => void flush(), RETRY_MS);
}

async function trySend(message: Outgoing): Promise<"done" | "later"> {
  const { id, chat, text, attachments, model, effort, permissions } = message;
  flying.add(id);
  try {
    const accepted = await unwrap(
      api.POST("/api/v1/chats/{id}/turns", {
        params: { path: { id: chat } },
        body: {
          client_id: id,
          text,
          ...(attachments.length > 0 ? { attachments: attachments.map((one) => one.file) } : {}),
          ...(model ? { model } : {}),
          ...(effort ? { effort } : {}),
          ...(permissions ? { permissions } : {}),
        },
      }),
    );
    if (accepted.state !== "queued" && accepted.state !== "held") noteSent(chat, accepted.turn);
    without(id);
    return "done";
  } catch (error) {
    if (!isFinal(error)) return "later";
    without(id);
    giveBack(chat, text, attachments);
    refused(chat, error);
    return "done";
  } finally {
    flying.delete(id);
  }
}

/** Whether sending the same again would be refused again. */
function isFinal(error: unknown): error is ApiError {
  return (
    error instanceof ApiError &&
    error.status !== 401 &&
    error.status !== 502 &&
    error.status !== 503 &&
    error.status !== 504
  );
}

const useRefusals = create<{ chats: ReadonlyMap<string, ApiError> }>(() => ({ chats: new Map() }));

/** Why the chat's last message was given back. */
export const useRefusal = (chat: string) => useRefusals((state) => state.chats.get(chat));

function refused(chat: string, error: ApiError): void {
  useRefusals.setState(({ chats }) => ({ chats: new Map(chats).set(chat, error) }));
  const title = useLive.getState().chats.get(chat)?.title ?? "";
  toast(i18next.t("composer.refused", { title, error: error.message }));
}

export function forgetRefusal(chat: string): void {
  useRefusals.setState(({ chats }) => {
    const next = new Map(chats);
    next.delete(chat);
    return { chats: next };
  });
}

/** Goes on with what an earlier page left, and after each break. */
export function watchOutbox(): () => void {
  void flush();
  return useLive.subscribe((state, before) => {
    if (state.connection.state === "online" && before.connection.state !== "online") void flush();
  });
}
