import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";
import "./settings.css";
import { useSettings } from "../api/queries";
import type { Settings } from "../api/types";
import { platform } from "../app/platform";
import { runCommand } from "../app/registry";
import { settingsPages, show, type SettingsPage } from "../app/view";
import { score } from "../palette/rank";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { ErrorState, LoadingState } from "../ui/states";
import { About } from "./About";
import { AgentsPage } from "./AgentsPage";
import { Appearance } from "./Appearance";
import { General, Notifications, Permissions } from "./general";
import { rowIds, settingsIcons, settingsRows, type RowId } from "./pages";
import { Phrases } from "./Phrases";
import { Shortcuts } from "./Shortcuts";

/** Settings: pages at the left, each change in effect at once. */
export function SettingsView({ page }: { page: SettingsPage }) {
  const { t } = useTranslation();
  const settings = useSettings();
  return (
    <div className="set">
      <header className="tb">
        <h1 className="t13 semi">{t("settings.title")}</h1>
        <span className="sp" />
        <Button small look="quiet" hint="Escape" onClick={() => runCommand("layer.close")}>
          {t("common.close")}
        </Button>
      </header>
      <div className="sg">
        <Nav page={page} />
        <main
          className="body"
          id="settings-page"
          role="tabpanel"
          aria-labelledby={`settings-tab-${page}`}
          key={page}
        >
          <h1 className="t20 semi">{t(`settings.page.${page}`)}</h1>
          <p className="sec intro">{t(`settings.text.${page}`)}</p>
          {settings.data ? (
            <Page page={page} settings={settings.data} />
          ) : settings.isError ? (
            <ErrorState
              title={t("settings.failed")}
              text={t("states.stillWorks")}
              detail={settings.error.message}
              onRetry={() => void settings.refetch()}
            />
          ) : (
            <LoadingState what={t("settings.loading")} />
          )}
        </main>
      </div>
    </div>
  );
}

function Page({ page, settings }: { page: SettingsPage; settings: Settings }) {
  switch (page) {
    case "general":
      return <General settings={settings} />;
    case "appearance":
      return <Appearance settings={settings} />;
    case "agents":
      return <AgentsPage settings={settings} />;
    case "permissions":
      return <Permissions settings={settings} />;
    case "notifications":
      return <Notifications settings={settings} />;
    case "phrases":
      return <Phrases />;
    case "shortcuts":
      return <Shortcuts settings={settings} />;
    case "about":
      return <About />;
  }
}

function Nav({ page }: { page: SettingsPage }) {
  const { t } = useTranslation();
  const [query, setQuery] = useState("");
  const tabs = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = settingsPages.indexOf(page);
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowRight: at + 1,
      ArrowUp: at - 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: settingsPages.length - 1,
    };
    const to = steps[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = settingsPages[(to + settingsPages.length) % settingsPages.length];
    if (!next) return;
    show({ name: "settings", page: next });
    tabs.current?.querySelector<HTMLElement>(`#settings-tab-${next}`)?.focus();
  };
  return (
    <nav className="nav" aria-label={t("settings.pages")}>
      <input
        className="inp find"
        type="search"
        placeholder={t("settings.find")}
        aria-label={t("settings.find")}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || query === "") return;
          event.preventDefault();
          setQuery("");
        }}
      />
      {query.trim() ? (
        <Found query={query} onDone={() => setQuery("")} />
      ) : (
        <div
          ref={tabs}
          className="tabs-v"
          role="tablist"
          aria-orientation="vertical"
          aria-label={t("settings.title")}
          onKeyDown={onKeyDown}
        >
          {settingsPages.map((one) => (
            <button
              key={one}
              id={`settings-tab-${one}`}
              type="button"
              className="lrow inset"
              role="tab"
              aria-selected={one === page}
              aria-controls="settings-page"
              tabIndex={one === page ? 0 : -1}
              onClick={() => show({ name: "settings", page: one })}
            >
              <Icon name={settingsIcons[one]} />
              {t(`settings.page.${one}`)}
            </button>
          ))}
        </div>
      )}
    </nav>
  );
}

/** The settings whose name or meaning holds what was typed. */
function Found({ query, onDone }: { query: string; onDone: () => void }) {
  const { t } = useTranslation();
  const [going, setGoing] = useState<RowId>();
  useEffect(() => {
    if (!going) return;
    // Its page is drawn by now.
    const row = document.getElementById(`set-${going}`);
    row?.scrollIntoView({ block: "center" });
    row?.focus();
    onDone();
  }, [going, onDone]);
  const rows = rowIds
    .filter((id) => id !== "gpu" || platform.native)
    .map((id) => ({
      id,
      points: score(
        query,
        t(`settings.row.${id}.label`),
        `${t(`settings.row.${id}.note`)} ${t(`settings.page.${settingsRows[id]}`)}`,
      ),
    }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points);
  if (rows.length === 0) return <p className="t12 ter none">{t("settings.nothingFound")}</p>;
  return (
    <ul aria-label={t("settings.found")}>
      {rows.map(({ id }) => (
        <li key={id}>
          <button
            type="button"
            className="lrow inset found"
            onClick={() => {
              show({ name: "settings", page: settingsRows[id] });
              setGoing(id);
            }}
          >
            <Icon name={settingsIcons[settingsRows[id]]} />
            <span className="grow">
              <span className="ell">{t(`settings.row.${id}.label`)}</span>
              <span className="t11 ter">{t(`settings.page.${settingsRows[id]}`)}</span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
