import { describe, expect, it } from "vitest";
import { en } from "./en";
import { zhCN } from "./zh-CN";

type Tree = { [key: string]: string | Tree };

function flat(tree: Tree, prefix = ""): Map<string, string> {
  const out = new Map<string, string>();
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === "string") out.set(prefix + key, value);
    else for (const [inner, text] of flat(value, `${prefix}${key}.`)) out.set(inner, text);
  }
  return out;
}

const placeholders = (text: string) =>
  [...text.matchAll(/\{\{\s*(\w+)[^}]*\}\}|<\/?(\d+)>/g)].map((m) => m[0]).sort();

describe("catalogues", () => {
  const english = flat(en);
  const chinese = flat(zhCN);

  it("have the same keys", () => {
    expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort());
  });

  it("have the same placeholders", () => {
    for (const [key, text] of english) {
      expect(placeholders(chinese.get(key) ?? ""), key).toEqual(placeholders(text));
    }
  });

  it("have no empty string", () => {
    for (const [key, text] of [...english, ...chinese]) expect(text.trim(), key).not.toBe("");
  });

  it("have every plural form", () => {
    for (const key of english.keys()) {
      if (key.endsWith("_one")) expect(english.has(key.replace(/_one$/, "_other")), key).toBe(true);
    }
  });
});
