// Runs the browser stories one after another and prints a tally.
//   node run.mjs [part of a story's or case's name]
import { readdirSync } from "node:fs";
import { Stage } from "./stage.mjs";

const only = process.argv[2] ?? "";
const CASE_MS = 120_000;
let passed = 0;
let failed = 0;

const files = readdirSync(new URL("stories/", import.meta.url)).filter((name) => name.endsWith(".mjs")).sort();
for (const file of files) {
  const story = await import(new URL(`stories/${file}`, import.meta.url));
  for (const [name, act] of Object.entries(story.default)) {
    const full = `${file.replace(".mjs", "")}: ${name}`;
    if (!full.includes(only)) continue;
    const began = Date.now();
    const stage = new Stage(full);
    let timer;
    try {
      const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`not done after ${CASE_MS / 1000} s`)), CASE_MS);
      });
      await Promise.race([act(stage), late]);
      stage.expectQuiet();
      passed++;
      console.log(`ok      ${full} (${Date.now() - began} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAILED  ${full}\n${error.stack ?? error}`);
      await stage.keepEvidence();
    } finally {
      clearTimeout(timer);
      await stage.strike();
    }
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
