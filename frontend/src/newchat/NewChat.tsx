import { useRef, useState, type FormEvent, type KeyboardEvent, type RefObject } from "react";
import { useTranslation } from "react-i18next";
import "./newchat.css";
import { EffortSelect, ModelSelect, PermissionSelect } from "../agents/Choices";
import { useKnownAgents, type KnownAgents } from "../agents/look";
import { canBegin, inOrder } from "../agents/ways";
import { api, ApiError, unwrap } from "../api/client";
import { useHealth, useSettings } from "../api/queries";
import type { Agent, Chat, Settings } from "../api/types";
import { isComposing, matchesKeys } from "../app/keys";
import { focusComposer } from "../app/focusComposer";
import { closeLayer, openChat, useView } from "../app/view";
import { finishFirstStart } from "../onboarding/firstStart";
import { dispatch, useLive } from "../stream/store";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { Icon } from "../ui/Icon";
import { ErrorState, LoadingState } from "../ui/states";
import { Tick } from "../ui/Switch";
import { AgentList } from "./AgentList";
import { FolderField, type ChosenFolder } from "./FolderField";
import { effortsOf, firstAgent, firstChoice, remember, remembered, type Choice } from "./remembered";

/** Begins a chat: a folder, an agent, and how it may work. */
export function NewChat({ cwd, agent }: { cwd?: string | undefined; agent?: string | undefined }) {
  const { t } = useTranslation();
  const known = useKnownAgents();
  const settings = useSettings();
  const field = useRef<HTMLInputElement>(null);
  const error = known.error ?? settings.error;
  return (
    <Dialog
      open
      onClose={() => closeLayer("newChat")}
      title={t("newchat.title")}
      className="newchat"
      initialFocus={field}
      finalFocus={() => opened === undefined}
    >
      {settings.data && !known.error ? (
        <Form known={known} settings={settings.data} cwd={cwd} wanted={agent} field={field} />
      ) : error ? (
        <ErrorState
          title={t("states.failed")}
          detail={error.message}
          onRetry={() => {
            known.retry();
            void settings.refetch();
          }}
        />
      ) : (
        <LoadingState what={t("newchat.title")} />
      )}
    </Dialog>
  );
}

// Set while a chat just begun takes the focus, which then does not go back to the opener.
let opened: string | undefined;

type FormProps = {
  known: KnownAgents;
  settings: Settings;
  cwd: string | undefined;
  wanted: string | undefined;
  field: RefObject<HTMLInputElement | null>;
};

/** The folder of the chat in view, where the next one is likely to be. */
function folderInView(): string | undefined {
  const { view } = useView.getState();
  return view.name === "chat" && view.chat ? useLive.getState().chats.get(view.chat)?.cwd : undefined;
}

function Form({ known, settings, cwd, wanted, field }: FormProps) {
  const { t } = useTranslation();
  const root = useHealth().data?.root ?? false;
  const [last] = useState(remembered);
  const offered = inOrder(known.agents).filter((one) => !settings.agents[one.name]?.hidden);
  const [typed, setTyped] = useState(() => cwd ?? folderInView() ?? last.cwd ?? "");
  const [folder, setFolder] = useState<ChosenFolder>();
  const [chosen, setChosen] = useState<string>();
  const name =
    chosen ?? firstAgent(offered, [wanted, settings.default_agent || undefined, last.agent], canBegin);
  const agent = offered.find((one) => one.name === name);
  const [choices, setChoices] = useState<Record<string, Choice>>({});
  const choice = agent && (choices[agent.name] ?? firstChoice(agent, settings, last));
  const [bypass, setBypass] = useState(false);
  const [title, setTitle] = useState("");
  const [instructions, setInstructions] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<{ field: string | undefined; text: string }>();

  const needsBypass = root && choice?.permissions === "full";
  const off = busy
    ? t("newchat.starting")
    : !typed
      ? t("newchat.needsFolder")
      : folder && !folder.exists
        ? t("newchat.missing")
        : !agent
          ? t("newchat.needsAgent")
          : needsBypass && !bypass
            ? t("newchat.needsBypass")
            : undefined;

  const begin = async () => {
    if (off !== undefined || !agent || !choice) return;
    setBusy(true);
    setError(undefined);
    try {
      const chat = await unwrap(
        api.POST("/api/v1/chats", {
          body: {
            agent: agent.name,
            cwd: folder?.path ?? typed,
            ...(choice.model ? { model: choice.model } : {}),
            ...(choice.effort ? { effort: choice.effort } : {}),
            permissions: choice.permissions,
            ...(title.trim() ? { title: title.trim() } : {}),
            ...(instructions.trim() && agent.capabilities.instructions ? { instructions } : {}),
            ...(needsBypass ? { root_bypass: true } : {}),
          },
        }),
      );
      remember(chat.cwd, agent.name, choice);
      enter(chat);
    } catch (failed) {
      setBusy(false);
      setError({
        field: failed instanceof ApiError ? failed.field : undefined,
        text: failed instanceof Error ? failed.message : String(failed),
      });
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void begin();
  };
  // Enter in the instructions is a new line; with Ctrl or Cmd it begins.
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent) || !matchesKeys(event.nativeEvent, "Mod+Enter")) return;
    event.preventDefault();
    void begin();
  };
  const change = (next: Partial<Choice>) => {
    if (agent && choice) setChoices((held) => ({ ...held, [agent.name]: { ...choice, ...next } }));
  };

  return (
    <form onSubmit={submit} onKeyDown={onKeyDown} className="newchat-form">
      <div className="parts">
        <FolderField
          field={field}
          value={typed}
          onChange={setTyped}
          onFolder={setFolder}
          error={error?.field === "body.cwd" ? error.text : undefined}
        />
        <AgentList agents={offered} looking={known.looking} value={name} onChange={setChosen} />
        {agent && choice && <AgentChoices agent={agent} choice={choice} onChange={change} />}
        {agent && choice?.permissions === "full" && (
          <FullAccess agent={agent} root={root} bypass={bypass} onBypass={setBypass} />
        )}
        {agent && (
          <Further
            agent={agent}
            title={title}
            onTitle={setTitle}
            instructions={instructions}
            onInstructions={setInstructions}
          />
        )}
        {error && error.field !== "body.cwd" && (
          <div className="t12 dan" role="alert">
            {error.text}
          </div>
        )}
      </div>
      <div className="foot">
        <Button onClick={() => closeLayer("newChat")}>{t("common.cancel")}</Button>
        <Button look="primary" submit hint="Enter" off={off}>
          {busy ? t("newchat.starting") : t("newchat.start")}
        </Button>
      </div>
    </form>
  );
}

