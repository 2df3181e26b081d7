import { useTranslation } from "react-i18next";
import { useAgent } from "../api/queries";
import type { Attention } from "../api/types";
import { shortPaths } from "../chats/groups";
import { useLive } from "../stream/store";
import { Age } from "../ui/Clock";
import { Signal } from "../ui/Signal";
import { attentionIsBad, attentionSignal } from "./kinds";
import { keyOf } from "./queue";

/** What was worked off here, so that one sees what was done. */
export type Done = { key: string; title: string; text: string };

type Props = {
  list: readonly Attention[];
  done: readonly Done[];
  at: number;
  onChoose: (place: number) => void;
};

export function List({ list, done, at, onChoose }: Props) {
  const { t } = useTranslation();
  return (
    <div className="list">
      <div role="listbox" aria-label={t("attention.list")}>
        {list.map((one, place) => (
          <Entry key={keyOf(one)} one={one} chosen={place === at} onChoose={() => onChoose(place)} />
        ))}
      </div>
      {done.map((one) => (
        <div key={one.key} className="it dn">
          <Signal name="done" />
          <span className="ti ell">{one.title}</span>
          <span />
          <span className="w ell">{one.text}</span>
        </div>
      ))}
    </div>
  );
}

function Entry({ one, chosen, onChoose }: { one: Attention; chosen: boolean; onChoose: () => void }) {
  const { t } = useTranslation();
  const agent = useAgent(one.agent);
  const cwd = useLive((state) => state.chats.get(one.chat)?.cwd);
  const bad = attentionIsBad(one.kind);
  const folder = cwd && (shortPaths([cwd]).get(cwd) ?? cwd);
  return (
    <div
      className="it inset"
      role="option"
      aria-selected={chosen}
      tabIndex={chosen ? 0 : -1}
      onClick={onChoose}
    >
      <Signal name={attentionSignal[one.kind]} />
      <span className="ti med ell">{one.title}</span>
      <span className={`t11 num ${bad ? "dan" : "ter"}`}>
        <Age at={one.at} />
      </span>
      <span className={`w ell ${bad ? "dan" : ""}`}>{one.text}</span>
      <span className="f">
        <span>{t(`attention.kind.${one.kind}`)}</span>
        <span className="ell">{agent?.title ?? one.agent}</span>
        {folder && <span className="ell">{folder}</span>}
      </span>
    </div>
  );
}
