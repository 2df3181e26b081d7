import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Chat, FileDiff } from "../api/types";
import { isLive } from "../chats/chatFacts";
import { clock } from "../i18n/format";
import { useLive } from "../stream/store";
import { shownPath } from "../timeline/context";
import { Counts } from "../timeline/DiffCard";
import { Icon } from "../ui/Icon";
import { EmptyState } from "../ui/states";
import { byFolder, type TurnChanges } from "./facts";

// Bars beyond this would be thinner than a pointer.
const SHOWN_TURNS = 40;

/** What each turn changed, and its files. */
export function Changes({ chat, turns }: { chat: Chat; turns: readonly TurnChanges[] }) {
  const { t } = useTranslation();
  const partly = useLive((state) => state.timelines.get(chat.id)?.hasBefore ?? false);
  const [chosen, setChosen] = useState<string>();
  const shown = turns.slice(-SHOWN_TURNS);
  const withFiles = turns.filter((turn) => turn.files.length > 0);
  if (withFiles.length === 0)
    return <EmptyState title={t("inspector.noChanges")} text={t("inspector.noChangesText")} />;
  const current = turns.find((turn) => turn.turn === chosen) ?? withFiles.at(-1);
  if (!current) return null;
  const most = Math.max(...shown.map((turn) => turn.added + turn.removed), 1);
  const at = turns.indexOf(current);
  return (
    <>
      {shown.length > 1 && (
        <div className="turns" role="group" aria-label={t("inspector.byTurn")}>
          {shown.map((turn) => (
            <button
              key={turn.turn}
              type="button"
              aria-pressed={turn === current}
              aria-label={`${t("inspector.turnAt", { time: clock(turn.at) })}: ${t("timeline.changes", { added: turn.added, removed: turn.removed })}`}
              title={t("inspector.turnAt", { time: clock(turn.at) })}
              onClick={() => setChosen(turn.turn)}
            >
              <i style={{ height: `${Math.max(6, ((turn.added + turn.removed) / most) * 100)}%` }} />
            </button>
          ))}
        </div>
      )}
      <div className="scope">
        <span className="med">{t("inspector.turnAt", { time: clock(current.at) })}</span>
        <span className="t11 ter num">
          {!partly && t("inspector.scope", { n: at + 1, all: turns.length })}
          {isLive(chat) && current.turn === chat.turn?.id && ` ${t("inspector.running")}`}
        </span>
        <span className="sp" />
        <Counts added={current.added} removed={current.removed} />
      </div>
      <Files files={current.files} cwd={chat.cwd} />
      {partly && <p className="t11 ter partly">{t("inspector.onlyShown")}</p>}
    </>
  );
}

const letters = { added: "A", modified: "M", deleted: "D", renamed: "R" } as const;

function Files({ files, cwd }: { files: readonly FileDiff[]; cwd: string }) {
  const { t } = useTranslation();
  const folders = byFolder(files, (path) => shownPath(path, cwd));
  return (
    <ul aria-label={t("inspector.files")} className="files">
      {folders.map((folder) => (
        <li key={folder.path}>
          {folder.path && (
            <div className="tr">
              <Icon name="folder" />
              <span className="sec ell">{folder.path}</span>
            </div>
          )}
          <ul>
            {folder.files.map((file) => (
              <li
                key={file.path}
                className="tr"
                style={{ paddingLeft: folder.path ? 24 : 8 }}
                title={file.path}
              >
                <span
                  className={`l ${file.change === "added" ? "suc" : file.change === "deleted" ? "dan" : "ter"}`}
                >
                  {letters[file.change]}
                </span>
                <span className="ell">{shownPath(file.path, cwd).split("/").at(-1)}</span>
                <span className="ch">
                  <Counts added={file.added} removed={file.removed} />
                </span>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}
