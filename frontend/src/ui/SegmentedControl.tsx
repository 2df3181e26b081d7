import type { KeyboardEvent } from "react";

type Props<T extends string> = {
  label: string;
  value: T;
  onChange: (value: T) => void;
  choices: { value: T; label: string }[];
};

const steps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** A few choices side by side: one tab stop, arrows inside. */
export function SegmentedControl<T extends string>({ label, value, onChange, choices }: Props<T>) {
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = choices.findIndex((choice) => choice.value === value);
    const next = choices[(at + step + choices.length) % choices.length];
    if (!next) return;
    onChange(next.value);
    (event.currentTarget.children[choices.indexOf(next)] as HTMLElement).focus();
  };
  return (
    <div className="seg" role="radiogroup" aria-label={label} onKeyDown={move}>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          role="radio"
          aria-checked={choice.value === value}
          tabIndex={choice.value === value ? 0 : -1}
          onClick={() => onChange(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </div>
  );
}
