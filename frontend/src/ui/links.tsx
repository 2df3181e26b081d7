import { useTranslation } from "react-i18next";
import { create } from "zustand";
import { transport } from "../transport";
import { Button } from "./Button";
import { copyText } from "./copy";
import { Dialog } from "./Dialog";

const useAsked = create<{ url: string | undefined }>(() => ({ url: undefined }));

const OPENABLE = new Set(["http:", "https:", "mailto:"]);

/** The address if it is one that may be opened outside, else undefined. */
export function openable(href: string): URL | undefined {
  try {
    const url = new URL(href);
    return OPENABLE.has(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** Shows where a link leads before it is opened: its text was written by an agent or a repository. */
export function askToOpen(href: string): void {
  useAsked.setState({ url: href });
}

const close = () => useAsked.setState({ url: undefined });

export function LinkDialog() {
  const { t } = useTranslation();
  const href = useAsked((state) => state.url);
  if (href === undefined) return null;
  const url = openable(href);
  return (
    <Dialog
      open
      onClose={close}
      title={url ? t("links.title") : t("links.notOpenable")}
      description={url ? t("links.leaves") : undefined}
    >
      <div className="mono t12 link-target">
        {url?.host ? (
          <>
            {url.protocol}//<b>{url.host}</b>
            {href.slice(href.indexOf(url.host) + url.host.length)}
          </>
        ) : (
          href
        )}
      </div>
      <div className="foot">
        <Button onClick={close}>{t("common.cancel")}</Button>
        <Button onClick={() => void copyText(href).then(close)}>{t("links.copy")}</Button>
        {url && (
          <Button
            look="primary"
            onClick={() => {
              transport().openExternal(url.href);
              close();
            }}
          >
            {t("links.open", { host: url.host || url.pathname })}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
