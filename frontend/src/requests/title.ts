import type { TFunction } from "i18next";
import type { AskRequest, Item } from "../api/types";

const kinds = ["read", "edit", "delete", "move", "search", "execute", "fetch"] as const;

/**
 * What is asked, as a sentence: the agent's own title, unless it only repeats
 * the command or names the tool.
 */
export function requestTitle(item: Item, request: AskRequest, t: TFunction): string {
  const { title, command, tool_kind: tool } = request;
  const says = title && title !== command && /\s/.test(title);
  if (says) return title;
  const kind = kinds.find((one) => one === tool) ?? (command ? "execute" : undefined);
  if (kind) return t(`requests.title.${kind}`);
  return title || item.summary || t(item.kind === "question" ? "requests.question" : "requests.approval");
}
