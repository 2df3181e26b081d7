import { Tooltip as Base } from "@base-ui/react/tooltip";
import type { ReactElement, ReactNode } from "react";
import { Keys } from "./Keys";

// Long enough that a pointer passing over the bar raises nothing.
const OPEN_DELAY_MS = 500;

export function TooltipProvider({ children }: { children: ReactNode }) {
  return <Base.Provider delay={OPEN_DELAY_MS}>{children}</Base.Provider>;
}

/** Words and keys for a control. `children` is the control itself and keeps its own spoken name. */
export function Tooltip({
  text,
  keys,
  children,
}: {
  text: ReactNode;
  keys?: string | undefined;
  children: ReactElement;
}) {
  return (
    <Base.Root>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner className="tip-layer" sideOffset={6} collisionPadding={8}>
          <Base.Popup className="tip">
            <span>{text}</span>
            {keys && <Keys keys={keys} />}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
