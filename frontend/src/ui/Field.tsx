import { useId, type InputHTMLAttributes, type ReactNode, type Ref } from "react";

type FieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, "children"> & {
  ref?: Ref<HTMLInputElement>;
  label: ReactNode;
  /** Shown under the field, and spoken with it. */
  note?: ReactNode;
  error?: ReactNode;
  /** The label is spoken only. */
  hideLabel?: boolean;
};

export function Field({ label, note, error, hideLabel, className = "", ...input }: FieldProps) {
  const id = useId();
  const below = error || note;
  return (
    <div className="field">
      <label htmlFor={id} className={hideLabel ? "vh" : undefined}>
        {label}
      </label>
      <input
        {...input}
        id={id}
        className={`inp ${className}`}
        aria-invalid={error ? true : undefined}
        aria-describedby={below ? `${id}-below` : undefined}
      />
      {below && (
        <span id={`${id}-below`} className={`t11 ${error ? "dan" : "ter"}`}>
          {below}
        </span>
      )}
    </div>
  );
}
