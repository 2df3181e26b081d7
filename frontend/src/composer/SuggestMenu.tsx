import { useQuery } from "@tanstack/react-query";
import { useEffect, useState, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import { api, unwrap } from "../api/client";
import { queryKeys, useAgentCommands } from "../api/queries";
import type { Chat } from "../api/types";
import { Icon } from "../ui/Icon";
import { rank, type Token } from "./suggest";

const SHOWN = 40;
// A pause in typing this long asks the backend.
const ASK_AFTER_MS = 120;

export type Suggestion = {
  value: string;
  label: string;
  note?: string;
  hint?: string;
  icon: "file" | "folder" | "term";
};

type Found = { list: Suggestion[]; note: string | undefined };

function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

function useCommandSuggestions(chat: Chat, token: Token | undefined, agentTitle: string): Found {
  const { t } = useTranslation();
  const wanted = token?.kind === "command";
  const { data } = useAgentCommands(chat.id, wanted);
  if (!wanted || !data) return { list: [], note: undefined };
  const list = rank(data, token.query)
    .slice(0, SHOWN)
    .map((command): Suggestion => ({
      value: `/${command.name}`,
      label: `/${command.name}`,
      icon: "term",
      ...(command.description ? { note: command.description } : {}),
      ...(command.hint ? { hint: command.hint } : {}),
    }));
  const none =
    data.length === 0
      ? t("composer.commandsLater", { agent: agentTitle })
      : t("composer.noCommands", { agent: agentTitle });
  return { list, note: list.length === 0 ? none : undefined };
}

function useFileSuggestions(chat: Chat, token: Token | undefined): Found {
  const { t } = useTranslation();
  const query = useSettled(token?.kind === "file" ? token.query : "", ASK_AFTER_MS);
  const wanted = token?.kind === "file";
  const { data, isPlaceholderData } = useQuery({
    queryKey: queryKeys.files(chat.id, query),
    enabled: wanted,
    // Files come and go while an agent works.
    staleTime: 5_000,
    placeholderData: (held) => held,
    queryFn: () =>
      unwrap(
        api.GET("/api/v1/chats/{id}/files", {
          params: { path: { id: chat.id }, query: { query, limit: SHOWN } },
        }),
      ),
  });
  if (!wanted || !data) return { list: [], note: undefined };
  // The answer to an older query may still stand: what does not fit any more is not offered.
  const named = data.files.map((file) => ({ ...file, name: file.path }));
  const list = (token.query === query && !isPlaceholderData ? named : rank(named, token.query)).map(
    (file): Suggestion => ({
      value: `@${file.path}`,
      label: file.path,
      icon: file.dir ? "folder" : "file",
    }),
  );
  return {
    list,
    note:
      list.length === 0 ? t("composer.noFilesFound") : data.truncated ? t("composer.moreFiles") : undefined,
  };
}

/** The menu at the caret: what it offers, and the keys that work in it. */
export function useSuggestions(
  chat: Chat,
  token: Token | undefined,
  agentTitle: string,
  onChoose: (value: string) => void,
) {
  const commands = useCommandSuggestions(chat, token, agentTitle);
  const files = useFileSuggestions(chat, token);
  const { list, note } = token?.kind === "file" ? files : commands;
  const [active, setActive] = useState(0);
  const [dismissed, setDismissed] = useState<string>();
  const key = token && `${token.kind} ${token.start}`;
  useEffect(() => setActive(0), [key, token?.query]);
  const open = token !== undefined && dismissed !== key && (list.length > 0 || note !== undefined);
  const at = Math.min(active, list.length - 1);

  /** True when the key was the menu's. */
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!open) return false;
    if (event.key === "Escape") {
      setDismissed(key);
      return true;
    }
    if (list.length === 0) return false;
    switch (event.key) {
      case "ArrowDown":
        setActive((at + 1) % list.length);
        return true;
      case "ArrowUp":
        setActive((at - 1 + list.length) % list.length);
        return true;
      case "Tab":
      case "Enter": {
        if (event.shiftKey) return false;
        const chosen = list[at];
        // A command that is written out is sent, not completed.
        if (
          !chosen ||
          (event.key === "Enter" && token.kind === "command" && chosen.value === `/${token.query}`)
        )
          return false;
        onChoose(chosen.value);
        return true;
      }
      default:
        return false;
    }
  };
  return { open, list, note, at, setActive, onKeyDown };
}

type MenuProps = {
  id: string;
  label: string;
  list: Suggestion[];
  note: string | undefined;
  at: number;
  onHover: (at: number) => void;
  onChoose: (value: string) => void;
};

export function SuggestMenu({ id, label, list, note, at, onHover, onChoose }: MenuProps) {
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [id, at]);
  return (
    <div className="popup suggest">
      <div role="listbox" id={id} aria-label={label}>
        {list.map((one, place) => (
          <div
            key={one.value}
            id={`${id}-${place}`}
            role="option"
            aria-selected={place === at}
            className="lrow"
            onPointerMove={() => onHover(place)}
            // The text field keeps the focus.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => onChoose(one.value)}
          >
            <Icon name={one.icon} />
            <span className="mono t12 ell">{one.label}</span>
            {one.hint && <span className="t11 ter">{one.hint}</span>}
            {one.note && <span className="lnote ell grow">{one.note}</span>}
          </div>
        ))}
      </div>
      {note && <div className="glabel">{note}</div>}
    </div>
  );
}
