import { useEffect, useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "./Button";
import { Signal, type SignalName } from "./Signal";

// A view that is ready sooner shows nothing in between (design, States).
const LOADING_AFTER_MS = 160;
const SLOW_AFTER_MS = 5_000;

/** True once `ms` have passed since the component appeared. */
function useAfter(ms: number): boolean {
  const [passed, setPassed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setPassed(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return passed;
}

/** Blocks where the rows will be; after five seconds, what it does and a way out. */
export function LoadingState({ what, onCancel }: { what: string; onCancel?: () => void }) {
  const { t } = useTranslation();
  const shown = useAfter(LOADING_AFTER_MS);
  const slow = useAfter(SLOW_AFTER_MS);
  if (!shown) return null;
  if (slow) {
    return (
      <div className="ctr" role="status">
        <Signal name="running" />
        <div className="med">{what}</div>
        <div className="t12 sec">{t("states.slow")}</div>
        {onCancel && (
          <Button look="quiet" small onClick={onCancel}>
            {t("common.cancel")}
          </Button>
        )}
      </div>
    );
  }
  return (
    <>
      <div className="skel" aria-hidden="true">
        <i style={{ height: 54 }} />
        <i style={{ width: "38%" }} />
        <i style={{ width: "92%" }} />
        <i style={{ width: "84%" }} />
        <i style={{ width: "55%" }} />
      </div>
      <span className="vh" role="status">
        {what}
      </span>
    </>
  );
}

/** One sentence, one action. */
export function EmptyState(props: {
  signal?: SignalName;
  title: ReactNode;
  text?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="ctr">
      {props.signal && <Signal name={props.signal} />}
      <div className="med">{props.title}</div>
      {props.text && <div className="t12 sec lines">{props.text}</div>}
      {props.action}
    </div>
  );
}

/** What failed, what still works, one way on, and the machine's own last line unchanged. */
export function ErrorState(props: {
  title: ReactNode;
  text?: ReactNode;
  detail?: string | undefined;
  onRetry?: () => void;
  action?: ReactNode;
}) {
  const { t } = useTranslation();
  return (
    <div className="ctr" role="alert">
      <Signal name="failed" />
      <div className="med">{props.title}</div>
      {props.text && <div className="t12 sec lines">{props.text}</div>}
      {props.detail && <div className="mono t12 sec lines">{props.detail}</div>}
      <div className="row" style={{ gap: 6 }}>
        {props.onRetry && <Button onClick={props.onRetry}>{t("common.tryAgain")}</Button>}
        {props.action}
      </div>
    </div>
  );
}
