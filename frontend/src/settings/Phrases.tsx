import i18next from "i18next";
import { useState, type FormEvent } from "react";
import { useTranslation } from "react-i18next";
import { api, unwrap } from "../api/client";
import { queryClient, queryKeys, usePhrases } from "../api/queries";
import type { Phrase } from "../api/types";
import { positionAt } from "../chats/groups";
import { Button, IconButton } from "../ui/Button";
import { EmptyState, ErrorState, LoadingState } from "../ui/states";
import { toast } from "../ui/Toasts";

// As the backend bounds a phrase.
const MAX_PHRASE = 16_384;

const reload = () => queryClient.invalidateQueries({ queryKey: queryKeys.phrases });

/** Runs a change of the phrases; a refusal is said. */
async function act(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    await reload();
    return true;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    toast(i18next.t("settings.phrase.notSaved", { error: text }));
    return false;
  }
}

const add = (text: string) => act(() => unwrap(api.POST("/api/v1/phrases", { body: { text } })));
const change = (id: string, body: { text?: string; position?: number }) =>
  act(() => unwrap(api.PATCH("/api/v1/phrases/{id}", { params: { path: { id } }, body })));

async function remove(phrase: Phrase): Promise<void> {
  const gone = await act(() =>
    unwrap(api.DELETE("/api/v1/phrases/{id}", { params: { path: { id: phrase.id } } })),
  );
  if (!gone) return;
  toast(i18next.t("settings.phrase.deleted"), {
    label: i18next.t("common.undo"),
    run: () =>
      void act(async () => {
        const { id } = await unwrap(api.POST("/api/v1/phrases", { body: { text: phrase.text } }));
        await unwrap(
          api.PATCH("/api/v1/phrases/{id}", {
            params: { path: { id } },
            body: { position: phrase.position },
          }),
        );
      }),
  });
}

export function Phrases() {
  const { t } = useTranslation();
  const phrases = usePhrases();
  if (phrases.isError) {
    return (
      <ErrorState
        title={t("settings.phrase.failed")}
        text={t("states.stillWorks")}
        detail={phrases.error.message}
        onRetry={() => void phrases.refetch()}
      />
    );
  }
  if (!phrases.data) return <LoadingState what={t("settings.phrase.loading")} />;
  return (
    <>
      <AddPhrase />
      {phrases.data.length === 0 ? (
        <EmptyState title={t("settings.phrase.empty")} text={t("settings.phrase.emptyText")} />
      ) : (
        <PhraseList phrases={phrases.data} />
      )}
    </>
  );
}

function AddPhrase() {
  const { t } = useTranslation();
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) void add(text.trim()).then((taken) => taken && setText(""));
  };
  return (
    <form className="row addline" onSubmit={submit}>
      <input
        className="inp"
        aria-label={t("settings.phrase.add")}
        placeholder={t("settings.phrase.placeholder")}
        maxLength={MAX_PHRASE}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button submit icon="plus">
        {t("settings.phrase.add")}
      </Button>
    </form>
  );
}

function PhraseList({ phrases }: { phrases: Phrase[] }) {
  const { t } = useTranslation();
  const [said, setSaid] = useState("");
  const move = (phrase: Phrase, place: number) => {
    setSaid(t("settings.phrase.moved", { place: place + 1 }));
    void change(phrase.id, { position: positionAt(phrases, phrase.id, place) });
  };
  return (
    <>
      <ol className="phrases">
        {phrases.map((phrase, place) => (
          <PhraseRow
            key={phrase.id}
            phrase={phrase}
            place={place}
            last={place === phrases.length - 1}
            onMove={(to) => move(phrase, to)}
          />
        ))}
      </ol>
      <span className="vh" role="status">
        {said}
      </span>
    </>
  );
}

type RowProps = { phrase: Phrase; place: number; last: boolean; onMove: (place: number) => void };

/** A phrase is edited where it stands; leaving it saves. */
function PhraseRow({ phrase, place, last, onMove }: RowProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState<string>();
  const text = typed ?? phrase.text;
  const commit = () => {
    if (typed === undefined) return;
    if (typed.trim() === "" || typed.trim() === phrase.text) return setTyped(undefined);
    void change(phrase.id, { text: typed.trim() }).then((taken) => taken && setTyped(undefined));
  };
  return (
    <li className="row">
      <textarea
        className="inp"
        rows={Math.min(6, text.split("\n").length)}
        aria-label={t("settings.phrase.text", { place: place + 1 })}
        maxLength={MAX_PHRASE}
        value={text}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || typed === undefined) return;
          event.preventDefault();
          setTyped(undefined);
        }}
      />
      <IconButton
        small
        icon="up"
        label={t("settings.phrase.up")}
        off={place === 0 ? t("settings.phrase.first") : undefined}
        onClick={() => onMove(place - 1)}
      />
      <IconButton
        small
        icon="down2"
        label={t("settings.phrase.down")}
        off={last ? t("settings.phrase.last") : undefined}
        onClick={() => onMove(place + 1)}
      />
      <IconButton small icon="x" label={t("settings.phrase.delete")} onClick={() => void remove(phrase)} />
    </li>
  );
}
