import { useState, type FormEvent, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import type { AskRequest, GivenAnswer, QuestionField } from "../api/types";
import { inTextField, isComposing } from "../app/keys";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Keys } from "../ui/Keys";

type Values = Record<string, { chosen: string[]; own: string }>;

const emptyValue = { chosen: [], own: "" };

/**
 * What of the values is the answer; undefined while there is none. A choice of
 * one has to be made; of many none may be right, and words of one's own are
 * free, unless nothing else is asked.
 */
export function answersOf(
  fields: readonly QuestionField[],
  values: Values,
): Record<string, string[]> | undefined {
  const mustChoose = (field: QuestionField) => !field.multiple && (field.choices?.length ?? 0) > 0;
  const answers: Record<string, string[]> = {};
  for (const field of fields) {
    const { chosen, own } = values[field.id] ?? emptyValue;
    const given = own.trim() ? (field.multiple ? [...chosen, own.trim()] : [own.trim()]) : chosen;
    if (given.length > 0) answers[field.id] = given;
    else if (mustChoose(field)) return undefined;
  }
  return Object.keys(answers).length > 0 ? answers : undefined;
}

/** Choosing an answer: one of several replaces, of many it is put in or taken out. */
export function choose(field: QuestionField, values: Values, value: string): Values {
  const held = values[field.id] ?? emptyValue;
  const chosen = field.multiple
    ? held.chosen.includes(value)
      ? held.chosen.filter((one) => one !== value)
      : [...held.chosen, value]
    : [value];
  return { ...values, [field.id]: { chosen, own: field.multiple ? held.own : "" } };
}

type Props = {
  request: AskRequest;
  off: string | undefined;
  onAnswer: (answer: GivenAnswer) => void;
  large?: boolean;
};

/** Questions with choices, several of them, or free text. Digits choose, Enter answers. */
export function Question({ request, off, onAnswer, large }: Props) {
  const { t } = useTranslation();
  const fields = request.questions ?? [];
  const [values, setValues] = useState<Values>({});
  const answers = answersOf(fields, values);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (answers && off === undefined) onAnswer({ answers });
  };
  const onKeyDown = (event: KeyboardEvent<HTMLFormElement>) => {
    if (isComposing(event.nativeEvent) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && (event.target as HTMLElement).getAttribute("role")) {
      event.preventDefault();
      submit();
    }
  };
  return (
    <form onSubmit={submit} onKeyDown={onKeyDown} className="questions">
      {fields.map((field) => (
        <OneQuestion
          key={field.id}
          field={field}
          alone={fields.length === 1}
          value={values[field.id] ?? emptyValue}
          onChoose={(value) => setValues((held) => choose(field, held, value))}
          onOwn={(own) =>
            setValues((held) => ({
              ...held,
              [field.id]: {
                chosen: field.multiple
                  ? (held[field.id]?.chosen ?? [])
                  : own.trim()
                    ? []
                    : (held[field.id]?.chosen ?? []),
                own,
              },
            }))
          }
        />
      ))}
      <div className="acts">
        <Button
          look="primary"
          submit
          {...(large ? { large: true } : {})}
          hint="Enter"
          off={off ?? (answers ? undefined : t("requests.incomplete"))}
        >
          {t("requests.send")}
        </Button>
        {request.options?.map((option) => (
          <Button key={option.id} look="quiet" off={off} onClick={() => onAnswer({ option: option.id })}>
            {option.label}
          </Button>
        ))}
      </div>
    </form>
  );
}

/** On to the next question that has choices; the last one keeps the focus, and Enter answers. */
function nextQuestion(from: HTMLElement): void {
  const next = from.nextElementSibling;
  if (next?.matches(".question")) next.querySelector<HTMLElement>(".opt, input")?.focus();
}

/**
 * A digit while the request as a whole has the focus: it goes to the first
 * question that has no answer yet.
 */
export function chooseByDigit(region: HTMLElement, digit: number): boolean {
  const questions = [...region.querySelectorAll(".question")].filter((one) => one.querySelector(".opt"));
  const open = questions.find((one) => !one.querySelector('[aria-checked="true"]')) ?? questions[0];
  const option = open?.querySelectorAll<HTMLElement>(".opt")[digit - 1];
  if (!option) return false;
  option.click();
  option.focus();
  return true;
}

type OneProps = {
  field: QuestionField;
  alone: boolean;
  value: { chosen: string[]; own: string };
  onChoose: (value: string) => void;
  onOwn: (own: string) => void;
};

function OneQuestion({ field, alone, value, onChoose, onOwn }: OneProps) {
  const { t } = useTranslation();
  const choices = field.choices ?? [];
  const role = field.multiple ? "checkbox" : "radio";
  const checkedAt = choices.findIndex((choice) => value.chosen.includes(choice.value));
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const digit = Number(event.key);
    const choice = choices[digit - 1];
    if (digit >= 1 && choice && !inTextField(event.nativeEvent)) {
      event.preventDefault();
      event.stopPropagation();
      onChoose(choice.value);
      if (!field.multiple) nextQuestion(event.currentTarget);
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || inTextField(event.nativeEvent)) return;
    event.preventDefault();
    const options = [...event.currentTarget.querySelectorAll<HTMLElement>(`[role="${role}"]`)];
    const at = options.indexOf(event.target as HTMLElement);
    const next = options[(at + step + options.length) % options.length];
    next?.focus();
  };
  return (
    <fieldset className="question" onKeyDown={onKeyDown}>
      {(!alone || field.header) && <legend className="t11 ter">{field.header || field.text}</legend>}
      {(alone || field.header) && <div className="sec qtext">{field.text}</div>}
      <div role={field.multiple ? "group" : "radiogroup"} aria-label={field.text}>
        {choices.map((choice, at) => (
          <button
            key={choice.value}
            type="button"
            className="opt"
            role={role}
            aria-checked={value.chosen.includes(choice.value)}
            tabIndex={field.multiple || at === Math.max(0, checkedAt) ? 0 : -1}
            onClick={() => onChoose(choice.value)}
          >
            {field.multiple ? (
              <span
                className="cb"
                aria-hidden="true"
                data-on={value.chosen.includes(choice.value) || undefined}
              >
                <Icon name="check" />
              </span>
            ) : at < 9 ? (
              <Keys keys={String(at + 1)} cap />
            ) : (
              <span />
            )}
            <span className="med">{choice.label}</span>
            {choice.note && <span className="d">{choice.note}</span>}
          </button>
        ))}
      </div>
      {(field.free_text || choices.length === 0) && (
        <input
          className="inp"
          type={field.secret ? "password" : "text"}
          autoComplete="off"
          aria-label={choices.length > 0 ? t("requests.ownLabel") : field.text}
          placeholder={choices.length > 0 ? t("requests.own") : ""}
          value={value.own}
          onChange={(event) => onOwn(event.currentTarget.value)}
        />
      )}
    </fieldset>
  );
}
