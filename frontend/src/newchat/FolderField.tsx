import { useEffect, useId, useRef, useState, type KeyboardEvent, type RefObject } from "react";
import { useTranslation } from "react-i18next";
import { api, unwrap } from "../api/client";
import { queryClient, useHealth } from "../api/queries";
import { isComposing } from "../app/keys";
import { platform } from "../app/platform";
import { nativeWindow } from "../transport/native";
import { Button, IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Signal } from "../ui/Signal";
import { asFolder, completed, parentOf, withTilde } from "./paths";
import { useFolders, useRecentFolders } from "./useFolders";

export type ChosenFolder = { path: string; exists: boolean };

type Props = {
  field: RefObject<HTMLInputElement | null>;
  value: string;
  onChange: (typed: string) => void;
  /** What the typed path stands for, as soon as it is known. */
  onFolder: (folder: ChosenFolder | undefined) => void;
  /** What the backend refused about it. */
  error: string | undefined;
};

type Row = { path: string; label: string; repo: boolean };

/**
 * The folder of a chat: typed with completion, gone through with the arrows
 * and the parent button, or one used before. Tab completes as in a shell and
 * leaves when there is nothing to complete.
 */
export function FolderField({ field, value, onChange, onFolder, error }: Props) {
  const { t } = useTranslation();
  const id = useId();
  const [typing, setTyping] = useState(false);
  const [active, setActive] = useState<number>();
  const folders = useFolders(value);
  const recent = useRecentFolders();
  const home = useHealth().data?.home;
  const found = folders.isPlaceholderData || value === "" ? undefined : folders.data;

  useEffect(() => {
    onFolder(found && { path: found.path, exists: found.exists });
    // What was found changes with the data only.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [found]);

  const rows: Row[] =
    typing || recent.length === 0
      ? (folders.data?.folders ?? []).map(({ path, name, repo }) => ({
          path,
          label: name,
          repo: repo ?? false,
        }))
      : recent.map((path) => ({ path, label: withTilde(path, home), repo: false }));

  const type = (text: string) => {
    onChange(text);
    setTyping(true);
    setActive(undefined);
  };
  /** Goes into a folder: its own folders are shown next. A recent one is just taken. */
  const choose = (row: Row) => {
    if (typing || recent.length === 0) type(asFolder(row.path));
    else onChange(row.path);
    field.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (isComposing(event.nativeEvent)) return;
    const take = () => event.preventDefault();
    if (event.altKey && event.key === "ArrowUp") {
      take();
      type(parentOf(found?.path ?? value));
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (rows.length === 0) return;
      take();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setActive((at) =>
        at === undefined ? (step > 0 ? 0 : rows.length - 1) : (at + step + rows.length) % rows.length,
      );
    } else if (event.key === "Enter" && active !== undefined && rows[active]) {
      take();
      choose(rows[active]);
      setActive(undefined);
    } else if (event.key === "Tab" && !event.shiftKey && typing && found) {
      const next = completed(
        value,
        found.folders.map((folder) => folder.name),
      );
      if (next === undefined) return;
      take();
      type(next);
    } else if (event.key === "Escape" && active !== undefined) {
      take();
      event.stopPropagation();
      setActive(undefined);
    }
  };

  const option = (at: number) => `${id}-${at}`;
  return (
    <div className="field">
      <label htmlFor={`${id}-field`}>{t("newchat.folder")}</label>
      <div className="row folder-line">
        <IconButton
          icon="up"
          label={t("newchat.up")}
          onClick={() => {
            type(parentOf(found?.path ?? (value || folders.data?.path || "/")));
            field.current?.focus();
          }}
        />
        <input
          ref={field}
          id={`${id}-field`}
          className="inp mono"
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={active === undefined ? undefined : option(active)}
          aria-describedby={`${id}-below`}
          aria-invalid={error ? true : undefined}
          autoComplete="off"
          spellCheck={false}
          placeholder={t("newchat.placeholder")}
          value={value}
          onChange={(event) => type(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {platform.native && <NativePicker start={found?.exists ? found.path : undefined} onPath={onChange} />}
      </div>
      <Below id={`${id}-below`} value={value} found={found} error={error} onCreated={onChange} />
      <ul
        id={`${id}-list`}
        role="listbox"
        aria-label={typing || recent.length === 0 ? t("newchat.matches") : t("newchat.recent")}
        className="folders"
      >
        {rows.map((row, at) => (
          <Option
            key={row.path}
            id={option(at)}
            row={row}
            active={at === active}
            chosen={row.path === found?.path}
            onChoose={() => choose(row)}
          />
        ))}
        {folders.data?.truncated && typing && (
          <li className="t11 ter note" role="presentation">
            {t("newchat.moreMatches")}
          </li>
        )}
        {rows.length === 0 && folders.data && (
          <li className="t12 ter note" role="presentation">
            {value === "" ? t("newchat.noRecent") : t("newchat.noMatches")}
          </li>
        )}
      </ul>
    </div>
  );
}

function Option(props: { id: string; row: Row; active: boolean; chosen: boolean; onChoose: () => void }) {
  const { t } = useTranslation();
  const { row, active } = props;
  const self = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (active) self.current?.scrollIntoView({ block: "nearest" });
  }, [active]);
  return (
    <li
      ref={self}
      id={props.id}
      role="option"
      aria-selected={active || props.chosen}
      className={`lrow ${active ? "on" : ""}`}
      // The field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={props.onChoose}
    >
      <Icon name="folder" />
      <span className="mono t12 path">
        {/* Cut at its beginning: the name is what tells. */}
        <bdi>{row.label}</bdi>
      </span>
      {row.repo && (
        <span className="t11 ter repo">
          <Icon name="branch" />
          {t("newchat.repo")}
        </span>
      )}
    </li>
  );
}

function Below(props: {
  id: string;
  value: string;
  found: { path: string; exists: boolean; folders: { path: string; repo?: boolean }[] } | undefined;
  error: string | undefined;
  onCreated: (path: string) => void;
}) {
  const { t } = useTranslation();
  const { id, value, found } = props;
  const [refused, setRefused] = useState<{ path: string; text: string }>();
  const error = props.error ?? (refused && refused.path === found?.path ? refused.text : undefined);
  const create = async () => {
    if (!found) return;
    try {
      const { path } = await unwrap(api.POST("/api/v1/folders", { body: { path: found.path } }));
      await queryClient.invalidateQueries({ queryKey: ["folders"] });
      props.onCreated(path);
    } catch (failed) {
      setRefused({ path: found.path, text: failed instanceof Error ? failed.message : String(failed) });
    }
  };
  if (error) {
    return (
      <div id={id} className="t11 dan below" role="alert">
        {error}
      </div>
    );
  }
  if (value === "" || !found) {
    return (
      <div id={id} className="t11 ter below">
        {value === "" ? t("newchat.typePath") : "\u00a0"}
      </div>
    );
  }
  const repo = found.folders.some((folder) => folder.path === found.path && folder.repo);
  return (
    <div id={id} className="t11 below" role="status">
      {found.exists ? (
        <span className="sec">
          <Signal name="done" /> {repo ? t("newchat.foundRepo") : t("newchat.found")}
        </span>
      ) : (
        <>
          <span className="sec">{t("newchat.missing")}</span>
          <button type="button" className="acc" onClick={() => void create()}>
            {t("newchat.create")}
          </button>
        </>
      )}
    </div>
  );
}

function NativePicker({ start, onPath }: { start: string | undefined; onPath: (path: string) => void }) {
  const { t } = useTranslation();
  const pick = async () => {
    const path = await nativeWindow.chooseFolder(t("newchat.chooseTitle"), start);
    if (path) onPath(path);
  };
  return <Button onClick={() => void pick().catch(() => {})}>{t("newchat.choose")}</Button>;
}
