import { Popover as Base } from "@base-ui/react/popover";
import type { ReactElement, ReactNode } from "react";

type PopoverProps = {
  trigger: ReactElement;
  label: string;
  align?: "start" | "center" | "end";
  side?: "top" | "bottom";
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  children: ReactNode;
};

export function Popover({
  trigger,
  label,
  align = "center",
  side = "bottom",
  open,
  onOpenChange,
  children,
}: PopoverProps) {
  return (
    <Base.Root {...(open === undefined ? {} : { open })} onOpenChange={(next) => onOpenChange?.(next)}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="layer" sideOffset={4} align={align} side={side} collisionPadding={8}>
          <Base.Popup className="popup" aria-label={label}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
