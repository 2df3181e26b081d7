import { spellKeys } from "../app/keys";

/** A chord as this platform writes it. It repeats what a command does already, so it is not spoken. */
export function Keys({ keys, cap = false }: { keys: string; cap?: boolean }) {
  return (
    <kbd className={cap ? "cap" : undefined} aria-hidden="true">
      {spellKeys(keys)}
    </kbd>
  );
}
