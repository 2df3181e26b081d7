import type { TFunction } from "i18next";
import {
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
} from "react";
import { useTranslation } from "react-i18next";
import "./composer.css";
import type { Agent, Chat } from "../api/types";
import { isComposing } from "../app/keys";
import { useCommand } from "../app/registry";
import { changeChat } from "../chats/actions";
import { isLive } from "../chats/chatFacts";
import { bytes } from "../i18n/format";
import { useLive } from "../stream/store";
import { Button, IconButton } from "../ui/Button";
import { Tooltip } from "../ui/Tooltip";
import { Icon } from "../ui/Icon";
import { toast } from "../ui/Toasts";
import { Attachments } from "./Attachments";
import { Choices } from "./Choices";
import { ContextRing } from "./ContextRing";
import { attach, draftOf, loadDraft, saveDraft, setDraft, takeDraft, useDraft } from "./drafts";
import { forgetRefusal, post, useRefusal } from "./outbox";
import { Phrases } from "./Phrases";
import { StopButton } from "./StopButton";
import { complete, tokenAt } from "./suggest";
import { SuggestMenu, useSuggestions } from "./SuggestMenu";
import { keysOf } from "../app/keys";

// As the backend bounds them (POST turns).
const MAX_CHARS = 4_194_304;
const MAX_FILES = 32;
// More than this is pasted as a file: a text field of it is slow, and nobody reads it there.
const PASTE_AS_FILE = 32_000;
// Beyond this the field has its full height anyway; measuring it would lay out all of it.
const MEASURE_CHARS = 20_000;
const MAX_HEIGHT_PX = 320;

export function Composer({ chat, agent }: { chat: Chat; agent: Agent | undefined }) {
  const { t } = useTranslation();
  if (chat.archived) {
    return (
      <div className="comp archived row">
        <span className="sec grow">{t("composer.archived")}</span>
        <Button small onClick={() => void changeChat(chat, { archived: false })}>
          {t("composer.unarchive")}
        </Button>
      </div>
    );
  }
  return <Editor key={chat.id} chat={chat} agent={agent} />;
}

