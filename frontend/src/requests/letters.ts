import { commandKeys, type CommandId } from "../app/commands";
import { matchesKeys } from "../app/keys";
import type { AskRequest, RequestOption } from "../api/types";
import { choicesOf, isReject } from "./answer";

/** What a key asks for: one of the options, or the form of a reason. */
export type Letter = { option: RequestOption } | "reason";

const letters = {
  "request.allow_once": "A",
  "request.allow_session": "S",
  "request.allow_always": "R",
  "request.deny": "D",
} as const satisfies Partial<Record<CommandId, string>>;

/** The answer that a letter gives to an approval; undefined when it means nothing here. */
export function letterOf(event: KeyboardEvent, request: AskRequest): Letter | undefined {
  if (event.repeat) return undefined;
  const pressed = (id: CommandId) => matchesKeys(event, commandKeys(id).keys ?? "");
  const choices = choicesOf(request, { allowOnce: "", allowSession: "", deny: "" });
  if (pressed("request.deny_reason")) {
    return choices.some(({ option }) => isReject(option) && option.reason) ? "reason" : undefined;
  }
  for (const id of Object.keys(letters) as (keyof typeof letters)[]) {
    if (!pressed(id)) continue;
    const option = choices.find((choice) => choice.key === letters[id])?.option;
    return option && { option };
  }
  return undefined;
}
