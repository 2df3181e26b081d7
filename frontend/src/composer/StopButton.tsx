import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, unwrap } from "../api/client";
import type { Chat } from "../api/types";
import { useCommand } from "../app/registry";
import { keysOf } from "../app/keys";
import { Icon } from "../ui/Icon";
import { Signal } from "../ui/Signal";
import { toast } from "../ui/Toasts";
import { Tooltip } from "../ui/Tooltip";

/** Ends the running turn. What comes of it stands in the timeline, and in the chat's state. */
export function StopButton({ chat }: { chat: Chat }) {
  const { t } = useTranslation();
  const [asked, setAsked] = useState(false);
  const stopping = asked || chat.turn?.state === "stopping";
  const stop = async () => {
    if (stopping) return;
    setAsked(true);
    try {
      await unwrap(api.POST("/api/v1/chats/{id}/stop", { params: { path: { id: chat.id } } }));
    } catch (error) {
      toast(t("composer.stopFailed", { error: error instanceof Error ? error.message : String(error) }));
    } finally {
      setAsked(false);
    }
  };
  useCommand("turn.stop", () => void stop());
  const label = stopping ? t("composer.stopping") : t("composer.stop");
  return (
    <Tooltip text={label} keys={stopping ? undefined : keysOf("turn.stop")}>
      <button
        type="button"
        className="stopb"
        aria-label={label}
        aria-disabled={stopping || undefined}
        onClick={() => void stop()}
      >
        {stopping ? <Signal name="running" /> : <Icon name="stop" />}
      </button>
    </Tooltip>
  );
}
