import { Dialog as Base } from "@base-ui/react/dialog";
import { Command } from "cmdk";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import "./palette.css";
import { keysOf } from "../app/keys";
import type { CommandId } from "../app/commands";
import { closeLayer } from "../app/view";
import { Icon } from "../ui/Icon";
import { Keys } from "../ui/Keys";
import { Signal } from "../ui/Signal";
import { shown, useEntries, type Entry } from "./entries";
import { used } from "./recents";

/** Finds chats, commands, agents and settings, and does what is chosen. */
export function Palette() {
  const { t } = useTranslation();
  const [query, setQuery] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const groups = shown(useEntries(), query, { recent: t("palette.recent"), chats: t("palette.chats") });
  const choose = (entry: Entry) => {
    if (entry.off !== undefined) return;
    used(entry.id);
    closeLayer("palette");
    // The focus is back where it came from by then: many commands act there.
    requestAnimationFrame(() => requestAnimationFrame(entry.run));
  };
  return (
    <Base.Root open onOpenChange={(open) => !open && closeLayer("palette")}>
      <Base.Portal>
        <Base.Backdrop className="scrim pal-scrim" />
        <Base.Popup className="palette" initialFocus={field} aria-label={t("palette.label")}>
          <Command shouldFilter={false} label={t("palette.label")} loop>
            <div className="pal-field">
              <Icon name="search" />
              <Command.Input
                ref={field}
                value={query}
                onValueChange={setQuery}
                placeholder={t("palette.placeholder")}
              />
            </div>
            <Command.List label={t("palette.label")}>
              <Command.Empty>{t("palette.none", { query: query.trim() })}</Command.Empty>
              {groups.map((group) => (
                <Command.Group key={group.name} heading={group.name}>
                  {group.entries.map((entry) => (
                    <Row key={entry.id} entry={entry} onChoose={choose} />
                  ))}
                </Command.Group>
              ))}
            </Command.List>
          </Command>
          <Hints />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

function Row({ entry, onChoose }: { entry: Entry; onChoose: (entry: Entry) => void }) {
  const keys = entry.keys ? keysOf(entry.keys as CommandId) : undefined;
  return (
    <Command.Item
      value={entry.id}
      className="lrow"
      disabled={entry.off !== undefined}
      onSelect={() => onChoose(entry)}
    >
      <span className="lead">
        {entry.signal && <Signal name={entry.signal} />}
        {entry.icon && <Icon name={entry.icon} />}
        {entry.mark && <span className="ag">{entry.mark}</span>}
      </span>
      <span className="ell">{entry.title}</span>
      {(entry.off ?? entry.detail) && <span className="t12 ter ell detail">{entry.off ?? entry.detail}</span>}
      {keys && <Keys keys={keys} />}
    </Command.Item>
  );
}

function Hints() {
  const { t } = useTranslation();
  return (
    <div className="pal-hints t11 ter" aria-hidden="true">
      <span>
        <Keys keys="ArrowUp" />
        <Keys keys="ArrowDown" />
        {t("palette.choose")}
      </span>
      <span>
        <Keys keys="Enter" />
        {t("palette.run")}
      </span>
      <span>
        <Keys keys="Escape" />
        {t("palette.close")}
      </span>
    </div>
  );
}
