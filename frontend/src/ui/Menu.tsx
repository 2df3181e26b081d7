import { Menu as Base } from "@base-ui/react/menu";
import type { ReactElement, ReactNode } from "react";
import type { CommandId } from "../app/commands";
import { keysOf } from "../app/keys";
import { Icon, type IconName } from "./Icon";
import { Keys } from "./Keys";

type MenuProps = {
  /** The control that opens the menu. */
  trigger: ReactElement;
  children: ReactNode;
  align?: "start" | "center" | "end";
  side?: "top" | "bottom";
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
};

export function Menu({ trigger, children, align = "start", side = "bottom", open, onOpenChange }: MenuProps) {
  return (
    <Base.Root {...(open === undefined ? {} : { open })} onOpenChange={(next) => onOpenChange?.(next)}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="layer" sideOffset={4} align={align} side={side} collisionPadding={8}>
          <Base.Popup className="popup">{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

type ItemProps = {
  onSelect: () => void;
  icon?: IconName;
  command?: CommandId;
  hint?: string;
  danger?: boolean;
  /** Why it cannot be chosen now. */
  off?: string | undefined;
  note?: ReactNode;
  children: ReactNode;
};

export function MenuItem({ onSelect, icon, command, hint, danger, off, note, children }: ItemProps) {
  const keys = hint ?? (command ? keysOf(command) : undefined);
  return (
    <Base.Item className={`lrow ${danger ? "dng" : ""}`} disabled={off !== undefined} onClick={onSelect}>
      {icon && <Icon name={icon} />}
      <ItemText note={off || note}>{children}</ItemText>
      {keys && <Keys keys={keys} />}
    </Base.Item>
  );
}

function ItemText({ note, children }: { note?: ReactNode; children: ReactNode }) {
  return (
    <span className="grow">
      <span className="ell" style={{ display: "block" }}>
        {children}
      </span>
      {note && <span className="lnote">{note}</span>}
    </span>
  );
}

/** One of several: the chosen one carries a tick. */
export function MenuChoices<T extends string>(props: {
  label?: string;
  value: T;
  onChange: (value: T) => void;
  choices: { value: T; label: ReactNode; note?: ReactNode; off?: string | undefined }[];
}) {
  return (
    <Base.RadioGroup value={props.value} onValueChange={(value) => props.onChange(value as T)}>
      {props.label && <div className="glabel">{props.label}</div>}
      {props.choices.map((choice) => (
        <Base.RadioItem
          key={choice.value}
          className="lrow"
          value={choice.value}
          closeOnClick
          disabled={choice.off !== undefined}
        >
          <span style={{ width: 14 }}>
            <Base.RadioItemIndicator>
              <Icon name="check" />
            </Base.RadioItemIndicator>
          </span>
          <ItemText note={choice.off ?? choice.note}>{choice.label}</ItemText>
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  );
}

export function MenuSub({
  icon,
  label,
  children,
}: {
  icon?: IconName;
  label: ReactNode;
  children: ReactNode;
}) {
  return (
    <Base.SubmenuRoot>
      <Base.SubmenuTrigger className="lrow">
        {icon && <Icon name={icon} />}
        <ItemText>{label}</ItemText>
        <Icon name="chev" />
      </Base.SubmenuTrigger>
      <Base.Portal>
        <Base.Positioner className="layer" sideOffset={2} collisionPadding={8}>
          <Base.Popup className="popup">{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.SubmenuRoot>
  );
}

export function MenuSeparator() {
  return <Base.Separator className="sepline" />;
}
