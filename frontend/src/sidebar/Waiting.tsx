import { useTranslation } from "react-i18next";
import { useAttention } from "../api/queries";
import { attentionIsBad, attentionSignal } from "../attention/kinds";
import { openChat, show } from "../app/view";
import { keysOf } from "../app/keys";
import { Age } from "../ui/Clock";
import { Keys } from "../ui/Keys";
import { Signal } from "../ui/Signal";
import { RowBody } from "./ChatRow";
import { useListKeys } from "./listKeys";

/** What waits for the human, above all chats, oldest first. Nothing is shown while nothing waits. */
export function Waiting() {
  const { t } = useTranslation();
  const { data } = useAttention();
  const keys = useListKeys();
  if (!data || data.length === 0) return null;
  return (
    <section className="att-q" aria-label={t("sidebar.waiting")}>
      <button
        type="button"
        className="sh"
        onClick={() => show({ name: "attention" })}
        title={t("sidebar.workQueue")}
      >
        <b>{t("sidebar.waiting")}</b>
        <span className="num">{data.length}</span>
        <span className="sp" />
        <Keys keys={keysOf("attention.next") ?? ""} />
      </button>
      <div role="listbox" aria-label={t("sidebar.waitingList")} {...keys}>
        {data.map((one, place) => (
          <div
            key={`${one.chat} ${one.request ?? one.turn ?? one.kind}`}
            className="chat inset"
            role="option"
            aria-selected={false}
            tabIndex={place === 0 ? 0 : -1}
            title={`${one.title}\n${one.text}`}
            onClick={() => openChat(one.chat)}
          >
            <RowBody
              signal={<Signal name={attentionSignal[one.kind]} />}
              title={one.title}
              time={<Age at={one.at} />}
              timeClass={attentionIsBad(one.kind) ? "dan" : ""}
            >
              <span className={`ell ${attentionIsBad(one.kind) ? "dan" : ""}`}>{one.text}</span>
            </RowBody>
          </div>
        ))}
      </div>
    </section>
  );
}
