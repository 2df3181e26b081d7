import i18next from "i18next";
import { api, ApiError, unwrap } from "../api/client";
import type { AskRequest, GivenAnswer, RequestOption } from "../api/types";
import { toast } from "../ui/Toasts";

/** Answers a request. False when the answer was not taken; why is said. */
export async function answerRequest(request: string, answer: GivenAnswer): Promise<boolean> {
  try {
    await unwrap(
      api.POST("/api/v1/requests/{id}/answer", { params: { path: { id: request } }, body: answer }),
    );
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === "already_answered") {
      const by = error.problem?.winner?.by;
      toast(
        i18next.t("requests.alreadyAnswered", {
          who: !by || by === "owner" ? i18next.t("timeline.owner") : by,
        }),
      );
    } else {
      toast(i18next.t("requests.failed", { error: error instanceof Error ? error.message : String(error) }));
    }
    return false;
  }
}

export type Choice = { option: RequestOption; label: string; key: "A" | "S" | "R" | "D" | undefined };

const keyOfKind: Record<string, "A" | "S" | "R" | "D"> = {
  allow_once: "A",
  allow_session: "S",
  allow_always: "R",
  reject_once: "D",
};

/**
 * The options of an approval with their words and letters. The usual ones have
 * our words; where an agent offers several of a kind, or names what a rule
 * covers, its own words stand. A letter belongs to the first of its kind.
 */
export function choicesOf(
  request: AskRequest,
  words: { allowOnce: string; allowSession: string; deny: string },
): Choice[] {
  const options = request.options ?? [];
  const used = new Set<string>();
  return options.map((option) => {
    const alone = options.filter((one) => one.kind === option.kind).length === 1;
    const ours = { allow_once: words.allowOnce, allow_session: words.allowSession, reject_once: words.deny }[
      option.kind
    ];
    const key = keyOfKind[option.kind];
    const first = key !== undefined && !used.has(key);
    if (key) used.add(key);
    return { option, label: (alone && ours) || option.label || option.id, key: first ? key : undefined };
  });
}

export const isReject = (option: RequestOption) => option.kind.startsWith("reject");
