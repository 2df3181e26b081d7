import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = join(__dirname, "..");
const tokens = readFileSync(join(__dirname, "tokens.css"), "utf8");

type Theme = Map<string, string>;

/** The custom properties of the first block of that selector. */
function block(selector: string): Theme {
  const at = tokens.indexOf(`\n${selector} {`);
  if (at < 0) throw new Error(`tokens.css has no ${selector}`);
  const body = tokens.slice(at, tokens.indexOf("}", at));
  return new Map(
    [...body.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map((match) => [match[1] ?? "", (match[2] ?? "").trim()]),
  );
}

const light = block(':root, [data-theme="light"]');
const dark = new Map([...light, ...block('[data-theme="dark"]')]);
const themes: Record<string, Theme> = {
  light,
  dark,
  "light, more contrast": new Map([...light, ...block('[data-contrast="more"]:not([data-theme="dark"])')]),
  "dark, more contrast": new Map([...dark, ...block('[data-contrast="more"][data-theme="dark"]')]),
};

function channels(color: string): number[] {
  const hex = color.slice(1);
  const full = hex.length <= 4 ? [...hex].map((digit) => digit + digit).join("") : hex;
  return [0, 2, 4, 6].map((at) => (full.length > at ? parseInt(full.slice(at, at + 2), 16) : 255));
}

/** A colour that may be translucent, over an opaque one. */
function over(color: string, ground: number[]): number[] {
  const [r = 0, g = 0, b = 0, a = 255] = channels(color);
  return [r, g, b].map((value, at) => (value * a + (ground[at] ?? 0) * (255 - a)) / 255);
}

/** Relative luminance and contrast as WCAG 2.2 defines them. */
function luminance(rgb: number[]): number {
  const [r = 0, g = 0, b = 0] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: number[], b: number[]): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

const surfaces = ["canvas", "base", "raised", "sunken", "user"].map((name) => `--surface-${name}`);
const hues = ["accent", "attention", "danger", "success"];
const TEXT = 4.5;
const SIGN = 3;

type Pair = [front: string, ground: string, least: number];
const pairs: Pair[] = [
  ...["primary", "secondary", "tertiary"].flatMap((name) =>
    [...surfaces, "--surface-selected", "--surface-selected-dim"].map((ground): Pair => [
      `--text-${name}`,
      ground,
      TEXT,
    ]),
  ),
  ...hues.flatMap((hue) =>
    [...surfaces, `--${hue}-soft`].map((ground): Pair => [`--${hue}-text`, ground, TEXT]),
  ),
  ...hues.flatMap((hue) => surfaces.map((ground): Pair => [`--${hue}`, ground, SIGN])),
  ...["accent", "attention", "danger"].map((hue): Pair => [`--on-${hue}`, `--${hue}`, TEXT]),
  ...surfaces.flatMap((ground): Pair[] => [
    ["--line-control", ground, SIGN],
    ["--focus-ring", ground, SIGN],
  ]),
  ...["plain", "comment", "keyword", "string", "number", "function", "type", "punct"].flatMap((name) =>
    ["--surface-sunken", "--surface-raised", "--diff-add", "--diff-del"].map((ground): Pair => [
      `--syntax-${name}`,
      ground,
      TEXT,
    ]),
  ),
  ["--diff-add-text", "--diff-add-gutter", TEXT],
  ["--diff-del-text", "--diff-del-gutter", TEXT],
  ["--text-tertiary", "--diff-hunk", TEXT],
];

describe.each(Object.entries(themes))("contrast: %s", (_, theme) => {
  const value = (name: string) => {
    const found = theme.get(name);
    if (!found) throw new Error(`tokens.css has no ${name}`);
    return found;
  };
  it("no pair is below its least", () => {
    const low = pairs.flatMap(([front, ground, least]) => {
      const back = over(value(ground), [255, 255, 255]);
      const figure = contrast(over(value(front), back), back);
      return figure < least ? [`${front} on ${ground}: ${figure.toFixed(2)} < ${least}`] : [];
    });
    expect(low).toEqual([]);
  });
});

function sheets(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return sheets(path);
    return name.endsWith(".css") && name !== "tokens.css" ? [path] : [];
  });
}

describe("style sheets", () => {
  const declared = new Set([...tokens.matchAll(/(--[\w-]+):/g)].map((match) => match[1]));
  // Set at run time: by the popup library on its elements, by the terminal when its edge is dragged.
  const foreign = new Set(["--available-height", "--height-terminal"]);
  it.each(sheets(SRC).map((path) => [path.slice(SRC.length + 1), path]))("%s uses tokens only", (_, path) => {
    const css = readFileSync(path, "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
    const own = new Set([...css.matchAll(/(--[\w-]+):/g)].map((match) => match[1]));
    const unknown = [...css.matchAll(/var\((--[\w-]+)/g)]
      .map((match) => match[1] ?? "")
      .filter((name) => !declared.has(name) && !own.has(name) && !foreign.has(name));
    expect(unknown).toEqual([]);
    expect(
      [...css.matchAll(/:[^;{}]*(#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\()/gi)].map((match) => match[0]),
    ).toEqual([]);
  });
});
