import { Children, isValidElement, lazy, memo, Suspense, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { useIsCodeFenceIncomplete } from "streamdown";
import { CopyButton } from "../ui/copy";
import { useHighlighted } from "./highlight";

const Diagram = lazy(() => import("./Diagram"));

const names: Record<string, string> = {
  js: "JavaScript",
  ts: "TypeScript",
  py: "Python",
  sh: "Shell",
  rs: "Rust",
  md: "Markdown",
};

/** Text of what Markdown made of a fence. */
function plain(children: ReactNode): string {
  return Children.toArray(children)
    .map((child) =>
      isValidElement<{ children?: ReactNode }>(child) ? plain(child.props.children) : String(child as string),
    )
    .join("");
}

/** A fence of an answer: coloured once it is closed, plain while it grows. */
export function Fence({ className, children }: { className?: string | undefined; children?: ReactNode }) {
  const open = useIsCodeFenceIncomplete();
  const lang = /language-(\S+)/.exec(className ?? "")?.[1]?.toLowerCase() ?? "";
  const code = plain(children).replace(/\n$/, "");
  if (lang === "mermaid") {
    return (
      <Suspense fallback={<CodeBlock code={code} lang={lang} ready={false} />}>
        <Diagram source={code} closed={!open} />
      </Suspense>
    );
  }
  return <CodeBlock code={code} lang={lang} ready={!open} />;
}

export const CodeBlock = memo(function CodeBlock({
  code,
  lang,
  ready,
}: {
  code: string;
  lang: string;
  ready: boolean;
}) {
  const { t } = useTranslation();
  return (
    <figure className="codeblock">
      <figcaption>
        <span className="ell">{(names[lang] ?? lang) || t("timeline.code")}</span>
        <span className="sp" />
        <CopyButton text={() => code} label={t("timeline.copyCode")} />
      </figcaption>
      <pre className="code" tabIndex={0} aria-label={t("timeline.code")}>
        <Coloured code={code} lang={lang} ready={ready} />
      </pre>
    </figure>
  );
});

export function Coloured({ code, lang, ready = true }: { code: string; lang: string; ready?: boolean }) {
  const lines = useHighlighted(code, lang, ready);
  if (!lines) return <code>{code}</code>;
  return (
    <code>
      {lines.map((tokens, line) => (
        <span key={line}>
          {tokens.map((token, at) => (
            <span key={at} style={token.color ? { color: token.color } : undefined}>
              {token.content}
            </span>
          ))}
          {line < lines.length - 1 && "\n"}
        </span>
      ))}
    </code>
  );
}
