import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { results, say, shot } from "../stage.mjs";

const mocks = fileURLToPath(new URL("../mocks/", import.meta.url));
const pairs = [];

/** Keeps a picture of the program beside the mock that it follows. */
async function pair(page, name, mock) {
  await shot(page, name);
  if (mock) {
    copyFileSync(join(mocks, `${mock}.png`), join(results, `mock-${mock}.png`));
    pairs.push([name, mock]);
  }
  const figure = (file) => `<img src="${file}.png" style="width:49%;vertical-align:top;border:1px solid #888">`;
  const rows = pairs.map(([own, drawn]) => `<h2>${own}</h2>${figure(`mock-${drawn}`)} ${figure(own)}`);
  writeFileSync(join(results, "pairs.html"), `<!doctype html><meta charset="utf-8"><title>Mock and program</title>${rows.join("\n")}`);
}

async function atWork(stage, view) {
  mkdirSync(results, { recursive: true });
  const { page } = await stage.demo({ reducedMotion: "reduce", ...view });
  await say(page, "/tour");
  await page.locator(".req").waitFor();
  await page.locator(".tline diffs-container, .tline .card").first().waitFor();
  await page.waitForTimeout(1_000);
  return page;
}

export default {
  "at work, light": async (stage) => pair(await atWork(stage), "main-light", "main-light"),
  "at work, dark": async (stage) => pair(await atWork(stage, { dark: true }), "main-dark", "main-dark"),
  "at work, the smallest window": async (stage) => pair(await atWork(stage, { width: 1040, height: 680 }), "main-1040-light", "main-1040-light"),
  "at work, 390 px": async (stage) => pair(await atWork(stage, { width: 390, height: 844, dark: true }), "main-390-dark", "mobile-390-dark"),
  "what waits": async (stage) => {
    const page = await atWork(stage);
    await page.keyboard.press("Alt+a");
    await page.waitForTimeout(800);
    await pair(page, "attention-light", "attention-light");
  },
  "the first start": async (stage) => {
    const backend = await stage.serve();
    const page = await stage.page(backend);
    await page.goto(backend.url);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page.waitForTimeout(1_500);
    await pair(page, "onboarding-light", "onboarding-light");
  },
};
