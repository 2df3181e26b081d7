import { useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { Agent, Chat } from "../api/types";
import { changeChat } from "../chats/actions";
import { compact, dollars, shortTime } from "../i18n/format";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/copy";
import { Dialog } from "../ui/Dialog";

/** What is known of the chat; what is not known says so. */
export function Details({ chat, agent }: { chat: Chat; agent: Agent | undefined }) {
  const { t } = useTranslation();
  const { usage } = chat;
  const model = agent?.models.find((one) => one.value === (chat.model ?? ""))?.label ?? chat.model;
  return (
    <dl className="facts2">
      <Fact label={t("inspector.agent")}>
        {agent?.title ?? chat.agent}{" "}
        <span className="ter">{agent?.version && t("inspector.version", { version: agent.version })}</span>
      </Fact>
      <Fact label={t("inspector.model")}>{model || t("composer.modelDefault")}</Fact>
      {usage?.model && <Fact label={t("inspector.modelAnswered")}>{usage.model}</Fact>}
      <Fact label={t("inspector.permissions")}>{t(`composer.permission.${chat.permissions}`)}</Fact>
      <Fact label={t("inspector.context")}>
        {usage?.context_tokens === undefined
          ? t("common.unknown")
          : usage.context_window
            ? t("inspector.contextOf", {
                used: compact(usage.context_tokens),
                window: compact(usage.context_window),
              })
            : t("inspector.tokens", { used: compact(usage.context_tokens) })}
      </Fact>
      <Fact label={t("inspector.cost")}>
        {usage?.cost_usd === undefined
          ? t("common.unknown")
          : t("inspector.costStated", { cost: dollars(usage.cost_usd) })}
      </Fact>
      <Fact label={t("inspector.folder")} copy={chat.cwd}>
        <span className="mono ell">{chat.cwd}</span>
      </Fact>
      {chat.conversation && (
        <Fact label={t("inspector.conversation")} copy={chat.conversation}>
          <span className="mono ell">{chat.conversation}</span>
        </Fact>
      )}
      <Fact label={t("inspector.created")}>{shortTime(chat.created_at)}</Fact>
      <Instructions chat={chat} agent={agent} />
    </dl>
  );
}

function Fact({ label, copy, children }: { label: string; copy?: string; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <>
      <dt>{label}</dt>
      <dd className="row">
        <span className="ell grow">{children}</span>
        {copy !== undefined && <CopyButton text={() => copy} label={`${t("common.copy")}: ${label}`} />}
      </dd>
    </>
  );
}

// As the backend bounds them.
const MAX_INSTRUCTIONS = 65_536;

function Instructions({ chat, agent }: { chat: Chat; agent: Agent | undefined }) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState<string>();
  const unsupported =
    agent && !agent.capabilities.instructions
      ? t("inspector.instructionsUnsupported", { agent: agent.title })
      : undefined;
  return (
    <>
      <dt>{t("inspector.instructions")}</dt>
      <dd>
        <div className="instr">
          {chat.instructions || <span className="ter">{t("inspector.noInstructions")}</span>}
        </div>
        <Button small off={unsupported} onClick={() => setDraft(chat.instructions ?? "")}>
          {t("inspector.editInstructions")}
        </Button>
        {draft !== undefined && (
          <Dialog
            open
            wide
            onClose={() => setDraft(undefined)}
            title={t("inspector.instructionsTitle")}
            description={t("inspector.instructionsText")}
          >
            <textarea
              className="inp"
              style={{ marginTop: 12 }}
              rows={10}
              maxLength={MAX_INSTRUCTIONS}
              aria-label={t("inspector.instructionsTitle")}
              value={draft}
              onChange={(event) => setDraft(event.currentTarget.value)}
            />
            <div className="foot">
              <Button onClick={() => setDraft(undefined)}>{t("common.cancel")}</Button>
              <Button
                look="primary"
                onClick={() => {
                  void changeChat(chat, { instructions: draft });
                  setDraft(undefined);
                }}
              >
                {t("inspector.save")}
              </Button>
            </div>
          </Dialog>
        )}
      </dd>
    </>
  );
}
