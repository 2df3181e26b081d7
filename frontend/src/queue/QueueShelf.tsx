import type { TFunction } from "i18next";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import "./queue.css";
import { api, unwrap } from "../api/client";
import { queryClient, queryKeys, useQueue } from "../api/queries";
import type { Chat, Turn } from "../api/types";
import { useCommand } from "../app/registry";
import { takeBack, useOutbox, type Outgoing } from "../composer/outbox";
import { useLive } from "../stream/store";
import { Button, IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Signal } from "../ui/Signal";
import { toast } from "../ui/Toasts";

/** Messages that wait behind the running turn, and those that did not reach the backend yet. */
export function QueueShelf({ chat, agentTitle }: { chat: Chat; agentTitle: string }) {
  const { data } = useQueue(chat.id, chat.queued > 0);
  const turns = chat.queued > 0 ? (data ?? []) : [];
  const outgoing = useOutbox((state) => state.list);
  const mine = outgoing.filter((one) => one.chat === chat.id);
  return (
    <>
      {turns.length > 0 && <Queue chat={chat} turns={turns} agentTitle={agentTitle} />}
      {mine.length > 0 && <OutboxRows list={mine} />}
    </>
  );
}

async function change(chat: string, t: TFunction, act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    toast(t("queue.failed", { error: error instanceof Error ? error.message : String(error) }));
  }
  void queryClient.invalidateQueries({ queryKey: queryKeys.queue(chat) });
}

function Queue({ chat, turns, agentTitle }: { chat: Chat; turns: Turn[]; agentTitle: string }) {
  const { t } = useTranslation();
  const [folded, setFolded] = useState<boolean>();
  const held = turns.filter((turn) => turn.state === "held");
  const release = (turn?: string) =>
    void change(chat.id, t, () =>
      unwrap(
        api.POST("/api/v1/chats/{id}/queue/release", {
          params: { path: { id: chat.id } },
          body: turn ? { turn } : {},
        }),
      ),
    );
  const remove = (turn: Turn) =>
    void change(chat.id, t, () =>
      unwrap(api.DELETE("/api/v1/queue/{row}", { params: { path: { row: turn.id } } })),
    );
  useCommand("queue.release", () => release(), { when: held.length > 0 });
  const first = turns[0];
  return (
    <section
      className={`q ${folded === undefined ? "auto" : folded ? "folded" : ""}`}
      aria-label={t("queue.label", { count: turns.length })}
      data-region="queue"
    >
      {held.length > 0 && (
        <div className="qheld">
          <Signal name="held" />
          <span className="grow num">{t("queue.held", { count: held.length, why: why(held[0], t) })}</span>
          <Button small onClick={() => release()}>
            {t("queue.releaseAll")}
          </Button>
        </div>
      )}
      <button
        type="button"
        className="tool sum"
        aria-expanded={folded === false}
        onClick={() => setFolded(folded === false)}
      >
        <Icon name="chev" className="car" />
        <span className="v num">{t("queue.queued", { count: turns.length })}</span>
        <span className="ell">{first?.text}</span>
      </button>
      <div role="list" className="rows">
        {turns.map((turn, at) =>
          turn.state === "uncertain" ? (
            <UncertainRow
              key={turn.id}
              turn={turn}
              agentTitle={agentTitle}
              onAgain={() => release(turn.id)}
              onDiscard={() => remove(turn)}
            />
          ) : (
            <div key={turn.id} className="qr" role="listitem">
              <span className="pos num">{at + 1}</span>
              <span className="ell grow" title={turn.text.slice(0, 400)}>
                {turn.text || turn.attachments?.map((file) => file.name).join(", ")}
              </span>
              {(turn.attachments?.length ?? 0) > 0 && (
                <span className="tag num">{t("queue.files", { count: turn.attachments?.length ?? 0 })}</span>
              )}
              {turn.state === "held" && (
                <Button small look="quiet" onClick={() => release(turn.id)}>
                  {t("queue.release")}
                </Button>
              )}
              <IconButton small icon="x" label={t("queue.remove")} onClick={() => remove(turn)} />
            </div>
          ),
        )}
      </div>
    </section>
  );
}

function why(turn: Turn | undefined, t: TFunction): string {
  switch (turn?.reason) {
    case "stopped":
    case "failed":
    case "restart":
    case "interrupted":
      return t(`queue.because.${turn.reason}`);
    default:
      return t("queue.because.other");
  }
}

/** Held, and never sent again by itself: the user decides. */
function UncertainRow(props: { turn: Turn; agentTitle: string; onAgain: () => void; onDiscard: () => void }) {
  const { t } = useTranslation();
  return (
    <div className="quncertain" role="listitem">
      <div className="words ell">{props.turn.text}</div>
      <div className="row" style={{ gap: 8, alignItems: "flex-start" }}>
        <Signal name="uncertain" />
        <span className="t12 sec">
          <b className="med att">{t("queue.uncertain", { agent: props.agentTitle })}</b>{" "}
          {t("queue.uncertainText")}
        </span>
        <span className="sp" />
        <Button small onClick={props.onAgain}>
          {t("queue.sendAgain")}
        </Button>
        <Button small look="quiet" onClick={props.onDiscard}>
          {t("queue.discard")}
        </Button>
      </div>
    </div>
  );
}

/** Messages that wait for the connection. */
function OutboxRows({ list }: { list: readonly Outgoing[] }) {
  const { t } = useTranslation();
  const online = useLive((state) => state.connection.state === "online");
  return (
    <div className="q outbox" role="list">
      {list.map((one) => (
        <div key={one.id} className="qr" role="listitem">
          <Signal name={online ? "running" : "offline"} />
          <span className="ell grow">{one.text || one.attachments.map((file) => file.name).join(", ")}</span>
          <span className="t11 ter nowrap">{online ? t("composer.sending") : t("composer.outgoing")}</span>
          {!online && (
            <IconButton small icon="undo" label={t("composer.takeBack")} onClick={() => takeBack(one.id)} />
          )}
        </div>
      ))}
    </div>
  );
}
