import { useTranslation } from "react-i18next";
import type { Usage } from "../api/types";
import { compact, dollars, percent } from "../i18n/format";
import { Tooltip } from "../ui/Tooltip";

const RADIUS = 5.5;
const AROUND = 2 * Math.PI * RADIUS;

/** How much of the context is used, as the agent states it; nothing where it does not. */
export function ContextRing({ usage }: { usage: Usage | undefined }) {
  const { t } = useTranslation();
  const used = usage?.context_tokens;
  const window = usage?.context_window;
  if (used === undefined) return null;
  const ratio = window ? Math.min(1, used / window) : undefined;
  const words = [
    window
      ? t("composer.context", { used: compact(used), window: compact(window) })
      : t("composer.contextUsed", { used: compact(used) }),
    ...(usage?.cost_usd !== undefined ? [t("composer.cost", { cost: dollars(usage.cost_usd) })] : []),
  ].join(". ");
  return (
    <Tooltip text={words}>
      <span className="chip num cq-m" role="img" aria-label={words}>
        {ratio !== undefined && (
          <svg className="ring" viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="8" cy="8" r={RADIUS} fill="none" stroke="var(--line-strong)" strokeWidth="2.4" />
            <circle
              cx="8"
              cy="8"
              r={RADIUS}
              fill="none"
              stroke="var(--accent)"
              strokeWidth="2.4"
              strokeDasharray={`${ratio * AROUND} ${AROUND}`}
            />
          </svg>
        )}
        {ratio === undefined ? compact(used) : percent(ratio)}
      </span>
    </Tooltip>
  );
}
