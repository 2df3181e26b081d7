import assert from "node:assert/strict";
import { accessible, say } from "../stage.mjs";

const region = (page) => page.evaluate(() => document.activeElement.closest("[data-region]")?.dataset.region);

/** A chat in the middle of its work: a plan, a diff, a request. */
async function busy(stage, view) {
  const opened = await stage.demo(view);
  await say(opened.page, "/tour");
  await opened.page.locator(".req").waitFor();
  return opened;
}

const looks = {
  light: {},
  dark: { dark: true },
  "high contrast": { settings: { contrast: "more" } },
  "large text": { settings: { text_size: 150 } },
  Chinese: { settings: { language: "zh-CN" } },
};

export default {
  ...Object.fromEntries(
    Object.entries(looks).map(([name, { dark, settings }]) => [
      `the conversation is accessible: ${name}`,
      async (stage) => {
        const backend = await stage.serve();
        if (settings) await backend.api("PATCH", "settings", settings);
        const { page } = await busy(stage, { backend, dark, reducedMotion: "reduce" });
        await page.waitForTimeout(800);
        await accessible(page, `the conversation, ${name}`);
      },
    ]),
  ),

  "an empty window is accessible": async (stage) => {
    const { page } = await stage.open();
    await page.locator(".ctr").first().waitFor();
    await accessible(page, "the empty window");
  },

  "F6 walks the regions": async (stage) => {
    const { page } = await busy(stage);
    const seen = new Set();
    for (let n = 0; n < 6; n++) {
      await page.keyboard.press("F6");
      seen.add(await region(page));
    }
    for (const name of ["sidebar", "timeline", "request", "composer", "inspector"]) assert.ok(seen.has(name), `F6 never came to ${name}: ${[...seen]}`);
  },

  "Chinese leaves no English behind": async (stage) => {
    const backend = await stage.serve();
    await backend.api("PATCH", "settings", { language: "zh-CN" });
    const { page } = await stage.demo({ backend });
    await page.waitForFunction(() => document.documentElement.lang === "zh-CN");
    const labels = await page.evaluate(() => [...document.querySelectorAll("[aria-label]")].map((one) => one.getAttribute("aria-label")));
    const names = /^(Demo agent|Berth)|demo|README/i;
    const english = labels.filter((label) => /^[\x20-\x7e]+$/.test(label) && /[a-z]{3}/i.test(label) && !names.test(label));
    assert.deepEqual(english, []);
  },
};
