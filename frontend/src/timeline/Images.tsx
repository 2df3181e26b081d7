import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import type { FileRef } from "../api/types";
import { bytes } from "../i18n/format";
import { transport } from "../transport";
import { Icon } from "../ui/Icon";
import { showLightbox } from "./Lightbox";

// The room of a picture in the log; its own size decides the height within it.
const WIDTH = 250;
const MAX_HEIGHT = 220;
const UNKNOWN_HEIGHT = 140;

/** A file of Berth as an address for an <img>; undefined while it is fetched. */
export function useFileUrl(id: string): { url: string | undefined; failed: boolean } {
  const [state, setState] = useState<{ url: string | undefined; failed: boolean }>({
    url: undefined,
    failed: false,
  });
  useEffect(() => {
    let release: (() => void) | undefined;
    let current = true;
    transport()
      .fileUrl(id)
      .then((file) => {
        if (!current) return file.release();
        release = file.release;
        setState({ url: file.url, failed: false });
      })
      .catch(() => current && setState({ url: undefined, failed: true }));
    return () => {
      current = false;
      release?.();
    };
  }, [id]);
  return state;
}

function heightOf(file: FileRef): number {
  if (!file.width || !file.height) return UNKNOWN_HEIGHT;
  return Math.round(Math.min(MAX_HEIGHT, file.height, (file.height / file.width) * WIDTH));
}

export function ImageGrid({ images }: { images: readonly FileRef[] }) {
  return (
    <div className="shot">
      {images.map((image) => (
        <ImageFigure key={image.id} image={image} />
      ))}
    </div>
  );
}

/** A picture in its reserved room; it opens large. */
export function ImageFigure({ image }: { image: FileRef }) {
  const { t } = useTranslation();
  const { url, failed } = useFileUrl(image.id);
  const open = () => {
    void transport()
      .fileUrl(image.id)
      .then((file) =>
        showLightbox({ url: file.url, name: image.name, file: image.id, release: file.release }),
      );
  };
  return (
    <figure>
      <button
        type="button"
        className="picture"
        style={{ height: heightOf(image) }}
        aria-label={t("timeline.openImage", { name: image.name })}
        onClick={open}
      >
        {url && <img src={url} alt="" />}
        {failed && <span className="t11 ter">{t("timeline.imageFailed")}</span>}
      </button>
      <figcaption>
        <Icon name="image" />
        <span className="ell">{image.name}</span>
        <span className="ter num">{bytes(image.size)}</span>
      </figcaption>
    </figure>
  );
}
