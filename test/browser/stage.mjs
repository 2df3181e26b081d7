// A stage is one backend of its own with a fresh state, and browsers on it.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const results = join(root, "test-results", "browser");
const program = process.env.BERTH ?? join(root, "bin", "berth-headless");
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const BROWSERS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const PATIENCE_MS = 30_000;

export class Stage {
  backends = [];
  pages = [];
  faults = [];

  constructor(name) {
    this.name = name;
  }

  /** Starts `berth serve` on a fresh state, or again on the one it had. */
  async serve({ state = mkdtempSync(join(tmpdir(), "berth-browser-")), listen = "127.0.0.1:0" } = {}) {
    const home = join(state, "home");
    mkdirSync(home, { recursive: true });
    const child = spawn(program, ["serve", "--state", join(state, "state"), "--listen", listen], {
      env: { ...process.env, HOME: home, BERTH_STATE: "" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let log = "";
    child.stderr.on("data", (data) => (log += data));
    const line = await new Promise((resolve, reject) => {
      let out = "";
      child.stdout.on("data", (data) => (out += data).includes("\n") && resolve(out));
      child.on("exit", (code) => reject(new Error(`berth serve ended with ${code}: ${log}`)));
    });
    const info = JSON.parse(line);
    const ended = new Promise((resolve) => child.on("exit", resolve));
    const backend = {
      ...info,
      state,
      home,
      stop: async (signal = "SIGTERM") => {
        child.kill(signal);
        await ended;
      },
      api: (method, path, body) => call(info, method, path, body),
    };
    this.backends.push(backend);
    return backend;
  }

  /** A backend that is past its first start, and a page that holds the token. */
  async open({ path = "/", backend, ...view } = {}) {
    const at = backend ?? (await this.serve());
    await at.api("PATCH", "settings", { onboarded: true });
    const page = await this.page(at, view);
    await page.goto(at.url + path);
    await page.waitForSelector(".app");
    return { backend: at, page };
  }

  /** A demo chat that is open in a page. */
  async demo(view = {}) {
    const backend = view.backend ?? (await this.serve());
    const chat = await backend.api("POST", "demo");
    const { page } = await this.open({ ...view, backend, path: `/#/chat/${chat.id}` });
    await page.waitForSelector(".comp textarea");
    return { backend, chat, page };
  }

  async page(backend, { width = 1440, height = 900, dark = false, token = true, ...context } = {}) {
    this.browser ??= await chromium.launch({
      executablePath: BROWSERS.find((path) => path && existsSync(path)),
      args: ["--no-sandbox"],
    });
    const opened = await this.browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? "dark" : "light",
      ...context,
    });
    opened.setDefaultTimeout(PATIENCE_MS);
    if (token) await opened.addInitScript((held) => sessionStorage.setItem("berth.token", held), backend.token);
    const page = await opened.newPage();
    page.on("pageerror", (error) => this.faults.push(`page error: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" && !/Failed to load resource|WebSocket connection|net::ERR/.test(message.text())) {
        this.faults.push(`console: ${message.text()}`);
      }
    });
    this.pages.push(page);
    return page;
  }

  /** No error reached the console or escaped in a page. */
  expectQuiet() {
    if (this.faults.length > 0) throw new Error(this.faults.join("\n"));
  }

  async keepEvidence() {
    mkdirSync(results, { recursive: true });
    const name = this.name.replace(/\W+/g, "-");
    for (const [at, page] of this.pages.entries()) {
      await page.screenshot({ path: join(results, `failed-${name}-${at}.png`) }).catch(() => {});
    }
  }

  async strike() {
    await this.browser?.close();
    for (const backend of this.backends) await backend.stop();
    for (const state of new Set(this.backends.map((one) => one.state))) rmSync(state, { recursive: true, force: true });
  }
}

async function call(info, method, path, body) {
  const response = await fetch(`${info.url.replace(/\/$/, "")}/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${info.token}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

export async function shot(page, name) {
  mkdirSync(results, { recursive: true });
  await page.screenshot({ path: join(results, `${name}.png`) });
}

/** Sends what is written as a person would. */
export async function say(page, text) {
  await page.fill(".comp textarea", text);
  await page.press(".comp textarea", "Enter");
}

/** Waits until a condition over the API holds. */
export async function until(what, probe) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The accessibility gate: no violation on the page as it stands. */
export async function accessible(page, what) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document));
  if (violations.length === 0) return;
  const lines = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n${nodes.slice(0, 4).map((node) => `    ${node.html.slice(0, 200)}\n    ${node.failureSummary?.replace(/\s+/g, " ").slice(0, 300)}`).join("\n")}`,
  );
  throw new Error(`${what} is not accessible:\n  ${lines.join("\n  ")}`);
}
