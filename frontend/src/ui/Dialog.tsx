import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, type RefObject, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "./Button";

type DialogProps = {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  description?: ReactNode;
  wide?: boolean;
  className?: string;
  /** What has the focus first; by default the first control. */
  initialFocus?: RefObject<HTMLElement | null>;
  /** Asked when it closes: false leaves the focus where it is then. */
  finalFocus?: () => boolean;
  children?: ReactNode;
};

/** A modal layer. It keeps its opener and gives the focus back to it. */
export function Dialog(props: DialogProps) {
  return (
    <Base.Root open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <Base.Portal>
        <Base.Backdrop className="scrim" />
        <Base.Popup
          className={`dialog ${props.wide ? "wide" : ""} ${props.className ?? ""}`}
          {...(props.initialFocus ? { initialFocus: props.initialFocus } : {})}
          {...(props.finalFocus ? { finalFocus: props.finalFocus } : {})}
        >
          <Base.Title>{props.title}</Base.Title>
          {props.description && <Base.Description className="sec">{props.description}</Base.Description>}
          {props.children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** Asks before something that cannot be undone. `confirm` names the act. */
export function ConfirmDialog(props: {
  open: boolean;
  title: ReactNode;
  text: ReactNode;
  confirm: string;
  danger?: boolean;
  onConfirm: () => void | Promise<void>;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const [busy, setBusy] = useState(false);
  const act = async () => {
    setBusy(true);
    try {
      await props.onConfirm();
      props.onClose();
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog open={props.open} onClose={props.onClose} title={props.title} description={props.text}>
      <div className="foot">
        <Button onClick={props.onClose}>{t("common.cancel")}</Button>
        <Button
          look={props.danger ? "danger-solid" : "primary"}
          off={busy ? t("common.busy") : undefined}
          onClick={() => void act()}
        >
          {props.confirm}
        </Button>
      </div>
    </Dialog>
  );
}