/** Opens the chat that was just begun, ready to be written in. */
function enter(chat: Chat): void {
  dispatch({ type: "chat", chat });
  finishFirstStart();
  opened = chat.id;
  openChat(chat.id);
  closeLayer("newChat");
  focusComposer(() => (opened = undefined));
}

function AgentChoices(props: { agent: Agent; choice: Choice; onChange: (next: Partial<Choice>) => void }) {
  const { agent, choice, onChange } = props;
  return (
    <div className="three">
      <ModelSelect
        agent={agent}
        value={choice.model}
        onChange={(model) =>
          onChange({ model, ...(effortsOf(agent, model).includes(choice.effort) ? {} : { effort: "" }) })
        }
      />
      <EffortSelect
        efforts={effortsOf(agent, choice.model)}
        value={choice.effort}
        onChange={(effort) => onChange({ effort })}
      />
      <PermissionSelect
        modes={agent.modes}
        value={choice.permissions}
        onChange={(permissions) => onChange({ permissions })}
      />
    </div>
  );
}

/** What full access means, and as root the choice that it needs besides. */
function FullAccess(props: {
  agent: Agent;
  root: boolean;
  bypass: boolean;
  onBypass: (allowed: boolean) => void;
}) {
  const { t } = useTranslation();
  const { agent, root } = props;
  return (
    <div className="warn t12" role="note">
      <p>{t("agents.full", { agent: agent.title })}</p>
      {root && (
        <>
          <p>{t("agents.fullRoot", { agent: agent.title })}</p>
          <div className="row tickline">
            <Tick label={t("agents.rootBypass")} checked={props.bypass} onChange={props.onBypass} />
            <span aria-hidden="true" onClick={() => props.onBypass(!props.bypass)}>
              {t("agents.rootBypass")}
            </span>
          </div>
        </>
      )}
    </div>
  );
}

// As the backend bounds them.
const MAX_TITLE = 120;
const MAX_INSTRUCTIONS = 65_536;

function Further(props: {
  agent: Agent;
  title: string;
  onTitle: (title: string) => void;
  instructions: string;
  onInstructions: (text: string) => void;
}) {
  const { t } = useTranslation();
  const { agent } = props;
  const [open, setOpen] = useState(false);
  return (
    <div>
      <button type="button" className="further" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="chev" />
        {t("newchat.more")}
      </button>
      {open && (
        <div className="parts" style={{ marginTop: 8 }}>
          <Field
            label={t("newchat.name")}
            note={t("newchat.nameNote")}
            value={props.title}
            maxLength={MAX_TITLE}
            onChange={(event) => props.onTitle(event.currentTarget.value)}
          />
          {agent.capabilities.instructions ? (
            <label className="field">
              <span className="med">{t("newchat.instructions")}</span>
              <textarea
                className="inp"
                rows={3}
                maxLength={MAX_INSTRUCTIONS}
                value={props.instructions}
                onChange={(event) => props.onInstructions(event.currentTarget.value)}
              />
              <span className="t11 ter">{t("newchat.instructionsNote")}</span>
            </label>
          ) : (
            <span className="t12 ter">{t("newchat.noInstructions", { agent: agent.title })}</span>
          )}
        </div>
      )}
    </div>
  );
}
