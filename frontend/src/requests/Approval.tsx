import { useRef, useState, type FormEvent, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import type { AskRequest, GivenAnswer } from "../api/types";
import { isComposing } from "../app/keys";
import { FileCard } from "../timeline/DiffCard";
import { Coloured } from "../timeline/CodeBlock";
import { Button } from "../ui/Button";
import { choicesOf, isReject, type Choice } from "./answer";

type Props = {
  request: AskRequest;
  /** Why it cannot be answered now. */
  off: string | undefined;
  onAnswer: (answer: GivenAnswer) => void;
  /** The form of the reason is open. */
  giving: boolean;
  onGiving: (open: boolean) => void;
  large?: boolean;
  /** The chat's folder: named by its last part. */
  home: string;
};

/** What is asked, what it reaches, and the answers. */
export function Approval({ request, off, onAnswer, giving, onGiving, large, home }: Props) {
  const { t } = useTranslation();
  return (
    <>
      <Asked request={request} />
      {large ? <FactList request={request} /> : <Facts request={request} home={home} />}
      {giving ? (
        <Reason
          off={off}
          onCancel={() => onGiving(false)}
          onReason={(reason) => {
            const option =
              request.options?.find((one) => isReject(one) && one.reason) ?? request.options?.find(isReject);
            if (option) onAnswer({ option: option.id, reason });
          }}
        />
      ) : (
        <Answers
          choices={choicesOf(request, {
            allowOnce: t("requests.allowOnce"),
            allowSession: t("requests.allowSession"),
            deny: t("requests.deny"),
          })}
          off={off}
          onChoose={(option) => onAnswer({ option })}
          onReason={() => onGiving(true)}
          large={large}
        />
      )}
    </>
  );
}

/** The command, the change or the input, whole. */
function Asked({ request }: { request: AskRequest }) {
  const { t } = useTranslation();
  if (request.command) {
    return (
      <div className="cmd" tabIndex={0} role="group" aria-label={t("requests.input")}>
        <span className="ter">$ </span>
        <Coloured code={request.command} lang="bash" />
      </div>
    );
  }
  if (request.files && request.files.length > 0) {
    return (
      <div className="asked-files">
        {request.files.map((file) => (
          <FileCard key={file.path} id={`${request.id} ${file.path}`} file={file} status="asked" />
        ))}
      </div>
    );
  }
  if (request.input === undefined || request.input === null) return null;
  const text = typeof request.input === "string" ? request.input : JSON.stringify(request.input, null, 2);
  if (text === "{}" || text === "") return null;
  return (
    <div className="cmd" tabIndex={0} role="group" aria-label={t("requests.input")}>
      <Coloured code={text} lang="json" />
    </div>
  );
}

/** The same facts one below the other, where there is room. */
function FactList({ request }: { request: AskRequest }) {
  const { t } = useTranslation();
  const { cwd, host, reason, title } = request;
  return (
    <dl className="fx">
      {cwd && (
        <>
          <dt>{t("requests.fact.folder")}</dt>
          <dd className="mono t12">{cwd}</dd>
        </>
      )}
      {host && (
        <>
          <dt>{t("requests.fact.host")}</dt>
          <dd className="mono t12">{host}</dd>
        </>
      )}
      {reason && reason !== title && (
        <>
          <dt>{t("requests.fact.reason")}</dt>
          <dd>{reason}</dd>
        </>
      )}
    </dl>
  );
}

function Facts({ request, home }: { request: AskRequest; home: string }) {
  const { t } = useTranslation();
  const { cwd, host, reason, title } = request;
  return (
    <div className="t12 sec facts">
      {cwd && (
        <Sentence words={t("requests.in", { folder: "\u0000" })} fact={cwd === home ? lastPart(cwd) : cwd} />
      )}
      {host && <Sentence words={t("requests.host", { host: "\u0000" })} fact={host} />}
      {reason && reason !== title && <span className="ter">{t("requests.reasonGiven", { reason })}</span>}
    </div>
  );
}

const lastPart = (path: string) => path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;

/** A sentence of the catalogue around a fact in monospace. */
function Sentence({ words, fact }: { words: string; fact: string }) {
  const [before, after] = words.split("\u0000");
  return (
    <span title={fact}>
      {before}
      <span className="mono">{fact}</span>
      {after}{" "}
    </span>
  );
}

/** Enter is not an approval, on a button either: a letter, a click or the space bar is. */
function noEnter(event: KeyboardEvent): void {
  if (event.key === "Enter") event.preventDefault();
}

function Answers(props: {
  choices: Choice[];
  off: string | undefined;
  onChoose: (option: string) => void;
  onReason: () => void;
  large?: boolean | undefined;
}) {
  const { t } = useTranslation();
  const { choices, off, onChoose, large } = props;
  const allow = choices.filter((choice) => !isReject(choice.option));
  const reject = choices.filter((choice) => isReject(choice.option));
  const size = large ? { large: true } : {};
  return (
    <div className="acts">
      {allow.map(({ option, label, key }, at) => (
        <Button
          key={option.id}
          {...size}
          look={at === 0 ? "primary" : option.kind === "allow_always" ? "quiet" : "plain"}
          className="choice"
          {...(key ? { hint: key } : {})}
          title={option.label}
          off={off}
          onKeyDown={noEnter}
          onClick={() => onChoose(option.id)}
        >
          <span className="ell">{label}</span>
        </Button>
      ))}
      <span className="sp" />
      {reject.some(({ option }) => option.reason) && (
        <Button {...size} look="quiet" className="cq-m" off={off} onClick={props.onReason}>
          {t("requests.denyWithReason")}
        </Button>
      )}
      {reject.map(({ option, label, key }) => (
        <Button
          key={option.id}
          {...size}
          className="choice"
          {...(key ? { hint: key } : {})}
          title={option.label}
          off={off}
          onClick={() => onChoose(option.id)}
        >
          <span className="ell">{label}</span>
        </Button>
      ))}
    </div>
  );
}

// As the backend bounds a reason.
const MAX_REASON = 8_000;

function Reason({
  off,
  onReason,
  onCancel,
}: {
  off: string | undefined;
  onReason: (reason: string) => void;
  onCancel: () => void;
}) {
  const { t } = useTranslation();
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (off === undefined) onReason(reason.trim());
  };
  return (
    <form className="acts" onSubmit={submit}>
      <input
        ref={field}
        className="inp grow"
        style={{ width: "auto" }}
        aria-label={t("requests.reasonLabel")}
        placeholder={t("requests.reason")}
        maxLength={MAX_REASON}
        value={reason}
        // It was asked for by the user's own key or click.
        autoFocus
        onChange={(event) => setReason(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (isComposing(event.nativeEvent)) return;
          if (event.key === "Escape") {
            event.preventDefault();
            onCancel();
          }
        }}
      />
      <Button look="quiet" onClick={onCancel}>
        {t("common.cancel")}
      </Button>
      <Button submit off={off}>
        {t("requests.deny")}
      </Button>
    </form>
  );
}
