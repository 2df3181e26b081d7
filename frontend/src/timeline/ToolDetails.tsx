import { useTranslation } from "react-i18next";
import type { Item, Tool } from "../api/types";
import { bytes } from "../i18n/format";
import { transport } from "../transport";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/copy";
import { Coloured } from "./CodeBlock";

// The window of live output: its height is fixed, and it keeps it when done.
export const LIVE_LINES = 6;

/** The last lines of what a command writes. */
export function LiveOutput({ tool }: { tool: Tool }) {
  const { t } = useTranslation();
  const output = withoutEscapes(tool.output ?? "");
  const lines = output.replace(/\n$/, "").split("\n");
  const whole = (tool.output_bytes ?? 0) <= new TextEncoder().encode(tool.output ?? "").length;
  return (
    <div className="term" role="log" aria-live="off" aria-label={t("timeline.liveOutput")}>
      <pre style={{ height: `calc(${LIVE_LINES} * 1.125rem)` }}>{lines.slice(-LIVE_LINES).join("\n")}</pre>
      <div className="foot num">
        {whole
          ? t("timeline.shownLines", { all: lines.length, shown: Math.min(lines.length, LIVE_LINES) })
          : t("timeline.shortened", { size: bytes(tool.output_bytes ?? 0) })}
      </div>
    </div>
  );
}

// Colours and cursor movements of terminals, as far as they can be dropped
// from text: CSI, OSC, and single escapes.

const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

export function withoutEscapes(text: string): string {
  return text.includes("\u001b") || text.includes("\r")
    ? text.replace(ESCAPES, "").replace(/[^\n]*\r(?!\n)/g, "")
    : text;
}

/** Input and output of a call, when its row is opened. */
export function ToolDetails({ item, tool }: { item: Item; tool: Tool }) {
  const { t } = useTranslation();
  const input = inputText(tool);
  const output = withoutEscapes(tool.output ?? "");
  const { output_file: file } = tool;
  return (
    <div className="details">
      {input && (
        <Section label={t("timeline.input")} text={input}>
          <Coloured code={input} lang={tool.kind === "execute" ? "bash" : "json"} />
        </Section>
      )}
      {tool.error && (
        <div className="t12 dan" role="note">
          {tool.error}
        </div>
      )}
      {output ? (
        <Section label={t("timeline.output")} text={output}>
          {output}
        </Section>
      ) : (
        item.status !== "in_progress" &&
        !tool.error && <div className="t11 ter">{t("timeline.noOutput")}</div>
      )}
      {file && (
        <div className="row t11 ter num" style={{ gap: 8 }}>
          <span>{t("timeline.shortened", { size: bytes(tool.output_bytes ?? 0) })}</span>
          <Button small onClick={() => void transport().saveFile(file, "output.txt")}>
            {t("timeline.wholeOutput")}
          </Button>
        </div>
      )}
    </div>
  );
}

function Section({ label, text, children }: { label: string; text: string; children: React.ReactNode }) {
  const { t } = useTranslation();
  return (
    <div className="term whole">
      <div className="cap">
        <span>{label}</span>
        <span className="sp" />
        <CopyButton
          text={() => text}
          label={label === t("timeline.output") ? t("timeline.copyOutput") : t("common.copy")}
        />
      </div>
      <pre tabIndex={0} aria-label={label}>
        {children}
      </pre>
    </div>
  );
}

/** A command as it was run; other input as the agent gave it. */
function inputText(tool: Tool): string {
  const input = tool.input;
  if (input === undefined || input === null) return "";
  if (typeof input === "string") return input;
  const command = (input as { command?: unknown }).command;
  if (tool.kind === "execute" && typeof command === "string") return command;
  if (tool.kind === "execute" && Array.isArray(command)) return command.join(" ");
  return JSON.stringify(input, null, 2);
}