function Editor({ chat, agent }: { chat: Chat; agent: Agent | undefined }) {
  const { t } = useTranslation();
  const draft = useDraft(chat.id);
  const online = useLive((state) => state.connection.state === "online");
  const field = useRef<HTMLTextAreaElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState(0);
  const menu = useId();
  const agentTitle = agent?.title ?? chat.agent;
  const live = isLive(chat);

  useEffect(() => {
    void loadDraft(chat.id);
    return () => void saveDraft(chat.id);
  }, [chat.id]);
  useFieldHeight(field, draft.text);

  const setText = (text: string, at?: number) => {
    forgetRefusal(chat.id);
    setDraft(chat.id, { text });
    if (at === undefined) return;
    setCaret(at);
    requestAnimationFrame(() => field.current?.setSelectionRange(at, at));
  };

  const add = useAttach(chat, agent);
  useCommand("composer.attach", () => files.current?.click());
  useCommand("composer.focus", () => field.current?.focus());

  const off = sendOff(draft, chat, t);
  const send = () => {
    if (off !== undefined) {
      // The key says nothing by itself why it did not send.
      if (off !== t("composer.empty")) toast(off);
      return;
    }
    post({ chat: chat.id, ...takeDraft(chat.id) });
    field.current?.focus();
  };

  const token = tokenAt(draft.text, caret);
  const choose = (value: string) => {
    if (!token) return;
    const next = complete(draft.text, token, value);
    setText(next.text, next.caret);
  };
  const suggestions = useSuggestions(chat, token, agentTitle, choose);

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event.nativeEvent)) return;
    if (suggestions.onKeyDown(event)) {
      event.preventDefault();
      return;
    }
    if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
    event.preventDefault();
    send();
  };

  const onPaste = (event: ClipboardEvent) => {
    const pasted = [...event.clipboardData.files];
    if (pasted.length > 0) {
      event.preventDefault();
      add(pasted);
      return;
    }
    const text = event.clipboardData.getData("text/plain");
    if (text.length <= PASTE_AS_FILE) return;
    event.preventDefault();
    add([new File([text], "pasted.txt", { type: "text/plain" })]);
    toast(t("composer.pasted", { size: bytes(text.length) }), {
      label: t("composer.insertInstead"),
      run: () => insertInstead(chat.id, text),
    });
  };

  const insert = (phrase: string) => {
    const at = field.current?.selectionStart ?? draft.text.length;
    const before = draft.text.slice(0, at);
    const gap = before && !/\s$/.test(before) ? " " : "";
    setText(before + gap + phrase + draft.text.slice(at), at + gap.length + phrase.length);
    field.current?.focus();
  };

  const placeholder = !online
    ? t("composer.offline")
    : live
      ? t("composer.queue", { agent: agentTitle })
      : t("composer.write", { agent: agentTitle });

  return (
    <section className="comp" aria-label={t("composer.region")} data-region="composer" {...useDrop(add)}>
      <Refusal chat={chat.id} />
      {draft.failed && draft.dirty && (
        <div className="comp-note dan">{t("composer.draftFailed", { error: draft.failed })}</div>
      )}
      <div className="field-wrap">
        <textarea
          ref={field}
          data-region-entry
          aria-label={t("composer.label")}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={suggestions.open ? menu : undefined}
          aria-activedescendant={
            suggestions.open && suggestions.list.length > 0 ? `${menu}-${suggestions.at}` : undefined
          }
          placeholder={placeholder}
          value={draft.text}
          rows={1}
          spellCheck
          onChange={(event) => {
            setText(event.currentTarget.value);
            setCaret(event.currentTarget.selectionStart);
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        {suggestions.open && (
          <SuggestMenu
            id={menu}
            label={
              token?.kind === "file"
                ? t("composer.files", { folder: chat.cwd })
                : t("composer.commands", { agent: agentTitle })
            }
            list={suggestions.list}
            note={suggestions.note}
            at={suggestions.at}
            onHover={suggestions.setActive}
            onChoose={choose}
          />
        )}
      </div>
      <Attachments chat={chat.id} draft={draft} />
      <div className="ctl">
        <IconButton
          icon="attach"
          label={t("composer.attach")}
          command="composer.attach"
          off={
            agent && !agent.capabilities.files && !agent.capabilities.images
              ? t("composer.noFiles", { agent: agentTitle })
              : undefined
          }
          onClick={() => files.current?.click()}
        />
        <input
          ref={files}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            add([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
        <Phrases text={draft.text} onInsert={insert} />
        <Choices chat={chat} agent={agent} />
        <span className="sp" />
        <ContextRing usage={chat.usage} />
        {live && <StopButton chat={chat} />}
        <SendButton off={off} queues={live} onSend={send} />
      </div>
    </section>
  );
}

function SendButton({
  off,
  queues,
  onSend,
}: {
  off: string | undefined;
  queues: boolean;
  onSend: () => void;
}) {
  const { t } = useTranslation();
  const label = queues ? t("composer.queueMessage") : t("composer.send");
  return (
    <Tooltip text={off ?? label} keys={off === undefined ? keysOf("composer.send") : undefined}>
      <button
        type="button"
        className="send"
        aria-label={label}
        aria-disabled={off !== undefined || undefined}
        onClick={onSend}
      >
        <Icon name="up" />
      </button>
    </Tooltip>
  );
}

function Refusal({ chat }: { chat: string }) {
  const { t } = useTranslation();
  const refusal = useRefusal(chat);
  if (!refusal) return null;
  return (
    <div className="comp-note dan row" role="alert">
      <span className="grow">{t("composer.refusedHere", { error: refusal.message })}</span>
      <IconButton small icon="x" label={t("common.dismiss")} onClick={() => forgetRefusal(chat)} />
    </div>
  );
}

/** Why nothing can be sent now. */
function sendOff(draft: ReturnType<typeof useDraft>, chat: Chat, t: TFunction): string | undefined {
  if (chat.state === "fenced") return t("composer.fenced");
  if (draft.uploads.some((upload) => !upload.error)) return t("composer.uploading");
  if (draft.text.length > MAX_CHARS) return t("composer.tooLong", { max: MAX_CHARS });
  if (draft.text.trim() === "" && draft.attachments.length === 0) return t("composer.empty");
  return undefined;
}

/** The pasted file goes, its text comes. */
function insertInstead(chat: string, text: string): void {
  const draft = draftOf(chat);
  setDraft(chat, {
    text: draft.text + text,
    attachments: draft.attachments.filter(
      (one) => !(one.name === "pasted.txt" && one.size === new Blob([text]).size),
    ),
  });
}

/** The field grows with its text, up to a limit. (WebKitGTK has no field-sizing.) */
function useFieldHeight(field: React.RefObject<HTMLTextAreaElement | null>, text: string): void {
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    if (text.length > MEASURE_CHARS) {
      element.style.height = `${MAX_HEIGHT_PX}px`;
      return;
    }
    element.style.height = "";
    const rest = element.clientHeight;
    if (element.scrollHeight > rest)
      element.style.height = `${Math.min(element.scrollHeight, MAX_HEIGHT_PX)}px`;
  }, [field, text]);
}

/** Takes files the agent can read, and says of the others why not. */
function useAttach(chat: Chat, agent: Agent | undefined) {
  const { t } = useTranslation();
  return useCallback(
    (chosen: File[]) => {
      const title = agent?.title ?? chat.agent;
      const held = draftOf(chat.id);
      let room = MAX_FILES - held.attachments.length - held.uploads.length;
      for (const file of chosen) {
        const image = file.type.startsWith("image/");
        if (
          agent &&
          !(image ? agent.capabilities.images || agent.capabilities.files : agent.capabilities.files)
        ) {
          toast(image ? t("composer.noImages", { agent: title }) : t("composer.noFiles", { agent: title }));
          continue;
        }
        if (room-- <= 0) {
          toast(t("composer.tooMany", { max: MAX_FILES }));
          return;
        }
        void attach(chat.id, file);
      }
    },
    [chat.id, chat.agent, agent, t],
  );
}

function useDrop(add: (files: File[]) => void) {
  const [over, setOver] = useState(false);
  return {
    "data-drop": over || undefined,
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      setOver(false);
      const files = [...event.dataTransfer.files];
      if (files.length === 0) return;
      event.preventDefault();
      add(files);
    },
  };
}
