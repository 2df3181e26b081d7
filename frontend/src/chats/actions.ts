import i18next from "i18next";
import { api, unwrap } from "../api/client";
import { queryClient, queryKeys } from "../api/queries";
import type { Chat, ChatChange } from "../api/types";
import { dispatch, useLive } from "../stream/store";
import { toast } from "../ui/Toasts";
import { openChat, useView } from "../app/view";

/** Says in a toast that a change of a chat failed; what it shows comes back from the backend. */
function failed(chat: Chat, error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  toast(i18next.t("sidebar.actionFailed", { title: chat.title, error: text }));
}

/** Changes a chat; shown at once, taken back if it is refused. */
export async function changeChat(chat: Chat, change: ChatChange): Promise<boolean> {
  const now = useLive.getState().chats.get(chat.id) ?? chat;
  dispatch({ type: "chat", chat: { ...now, ...change } });
  try {
    const changed = await unwrap(
      api.PATCH("/api/v1/chats/{id}", { params: { path: { id: chat.id } }, body: change }),
    );
    dispatch({ type: "chat", chat: changed });
    return true;
  } catch (error) {
    dispatch({ type: "chat", chat: now });
    failed(chat, error);
    return false;
  }
}

export async function archiveChat(chat: Chat): Promise<void> {
  const archived = !chat.archived;
  if (!(await changeChat(chat, { archived })) || !archived) return;
  toast(i18next.t("sidebar.archivedToast", { title: chat.title }), {
    label: i18next.t("common.undo"),
    run: () => void changeChat({ ...chat, archived: true }, { archived: false }),
  });
}

export async function deleteChat(chat: Chat): Promise<void> {
  try {
    await unwrap(api.DELETE("/api/v1/chats/{id}", { params: { path: { id: chat.id } } }));
  } catch (error) {
    failed(chat, error);
    return;
  }
  dispatch({ type: "chatDeleted", chat: chat.id });
  void queryClient.invalidateQueries({ queryKey: queryKeys.attention });
  const { view } = useView.getState();
  if (view.name === "chat" && view.chat === chat.id) openChat(undefined);
}

/** Marks what was seen, or the chat unread by hand. */
export async function markRead(chat: Chat, mark: { seq: number } | { unread: true }): Promise<void> {
  try {
    await unwrap(api.POST("/api/v1/chats/{id}/read", { params: { path: { id: chat.id } }, body: mark }));
  } catch (error) {
    failed(chat, error);
  }
}
