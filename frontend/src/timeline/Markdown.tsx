import { cloneElement, isValidElement, memo, useEffect, useMemo, useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { defaultRehypePlugins, Streamdown, type Components, type PluginConfig } from "streamdown";
import { cjk } from "@streamdown/cjk";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { askToOpen } from "../ui/links";
import { bytes } from "../i18n/format";
import { makeBlockSplitter } from "./blocks";
import { Fence } from "./CodeBlock";

// What is parsed and mounted as Markdown at once; the rest of a longer answer
// is text, and asked for.
const MAX_MARKDOWN = 96_000;

const plainTags = [
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "p",
  "ul",
  "ol",
  "li",
  "blockquote",
  "hr",
  "strong",
  "thead",
  "tbody",
  "tr",
  "th",
  "td",
  "sup",
  "sub",
  "section",
] as const;

function Link({ href, children }: { href?: string | undefined; children?: ReactNode }) {
  if (!href) return <>{children}</>;
  return (
    <a
      href={href}
      title={href}
      onClick={(event) => {
        event.preventDefault();
        askToOpen(href);
      }}
    >
      {children}
    </a>
  );
}

/** A picture of the web is named, not fetched: fetching would tell its host that it was read. */
function RemoteImage({ src, alt }: { src?: unknown; alt?: string | undefined }) {
  const url = typeof src === "string" ? src : "";
  return (
    <button type="button" className="att-chip" title={url} onClick={() => askToOpen(url)}>
      <Icon name="image" />
      <span className="ell">{alt || url}</span>
    </button>
  );
}

const components: Components = {
  ...Object.fromEntries(plainTags.map((tag) => [tag, tag])),
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => <RemoteImage src={src} alt={alt} />,
  code: ({ className, children }) => <Fence className={className}>{children}</Fence>,
  inlineCode: ({ children }) => <code>{children}</code>,
  // What stands in a <pre> is a fence; the mark tells it from code in a line.
  pre: ({ children }) =>
    isValidElement(children) ? cloneElement(children, { "data-block": "" } as object) : <>{children}</>,
  table: ({ children }) => (
    <div className="tablewrap" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
};

// HTML is parsed and then reduced to what is harmless; links and pictures are ours.
const rehypePlugins = [defaultRehypePlugins.raw, defaultRehypePlugins.sanitize].filter(
  (plugin) => plugin !== undefined,
);

const MATHS = /\$\$|\\\(|\\\[/;
let maths: PluginConfig["math"];

/** The plugin for formulas, fetched when a text first has one. */
function useMaths(text: string): PluginConfig["math"] {
  const [plugin, setPlugin] = useState(maths);
  const wanted = plugin === undefined && MATHS.test(text);
  useEffect(() => {
    if (!wanted) return;
    let current = true;
    void Promise.all([import("@streamdown/math"), import("katex/dist/katex.min.css")]).then(([loaded]) => {
      maths = loaded.math;
      if (current) setPlugin(maths);
    });
    return () => {
      current = false;
    };
  }, [wanted]);
  return plugin;
}

/** An agent's words. While they stream only the last block is drawn again. */
export const Markdown = memo(function Markdown({ text, live }: { text: string; live: boolean }) {
  const [all, setAll] = useState(false);
  const shown = text.length > MAX_MARKDOWN ? cutAtBlock(text) : text;
  const split = useMemo(() => makeBlockSplitter(), []);
  const math = useMaths(shown);
  const plugins = useMemo<PluginConfig>(() => ({ cjk, ...(math ? { math } : {}) }), [math]);
  const rest = text.slice(shown.length);
  return (
    <div className="md">
      <Streamdown
        mode="streaming"
        isAnimating={live && rest === ""}
        parseIncompleteMarkdown={live}
        components={components}
        controls={false}
        lineNumbers={false}
        linkSafety={noModal}
        rehypePlugins={rehypePlugins}
        plugins={plugins}
        parseMarkdownIntoBlocksFn={split}
      >
        {shown}
      </Streamdown>
      {rest !== "" && <Rest text={rest} all={all} onAll={() => setAll(true)} />}
    </div>
  );
});

// Links are shown by our own dialog.
const noModal = { enabled: false };

/** The longest beginning within the bound that ends with a paragraph. It stays the same while the text grows. */
function cutAtBlock(text: string): string {
  const end = text.lastIndexOf("\n\n", MAX_MARKDOWN);
  return text.slice(0, end > MAX_MARKDOWN / 2 ? end : MAX_MARKDOWN);
}

function Rest({ text, all, onAll }: { text: string; all: boolean; onAll: () => void }) {
  const { t } = useTranslation();
  if (all) return <pre className="code rest">{text}</pre>;
  return (
    <div className="row" style={{ gap: 8, marginTop: 10 }}>
      <span className="t12 ter num">{t("timeline.restAsText", { size: bytes(text.length) })}</span>
      <Button small onClick={onAll}>
        {t("timeline.showRest")}
      </Button>
    </div>
  );
}
