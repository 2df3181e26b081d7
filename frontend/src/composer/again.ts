import { loadPage, useLive } from "../stream/store";
import { post } from "./outbox";

/** Sends a turn's message once more, as a new turn, because the user asked for it. */
export async function sendAgain(chat: string, turn: string): Promise<void> {
  const find = () =>
    useLive
      .getState()
      .timelines.get(chat)
      ?.items.find((item) => item.kind === "user_message" && item.turn === turn);
  if (!find()) await loadPage(chat, "before");
  const message = find();
  if (!message) return;
  post({ chat, text: message.body.text ?? "", attachments: message.body.attachments ?? [] });
}
