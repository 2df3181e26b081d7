import { useEffect, useRef, useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useAgent, useSettings } from "../api/queries";
import type { AskRequest, Attention, Chat, GivenAnswer, Item } from "../api/types";
import { inTextField, isComposing } from "../app/keys";
import { openChat } from "../app/view";
import { clock } from "../i18n/format";
import { answerRequest, choicesOf } from "../requests/answer";
import { Approval } from "../requests/Approval";
import { letterOf, type Letter } from "../requests/letters";
import { Question } from "../requests/Question";
import { requestTitle } from "../requests/title";
import { useLive } from "../stream/store";
import { Markdown } from "../timeline/Markdown";
import { Button } from "../ui/Button";
import { Signal } from "../ui/Signal";
import { ErrorState, LoadingState } from "../ui/states";
import { lastSaid, useLastItems, useRequestItem } from "./details";
import { attentionIsBad, attentionSignal } from "./kinds";
import { Outcome } from "./Outcome";
import { AroundAge } from "./words";

// A request that takes another's place is not answered by a key meant for it.
const GUARD_MS = 300;

type Props = { one: Attention; onDone: (text: string) => void };

/** One thing that waits, with what is needed to decide. */
export function Detail({ one, onDone }: Props) {
  const chat = useLive((state) => state.chats.get(one.chat));
  if (one.kind === "approval" || one.kind === "question") {
    return <Asked one={one} chat={chat} onDone={onDone} />;
  }
  return (
    <section>
      <Kind one={one} />
      <Outcome one={one} chat={chat} onDone={onDone} />
    </section>
  );
}

const tones: Partial<Record<Attention["kind"], string>> = { finished: "acc" };

function Kind({ one }: { one: Attention }) {
  const { t } = useTranslation();
  const agent = useAgent(one.agent);
  const words = t("attention.where", { agent: agent?.title ?? one.agent, chat: one.title, age: "\u0000" });
  return (
    <div className="kind">
      <Signal name={attentionSignal[one.kind]} />
      <span className={`med ${attentionIsBad(one.kind) ? "dan" : (tones[one.kind] ?? "att")}`}>
        {t(`attention.kind.${one.kind}`)}
      </span>
      <span className="ell num">
        <AroundAge words={words} at={one.at} />
      </span>
    </div>
  );
}

function Asked({ one, chat, onDone }: Props & { chat: Chat | undefined }) {
  const { t } = useTranslation();
  const item = useRequestItem(one);
  if (item.isError) {
    return (
      <ErrorState
        title={t("attention.requestFailed")}
        detail={item.error.message}
        onRetry={() => void item.refetch()}
        action={
          <Button look="quiet" onClick={() => openChat(one.chat)}>
            {t("attention.openChat")}
          </Button>
        }
      />
    );
  }
  const request = item.data?.body.request;
  if (!item.data || !request) return <LoadingState what={t("attention.loading")} />;
  return <Open one={one} chat={chat} item={item.data} request={request} onDone={onDone} />;
}

type OpenProps = Props & { chat: Chat | undefined; item: Item; request: AskRequest };

/** A request that is open: the same words and letters as in its chat. */
function Open({ one, chat, item, request, onDone }: OpenProps) {
  const { t } = useTranslation();
  const online = useLive((state) => state.connection.state === "online");
  const [busy, setBusy] = useState(false);
  const [giving, setGiving] = useState(false);
  const off = busy ? t("requests.sending") : online ? undefined : t("requests.offline");
  const answer = async (given: GivenAnswer) => {
    if (off !== undefined) return;
    setBusy(true);
    if (await answerRequest(request.id, given)) onDone(outcomeOf(given));
    else setBusy(false);
  };
  const outcomeOf = (given: GivenAnswer) => {
    const chosen = choicesOf(request, {
      allowOnce: t("requests.allowOnce"),
      allowSession: t("requests.allowSession"),
      deny: t("requests.deny"),
    }).find(({ option }) => option.id === given.option);
    return chosen ? t("attention.done.answered", { answer: chosen.label }) : t("attention.done.question");
  };
  useLetters(request, one.kind === "approval" && !giving, (letter) =>
    letter === "reason" ? setGiving(true) : void answer({ option: letter.option.id }),
  );
  const said = useLastItems(one);
  const last = said && lastSaid(said, item.id);
  return (
    <section>
      <Kind one={one} />
      <h2>{requestTitle(item, request, t)}</h2>
      {one.kind === "approval" ? (
        <Approval
          request={request}
          off={off}
          onAnswer={(given) => void answer(given)}
          giving={giving}
          onGiving={setGiving}
          large
          home={chat?.cwd ?? ""}
        />
      ) : (
        <Question request={request} off={off} onAnswer={(given) => void answer(given)} large />
      )}
      <OpenChat one={one} />
      {last && (
        <LastSaid at={last.at}>
          <Markdown text={last.body.text ?? ""} live={false} />
        </LastSaid>
      )}
    </section>
  );
}

/** The letters of a request, while the focus is in this view and in no text field. */
function useLetters(request: AskRequest, active: boolean, run: (letter: Letter) => void): void {
  const letters = useSettings().data?.letter_keys !== false;
  const current = useRef(run);
  useEffect(() => {
    current.current = run;
  });
  const [since] = useState(() => Date.now());
  useEffect(() => {
    if (!active || !letters) return;
    const onKey = (event: KeyboardEvent) => {
      const here = event.target instanceof Element && event.target.closest(".attn") !== null;
      if (!here || event.defaultPrevented || isComposing(event) || inTextField(event)) return;
      if (Date.now() - since < GUARD_MS) return;
      const letter = letterOf(event, request);
      if (!letter) return;
      event.preventDefault();
      current.current(letter);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [request, active, letters, since]);
}

function OpenChat({ one }: { one: Attention }) {
  const { t } = useTranslation();
  return (
    <div className="opts">
      <Button look="quiet" hint="O" onClick={() => openChat(one.chat)}>
        {t("attention.openChat")}
      </Button>
    </div>
  );
}

function LastSaid({ at, children }: { at: string; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <div className="prev">
      <h3 className="num">{t("attention.lastSaid", { time: clock(at) })}</h3>
      {children}
    </div>
  );
}
