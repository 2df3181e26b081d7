import { Dialog as Base } from "@base-ui/react/dialog";
import { useTranslation } from "react-i18next";
import { create } from "zustand";
import { transport } from "../transport";
import { Button, IconButton } from "../ui/Button";

type Shown = { url: string; name: string; file?: string; release?: () => void };

const useShown = create<{ shown: Shown | undefined }>(() => ({ shown: undefined }));

/** Shows a picture as large as the window allows. */
export function showLightbox(shown: Shown): void {
  useShown.setState({ shown });
}

function close(): void {
  useShown.getState().shown?.release?.();
  useShown.setState({ shown: undefined });
}

export function Lightbox() {
  const { t } = useTranslation();
  const shown = useShown((state) => state.shown);
  if (!shown) return null;
  const { file, name } = shown;
  return (
    <Base.Root open onOpenChange={(open) => !open && close()}>
      <Base.Portal>
        <Base.Backdrop className="scrim" />
        <Base.Popup className="lightbox">
          <div className="row" style={{ gap: 8, padding: "4px 4px 4px 12px" }}>
            <Base.Title className="t13 med ell">{name}</Base.Title>
            <span className="sp" />
            {file && (
              <Button small onClick={() => void transport().saveFile(file, name)}>
                {t("timeline.save")}
              </Button>
            )}
            <IconButton icon="x" label={t("common.close")} onClick={close} />
          </div>
          <img src={shown.url} alt={name} />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
