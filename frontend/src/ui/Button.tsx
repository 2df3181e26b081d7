import type { ButtonHTMLAttributes, ReactElement, ReactNode, Ref } from "react";
import type { CommandId } from "../app/commands";
import { keysOf } from "../app/keys";
import { Icon, type IconName } from "./Icon";
import { Keys } from "./Keys";
import { Tooltip } from "./Tooltip";

type Native = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "disabled" | "type">;

type Common = Native & {
  ref?: Ref<HTMLButtonElement>;
  /** Why the button cannot be used now. It stays focusable and says so. */
  off?: string | undefined;
  /** The command this button runs; its keys are shown. */
  command?: CommandId;
  small?: boolean;
};

/** Ignores clicks while off, without losing focus or its tooltip as `disabled` would. */
function guarded(off: string | undefined, onClick: Native["onClick"]): Native["onClick"] {
  return off === undefined ? onClick : (event) => event.preventDefault();
}

export type ButtonProps = Common & {
  look?: "plain" | "primary" | "quiet" | "danger" | "danger-solid";
  large?: boolean;
  icon?: IconName;
  /** Keys shown in the button, where it is no global command. */
  hint?: string;
  submit?: boolean;
  children: ReactNode;
};

const looks = { plain: "", primary: "pri", quiet: "quiet", danger: "dng", "danger-solid": "dng solid" };

export function Button(props: ButtonProps): ReactElement {
  const {
    look = "plain",
    large,
    small,
    icon,
    hint,
    command,
    off,
    submit,
    className = "",
    onClick,
    children,
    ...rest
  } = props;
  const size = large ? "lg" : small ? "sm" : "";
  const keys = hint ?? (command ? keysOf(command) : undefined);
  const button = (
    <button
      {...rest}
      type={submit ? "submit" : "button"}
      className={`btn ${looks[look]} ${size} ${className}`}
      aria-disabled={off !== undefined || undefined}
      onClick={guarded(off, onClick)}
    >
      {icon && <Icon name={icon} />}
      {children}
      {keys && <Keys keys={keys} />}
    </button>
  );
  return off ? <Tooltip text={off}>{button}</Tooltip> : button;
}

export type IconButtonProps = Common & {
  icon: IconName;
  /** Spoken name and tooltip: an icon never stands without words. */
  label: string;
};

export function IconButton({
  icon,
  label,
  command,
  off,
  small,
  className = "",
  onClick,
  ...rest
}: IconButtonProps) {
  return (
    <Tooltip text={off || label} keys={command ? keysOf(command) : undefined}>
      <button
        {...rest}
        type="button"
        className={`ib ${small ? "sm" : ""} ${className}`}
        aria-label={label}
        aria-disabled={off !== undefined || undefined}
        onClick={guarded(off, onClick)}
      >
        <Icon name={icon} />
      </button>
    </Tooltip>
  );
}
