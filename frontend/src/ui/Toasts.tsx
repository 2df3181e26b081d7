import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { create } from "zustand";
import { IconButton, Button } from "./Button";

// Long enough to read and to reach the button with the keyboard.
const TOAST_MS = 10_000;
// More than this hide the view; older ones go.
const MAX_TOASTS = 3;

type Toast = { id: number; text: string; action?: { label: string; run: () => void } };

let next = 1;
const useToasts = create<{ list: Toast[] }>(() => ({ list: [] }));

/** Says what happened elsewhere, or offers to undo. Never for what stands in the view already. */
export function toast(text: string, action?: Toast["action"]): void {
  const entry = { id: next++, text, ...(action ? { action } : {}) };
  useToasts.setState(({ list }) => ({ list: [...list, entry].slice(-MAX_TOASTS) }));
}

const dismiss = (id: number) =>
  useToasts.setState(({ list }) => ({ list: list.filter((one) => one.id !== id) }));

export function Toasts() {
  const list = useToasts((state) => state.list);
  return (
    <div className="toasts" role="status">
      {list.map((one) => (
        <ToastView key={one.id} toast={one} />
      ))}
    </div>
  );
}

function ToastView({ toast: { id, text, action } }: { toast: Toast }) {
  const { t } = useTranslation();
  useEffect(() => {
    const timer = setTimeout(() => dismiss(id), TOAST_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <div className="toast">
      <span>{text}</span>
      {action && (
        <Button
          small
          onClick={() => {
            dismiss(id);
            action.run();
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton small icon="x" label={t("common.dismiss")} onClick={() => dismiss(id)} />
    </div>
  );
}
