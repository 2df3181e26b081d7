import { useEffect, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { CopyButton } from "../ui/copy";
import { Button } from "../ui/Button";
import { showLightbox } from "./Lightbox";

// The room of a diagram is fixed, so that drawing it moves nothing.
type Drawn = { url: string } | { error: string };

let queue: Promise<unknown> = Promise.resolve();

function variables() {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(name).trim();
  return {
    fontFamily: token("--font-ui"),
    fontSize: "13px",
    background: token("--surface-sunken"),
    primaryColor: token("--surface-raised"),
    primaryTextColor: token("--text-primary"),
    primaryBorderColor: token("--line-control"),
    lineColor: token("--text-secondary"),
    secondaryColor: token("--accent-soft"),
    tertiaryColor: token("--surface-canvas"),
  };
}

/** Draws one diagram; they are drawn one after another, since Mermaid keeps global state. */
function draw(id: string, source: string): Promise<Drawn> {
  const job = queue.then(async (): Promise<Drawn> => {
    const { default: mermaid } = await import("mermaid");
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      suppressErrorRendering: true,
      theme: "base",
      themeVariables: variables(),
      flowchart: { htmlLabels: false },
    });
    try {
      const { svg } = await mermaid.render(id, source);
      // Shown as a picture: no script, no link and no style of it reaches the page.
      return { url: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  });
  queue = job;
  return job;
}

/** A Mermaid fence: its source while it is written, its picture afterwards, in the same room. */
export default function Diagram({ source, closed }: { source: string; closed: boolean }) {
  const { t } = useTranslation();
  const id = `diagram${useId().replace(/[^a-zA-Z0-9]/g, "")}`;
  const [drawn, setDrawn] = useState<Drawn>();
  const [asText, setAsText] = useState(false);
  useEffect(() => {
    if (!closed) return;
    let current = true;
    void draw(id, source).then((result) => current && setDrawn(result));
    return () => {
      current = false;
    };
  }, [id, source, closed]);
  const picture = drawn && "url" in drawn ? drawn.url : undefined;
  const failure = drawn && "error" in drawn ? drawn.error : undefined;
  return (
    <figure className="codeblock diagram">
      <figcaption>
        <span className="ell">
          {failure
            ? t("timeline.diagramFailed", { error: failure.split("\n", 1)[0] ?? "" })
            : t("timeline.diagram")}
        </span>
        <span className="sp" />
        {picture && (
          <Button small look="quiet" onClick={() => setAsText(!asText)}>
            {asText ? t("timeline.showDiagram") : t("timeline.showSource")}
          </Button>
        )}
        <CopyButton text={() => source} label={t("timeline.copyCode")} />
      </figcaption>
      {picture && !asText ? (
        <button
          type="button"
          className="picture"
          onClick={() => showLightbox({ url: picture, name: t("timeline.diagram") })}
        >
          <img src={picture} alt={t("timeline.diagram")} />
        </button>
      ) : (
        <pre className="code" tabIndex={0} aria-label={t("timeline.code")}>
          <code>{source}</code>
        </pre>
      )}
    </figure>
  );
}
