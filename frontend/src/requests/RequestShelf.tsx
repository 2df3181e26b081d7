import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import "./requests.css";
import { api, unwrap } from "../api/client";
import { useSettings } from "../api/queries";
import type { AskRequest, Chat, GivenAnswer, Item } from "../api/types";
import { commandKeys } from "../app/commands";
import { inTextField, isComposing, keysOf, matchesKeys } from "../app/keys";
import { focusRegion } from "../app/regions";
import { useLive } from "../stream/store";
import { announceNow } from "../ui/announce";
import { IconButton } from "../ui/Button";
import { Age } from "../ui/Clock";
import { Keys } from "../ui/Keys";
import { Signal } from "../ui/Signal";
import { answerRequest, choicesOf, isReject } from "./answer";
import { Approval } from "./Approval";
import { chooseByDigit, Question } from "./Question";
import { requestTitle } from "./title";

// A request that takes another's place is not answered by a key meant for it.
const GUARD_MS = 300;

/** The items of the requests that wait, from the timeline or, where they are outside its stretch, read for themselves. */
function useWaiting(chat: Chat): Item[] {
  const waiting = chat.waiting ?? [];
  const stretch = useLive((state) => state.timelines.get(chat.id));
  const held = waiting.map((one) => stretch?.items[stretch.places.get(one.item) ?? -1]);
  const missing = held.some((item) => item === undefined);
  const { data } = useQuery({
    queryKey: ["requests", chat.id, waiting.map((one) => one.request).join()],
    enabled: missing && stretch?.phase === "ready",
    queryFn: async () =>
      (await unwrap(api.GET("/api/v1/chats/{id}/requests", { params: { path: { id: chat.id } } }))).requests,
  });
  return waiting.flatMap((one, at) => held[at] ?? data?.find((item) => item.id === one.item) ?? []);
}

/** What the agent asks, above the composer. It takes no focus by itself. */
export function RequestShelf({ chat }: { chat: Chat }) {
  const items = useWaiting(chat);
  const [at, setAt] = useState(0);
  const item = items[Math.min(at, items.length - 1)];
  if (!item?.body.request) return null;
  return (
    <Request
      key={item.id}
      item={item}
      request={item.body.request}
      home={chat.cwd}
      place={items.indexOf(item)}
      all={items.length}
      onGo={setAt}
    />
  );
}

type RequestProps = {
  home: string;
  item: Item;
  request: AskRequest;
  place: number;
  all: number;
  onGo: (at: number) => void;
};

function Request({ item, request, home, place, all, onGo }: RequestProps) {
  const { t } = useTranslation();
  const online = useLive((state) => state.connection.state === "online");
  const { data: settings } = useSettings();
  const [open, setOpen] = useState(true);
  const [busy, setBusy] = useState(false);
  const [giving, setGiving] = useState(false);
  const region = useRef<HTMLElement>(null);
  const since = useRef(Date.now());
  const question = item.kind === "question";
  const title = requestTitle(item, request, t);
  const off = busy ? t("requests.sending") : online ? undefined : t("requests.offline");

  useEffect(() => {
    announceNow(t("requests.announce", { title, command: request.command ?? "" }));
    // Once for each request: it is mounted anew for each.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  const answer = async (given: GivenAnswer) => {
    if (off !== undefined || Date.now() - since.current < GUARD_MS) return;
    const hadFocus = region.current?.contains(document.activeElement) ?? false;
    setBusy(true);
    const taken = await answerRequest(request.id, given);
    if (!taken) setBusy(false);
    // To the next request if one waits, else back to where words are written.
    if (taken && hadFocus)
      requestAnimationFrame(() => void (focusRegion("request") || focusRegion("composer")));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const { nativeEvent } = event;
    if (question && event.target === region.current && /^[1-9]$/.test(event.key)) {
      if (settings?.letter_keys !== false && chooseByDigit(region.current, Number(event.key)))
        event.preventDefault();
      return;
    }
    if (
      question ||
      settings?.letter_keys === false ||
      isComposing(nativeEvent) ||
      inTextField(nativeEvent) ||
      event.repeat
    )
      return;
    const pressed = (
      id:
        | "request.allow_once"
        | "request.allow_session"
        | "request.allow_always"
        | "request.deny"
        | "request.deny_reason",
    ) => matchesKeys(nativeEvent, commandKeys(id).keys ?? "");
    const choices = choicesOf(request, { allowOnce: "", allowSession: "", deny: "" });
    const byKey = (key: string) => choices.find((choice) => choice.key === key)?.option;
    if (pressed("request.deny_reason")) {
      if (!choices.some(({ option }) => isReject(option) && option.reason)) return;
      event.preventDefault();
      setGiving(true);
      return;
    }
    const option = pressed("request.allow_once")
      ? byKey("A")
      : pressed("request.allow_session")
        ? byKey("S")
        : pressed("request.allow_always")
          ? byKey("R")
          : pressed("request.deny")
            ? byKey("D")
            : undefined;
    if (!option) return;
    event.preventDefault();
    void answer({ option: option.id });
  };

  return (
    <section
      ref={region}
      className="req inset"
      role="region"
      aria-label={question ? t("requests.question") : t("requests.approval")}
      data-region="request"
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div className="row reqh">
        <Signal name={question ? "question" : "approval"} />
        <span className="med ell" title={title}>
          {title}
        </span>
        <span className="t12 ter num hide-sm nowrap">
          <AskedAgo at={item.at} />
        </span>
        <span className="sp" />
        {all > 1 && (
          <>
            <IconButton
              small
              icon="back"
              label={t("requests.previous")}
              onClick={() => onGo((place - 1 + all) % all)}
            />
            <span className="t11 ter num nowrap">{t("requests.of", { at: place + 1, all })}</span>
            <IconButton
              small
              icon="chev"
              label={t("requests.next")}
              onClick={() => onGo((place + 1) % all)}
            />
          </>
        )}
        <span className="t11 ter hide-sm cq-m nowrap">
          {t("requests.answerWith")} <Keys keys={keysOf("attention.next") ?? ""} />
        </span>
        <IconButton
          small
          icon={open ? "down" : "chev"}
          aria-expanded={open}
          label={open ? t("requests.collapse") : t("requests.expand")}
          onClick={() => setOpen(!open)}
        />
      </div>
      {open &&
        (question ? (
          <Question request={request} off={off} onAnswer={(given) => void answer(given)} />
        ) : (
          <Approval
            request={request}
            home={home}
            off={off}
            onAnswer={(given) => void answer(given)}
            giving={giving}
            onGiving={setGiving}
          />
        ))}
    </section>
  );
}

function AskedAgo({ at }: { at: string }) {
  const { t } = useTranslation();
  // The words around the clock come from the catalogue, the clock runs by itself.
  const [before, after] = t("requests.askedAgo", { age: "\u0000" }).split("\u0000");
  return (
    <>
      {before}
      <Age at={at} />
      {after}
    </>
  );
}
