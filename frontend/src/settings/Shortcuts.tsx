import { useTranslation } from "react-i18next";
import type { Settings } from "../api/types";
import {
  commandFacts,
  commandGroup,
  commandIds,
  commandLabel,
  type CommandGroup,
  type CommandId,
} from "../app/commands";
import { keysOf } from "../app/keys";
import { Keys } from "../ui/Keys";
import { SwitchRow } from "./rows";

const groups: readonly CommandGroup[] = ["general", "chats", "conversation", "request", "view"];

/** All actions with their keys on this platform, from the one table. */
export function Shortcuts({ settings }: { settings: Settings }) {
  const { t } = useTranslation();
  return (
    <>
      <SwitchRow id="letter_keys" settings={settings} />
      {groups.map((group) => (
        <KeyTable
          key={group}
          name={t(`groups.${group}`)}
          ids={commandIds.filter((id) => commandGroup(id) === group)}
        />
      ))}
    </>
  );
}

function KeyTable({ name, ids }: { name: string; ids: CommandId[] }) {
  const { t } = useTranslation();
  return (
    <section>
      <h2 id={`keys-${name}`}>{name}</h2>
      <table className="keytable" aria-labelledby={`keys-${name}`}>
        <thead className="vh">
          <tr>
            <th scope="col">{t("settings.keys.action")}</th>
            <th scope="col">{t("settings.keys.keys")}</th>
          </tr>
        </thead>
        <tbody>
          {ids.map((id) => (
            <KeyRow key={id} id={id} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function KeyRow({ id }: { id: CommandId }) {
  const { t } = useTranslation();
  const keys = keysOf(id);
  const where =
    commandFacts(id).scope === "composer"
      ? t("settings.keys.composer")
      : commandFacts(id).scope === "request"
        ? t("settings.keys.where")
        : undefined;
  return (
    <tr>
      <td>
        {commandLabel(id)} {where && <span className="t11 ter">{where}</span>}
      </td>
      <td>
        {keys ? (
          <>
            <Keys keys={keys} cap />
            <span className="vh">{keys}</span>
          </>
        ) : (
          <span className="t11 ter">{t("settings.keys.none")}</span>
        )}
      </td>
    </tr>
  );
}
