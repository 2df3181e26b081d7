import type { Attention } from "../api/types";
import type { SignalName } from "../ui/Signal";

/** How each thing that waits is drawn, in the sidebar and in the attention view alike. */
export const attentionSignal: Record<Attention["kind"], SignalName> = {
  approval: "approval",
  question: "question",
  failed: "failed",
  held: "held",
  uncertain: "uncertain",
  fenced: "fenced",
  finished: "unseen",
};

/** What is wrong, and drawn so. */
export const attentionIsBad = (kind: Attention["kind"]) => kind === "failed" || kind === "fenced";
