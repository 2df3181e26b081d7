import { Icon } from "./Icon";
import { Menu, MenuChoices } from "./Menu";

type Props<T extends string> = {
  label: string;
  value: T;
  onChange: (value: T) => void;
  choices: { value: T; label: string; note?: string | undefined; off?: string | undefined }[];
  /** The label stands elsewhere already and is spoken only. */
  hideLabel?: boolean;
  /** The chosen value is dangerous. */
  danger?: boolean;
};

/** One of several in a form: the choice stands in the field, the others in a menu with their notes. */
export function Select<T extends string>(props: Props<T>) {
  const { label, value, onChange, choices, hideLabel, danger } = props;
  const chosen = choices.find((choice) => choice.value === value)?.label ?? value;
  return (
    <div className="field">
      {!hideLabel && (
        <span className="med" aria-hidden="true">
          {label}
        </span>
      )}
      <Menu
        trigger={
          <button type="button" className="inp sel" aria-label={`${label}: ${chosen}`}>
            <span className={`ell grow ${danger ? "dan" : ""}`}>{chosen}</span>
            <Icon name="down" className="car" />
          </button>
        }
      >
        <MenuChoices label={label} value={value} onChange={onChange} choices={choices} />
      </Menu>
    </div>
  );
}
