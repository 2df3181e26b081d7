import { useEffect, useState } from "react";
import i18next from "i18next";
import { useTranslation } from "react-i18next";
import { transport } from "../transport";
import { IconButton } from "./Button";
import { toast } from "./Toasts";

const SHOWN_MS = 1_500;

/** Puts text on the clipboard; a refusal is said. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await transport().copy(text);
    return true;
  } catch {
    toast(i18next.t("common.copyFailed"));
    return false;
  }
}

/** Copies, and says for a moment that it did. `text` is asked for only then. */
export function CopyButton({
  text,
  label,
  className,
}: {
  text: () => string;
  label: string;
  className?: string;
}) {
  const { t } = useTranslation();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <>
      <IconButton
        small
        icon={done ? "check" : "copy"}
        label={label}
        {...(className ? { className } : {})}
        onClick={() => void copyText(text()).then(setDone)}
      />
      <span className="vh" role="status">
        {done ? t("common.copied") : ""}
      </span>
    </>
  );
}
