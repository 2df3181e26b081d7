import i18next from "i18next";
import { useEffect, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { checkAgent } from "../agents/look";
import { wayOut } from "../agents/ways";
import { api, unwrap } from "../api/client";
import { queryClient, queryKeys, useAgent, useSettings } from "../api/queries";
import type { Agent, Attention, Chat, Turn } from "../api/types";
import { focusComposer } from "../app/focusComposer";
import { inTextField, isComposing, matchesKeys } from "../app/keys";
import { openChat, openLayer, show } from "../app/view";
import { markRead } from "../chats/actions";
import { post } from "../composer/outbox";
import { dollars, duration } from "../i18n/format";
import { Markdown } from "../timeline/Markdown";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/copy";
import { Icon } from "../ui/Icon";
import { toast } from "../ui/Toasts";
import { changedFiles, lastSaid, useLastItems } from "./details";

type Props = { one: Attention; chat: Chat | undefined; onDone: (text: string) => void };

/** What has ended, or waits for more than an answer: what happened, what it means, what can be done. */
export function Outcome(props: Props) {
  switch (props.one.kind) {
    case "finished":
      return <Finished {...props} />;
    case "failed":
      return <Failed {...props} />;
    case "held":
      return <Held {...props} />;
    case "uncertain":
      return <Uncertain {...props} />;
    default:
      return <Fenced {...props} />;
  }
}

// Files listed; the chat shows all of them.
const MAX_FILES = 6;

function Finished({ one, chat, onDone }: Props) {
  const { t } = useTranslation();
  const items = useLastItems(one);
  const said = items && lastSaid(items);
  const files = items ? changedFiles(items, one.turn) : [];
  const turn = turnOf(one, chat);
  const reply = () => {
    openChat(one.chat);
    focusComposer();
  };
  useLetter("C", reply);
  return (
    <>
      <h2>{one.title}</h2>
      {said?.body.text ? (
        <div className="lead">
          <Markdown text={said.body.text} live={false} />
        </div>
      ) : (
        <p className="lead">{one.text}</p>
      )}
      <dl className="fx num">
        {turn?.started_at && turn.ended_at && (
          <Fact name={t("attention.worked")}>
            {duration(Date.parse(turn.ended_at) - Date.parse(turn.started_at))}
          </Fact>
        )}
        {chat?.usage?.cost_usd !== undefined && (
          <Fact name={t("attention.cost")}>
            {t("attention.stated", { cost: dollars(chat.usage.cost_usd) })}
          </Fact>
        )}
      </dl>
      {files.length > 0 && (
        <ul className="fts" aria-label={t("attention.files")}>
          {files.slice(0, MAX_FILES).map((file) => (
            <li key={file.path} className="ft">
              <Icon name="file" className="ter" />
              <span className="mono ell">{file.path}</span>
              <span className="ch">
                {file.added > 0 && <span className="add">+{file.added}</span>}
                {file.removed > 0 && <span className="del">−{file.removed}</span>}
              </span>
            </li>
          ))}
          {files.length > MAX_FILES && (
            <li className="ft ter">{t("attention.moreFiles", { count: files.length - MAX_FILES })}</li>
          )}
        </ul>
      )}
      <div className="opts">
        <OpenChat one={one} primary />
        <Seen one={one} chat={chat} onDone={onDone} />
        <Button large look="quiet" hint="C" onClick={reply}>
          {t("attention.reply")}
        </Button>
      </div>
    </>
  );
}

function Failed({ one, chat, onDone }: Props) {
  const { t } = useTranslation();
  const turn = turnOf(one, chat);
  const error = turn?.error;
  const agent = useAgent(one.agent);
  return (
    <>
      <h2>{error?.text ?? one.text}</h2>
      <p className="lead">{t("attention.failedText")}</p>
      {error?.detail && (
        <div className="cmd" role="group" aria-label={t("attention.lastLine")}>
          {error.detail}
          <CopyButton text={() => error.detail ?? ""} label={t("agents.copyLine")} />
        </div>
      )}
      <YourMessage turn={turn} />
      <div className="opts">
        <WayOn one={one} turn={turn} agent={agent} onDone={onDone} />
        <Seen one={one} chat={chat} onDone={onDone} />
        <OpenChat one={one} />
      </div>
    </>
  );
}

/** What puts right what failed, as the agent says; else the same message once more. */
function WayOn(props: {
  one: Attention;
  turn: Turn | undefined;
  agent: Agent | undefined;
  onDone: Props["onDone"];
}) {
  const { t } = useTranslation();
  const { one, turn, agent, onDone } = props;
  const way =
    turn?.error?.action === "sign_in" && agent?.login
      ? { kind: "login" as const, argv: agent.login }
      : turn?.error?.action === "install" && agent?.install
        ? { kind: "install" as const, argv: agent.install }
        : agent && wayOut(agent);
  const again = turn && (
    <Button
      large
      {...(way ? {} : { look: "primary" as const, "data-enter": true, hint: "Enter" })}
      onClick={() => {
        post({ chat: one.chat, text: turn.text, attachments: turn.attachments ?? [] });
        onDone(t("attention.done.acted"));
      }}
    >
      {t("attention.sendAgain")}
    </Button>
  );
  if (turn?.error?.action === "open_settings") {
    return (
      <Button large look="primary" data-enter onClick={() => show({ name: "settings", page: "agents" })}>
        {t("attention.setUp")}
      </Button>
    );
  }
  if (!way || !agent) return again;
  const words = { install: t("agents.install"), login: t("agents.signIn"), update: t("agents.update") };
  return (
    <>
      <Button
        large
        look="primary"
        data-enter
        hint="Enter"
        onClick={() =>
          openLayer({
            name: "terminal",
            job: {
              title: t(`agents.title.${way.kind}`, { agent: agent.title }),
              agent: agent.name,
              argv: way.argv,
            },
          })
        }
      >
        {words[way.kind]}
      </Button>
      <Button large onClick={() => void checkAgent(agent.name)}>
        {t("attention.checkAgain")}
      </Button>
      {again}
    </>
  );
}

function Held({ one, chat, onDone }: Props) {
  const { t } = useTranslation();
  const release = () =>
    act(one.chat, () =>
      unwrap(api.POST("/api/v1/chats/{id}/queue/release", { params: { path: { id: one.chat } }, body: {} })),
    ).then((done) => done && onDone(t("attention.done.acted")));
  return (
    <>
      <h2>{one.title}</h2>
      <p className="lead">{t("attention.heldText", { count: chat?.held ?? 1 })}</p>
      <div className="opts">
        <Button large look="primary" data-enter hint="Enter" onClick={() => void release()}>
          {t("attention.release")}
        </Button>
        <OpenChat one={one} />
      </div>
    </>
  );
}

function Uncertain({ one, chat, onDone }: Props) {
  const { t } = useTranslation();
  const agent = useAgent(one.agent);
  const turn = turnOf(one, chat);
  const row = one.turn ?? "";
  const done = (taken: boolean) => taken && onDone(t("attention.done.acted"));
  return (
    <>
      <h2>{t("attention.kind.uncertain")}</h2>
      <p className="lead">{t("attention.uncertainText", { agent: agent?.title ?? one.agent })}</p>
      <YourMessage turn={turn} />
      <div className="opts">
        <Button
          large
          onClick={() =>
            void act(one.chat, () =>
              unwrap(
                api.POST("/api/v1/chats/{id}/queue/release", {
                  params: { path: { id: one.chat } },
                  body: { turn: row },
                }),
              ),
            ).then(done)
          }
        >
          {t("attention.sendAgain")}
        </Button>
        <Button
          large
          onClick={() =>
            void act(one.chat, () =>
              unwrap(api.DELETE("/api/v1/queue/{row}", { params: { path: { row } } })),
            ).then(done)
          }
        >
          {t("attention.discard")}
        </Button>
        <OpenChat one={one} />
      </div>
    </>
  );
}

function Fenced({ one, chat }: Props) {
  const { t } = useTranslation();
  const check = () =>
    act(one.chat, () => unwrap(api.POST("/api/v1/chats/{id}/stop", { params: { path: { id: one.chat } } })));
  return (
    <>
      <h2>{one.title}</h2>
      <p className="lead">{t("attention.fencedText")}</p>
      {(chat?.reason ?? one.text) && <div className="cmd">{chat?.reason ?? one.text}</div>}
      <div className="opts">
        <Button large look="primary" data-enter hint="Enter" onClick={() => void check()}>
          {t("attention.checkAgain")}
        </Button>
        <OpenChat one={one} />
      </div>
    </>
  );
}

/** The turn of this entry, while it is the chat's last. */
const turnOf = (one: Attention, chat: Chat | undefined): Turn | undefined =>
  chat?.turn && chat.turn.id === one.turn ? chat.turn : undefined;

/** Changes a chat's queue; a refusal is said. */
async function act(chat: string, call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    toast(i18next.t("attention.failedAct", { error: text }));
    return false;
  } finally {
    void queryClient.invalidateQueries({ queryKey: queryKeys.queue(chat) });
    void queryClient.invalidateQueries({ queryKey: queryKeys.attention });
  }
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function YourMessage({ turn }: { turn: Turn | undefined }) {
  const { t } = useTranslation();
  if (!turn?.text) return null;
  return (
    <div className="said" role="group" aria-label={t("attention.message")}>
      {turn.text}
    </div>
  );
}

function OpenChat({ one, primary }: { one: Attention; primary?: boolean }) {
  const { t } = useTranslation();
  return (
    <Button
      large
      look={primary ? "primary" : "quiet"}
      hint="O"
      {...(primary ? { "data-enter": true } : {})}
      onClick={() => openChat(one.chat)}
    >
      {t("attention.openChat")}
    </Button>
  );
}

function Seen({ one, chat, onDone }: Props) {
  const { t } = useTranslation();
  const seen = () => {
    if (!chat) return;
    void markRead(chat, { seq: chat.last_seq });
    onDone(t("attention.done.seen"));
  };
  useLetter("A", seen);
  return (
    <Button large hint="A" onClick={seen} aria-label={`${t("attention.seen")}: ${one.title}`}>
      {t("attention.seen")}
    </Button>
  );
}

/** A letter of this view, while the focus is in it and in no text field. */
function useLetter(letter: string, run: () => void): void {
  const letters = useSettings().data?.letter_keys !== false;
  useEffect(() => {
    if (!letters) return;
    const onKey = (event: KeyboardEvent) => {
      const here = event.target instanceof Element && event.target.closest(".attn") !== null;
      if (!here || event.defaultPrevented || event.repeat || isComposing(event) || inTextField(event)) return;
      if (!matchesKeys(event, letter)) return;
      event.preventDefault();
      run();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [letter, letters, run]);
}
