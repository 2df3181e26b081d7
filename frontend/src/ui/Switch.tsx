import { Icon } from "./Icon";

type Props = {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  off?: string | undefined;
};

/** On or off, at once. */
export function Switch({ label, checked, onChange, off }: Props) {
  return (
    <button
      type="button"
      className="sw"
      role="switch"
      aria-checked={checked}
      aria-label={label}
      aria-disabled={off !== undefined || undefined}
      title={off}
      onClick={() => off === undefined && onChange(!checked)}
    />
  );
}

/** Chosen or not, in effect with the form around it. */
export function Tick({ label, checked, onChange, off }: Props) {
  return (
    <button
      type="button"
      className="cb"
      role="checkbox"
      aria-checked={checked}
      aria-label={label}
      aria-disabled={off !== undefined || undefined}
      title={off}
      onClick={() => off === undefined && onChange(!checked)}
    >
      <Icon name="check" />
    </button>
  );
}
