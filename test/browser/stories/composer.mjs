import assert from "node:assert/strict";
import { say, until } from "../stage.mjs";

const field = ".comp textarea";
const turns = async (backend, chat) => (await backend.api("GET", `chats/${chat.id}/items`)).items.filter((item) => item.kind === "user_message").map((item) => item.body.text);

async function paste(page, text) {
  await page.focus(field);
  await page.evaluate((pasted) => {
    const data = new DataTransfer();
    data.setData("text/plain", pasted);
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);
}

export default {
  "Shift Enter begins a line, Enter sends, composition never sends": async (stage) => {
    const { backend, chat, page } = await stage.demo();
    await page.focus(field);
    await page.keyboard.type("one");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("two");
    await page.evaluate(() => {
      const press = (init) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ...init }));
      press({ isComposing: true });
      press({ keyCode: 229 });
    });
    assert.equal(await page.inputValue(field), "one\ntwo");
    await page.keyboard.press("Enter");
    await until("it is sent", async () => (await turns(backend, chat)).length === 1);
    assert.deepEqual(await turns(backend, chat), ["one\ntwo"]);
  },

  "a draft is kept over a reload": async (stage) => {
    const { backend, chat, page } = await stage.demo();
    await page.fill(field, "half a thought");
    await until("it is on disk", async () => (await backend.api("GET", `chats/${chat.id}/draft`)).text === "half a thought");
    await page.reload();
    await page.waitForFunction((selector) => document.querySelector(selector)?.value === "half a thought", field);
  },

  "2 MB pasted become a file, and can be text instead": async (stage) => {
    const { page } = await stage.demo();
    const began = Date.now();
    await paste(page, "0123456789abcde\n".repeat(131_072));
    await page.locator(".attached .att-chip", { hasText: "pasted.txt" }).waitFor();
    assert.equal(await page.inputValue(field), "");
    assert.ok(Date.now() - began < 15_000, "the paste froze the page");
    await page.locator(".toast .btn").click();
    await page.waitForFunction((selector) => document.querySelector(selector).value.length === 2_097_152, field);
    assert.equal(await page.locator(".attached .att-chip").count(), 0);
  },

  "files are attached, removed, and reach the message": async (stage) => {
    const { backend, chat, page } = await stage.demo();
    const file = (name) => ({ name, mimeType: "text/plain", buffer: Buffer.from("hello") });
    await page.setInputFiles(".comp input[type=file]", [file("a.txt"), file("b.txt")]);
    await page.locator(".attached .att-chip:not(:has(.spin))", { hasText: "a.txt" }).waitFor();
    await page.locator(".attached .att-chip:not(:has(.spin))", { hasText: "b.txt" }).waitFor();
    await page.locator(".attached .att-chip", { hasText: "a.txt" }).getByRole("button").click();
    await page.locator(".attached .att-chip", { hasText: "a.txt" }).waitFor({ state: "detached" });
    await say(page, "with a file");
    await until("it is sent", async () => (await turns(backend, chat)).length === 1);
    const { items } = await backend.api("GET", `chats/${chat.id}/items`);
    assert.deepEqual(items[0].body.attachments.map((one) => one.name), ["b.txt"]);
  },

  "files of the folder and commands are offered": async (stage) => {
    const { backend, chat, page } = await stage.demo();
    await page.focus(field);
    await page.keyboard.type("look at @READ");
    await page.locator(".suggest [role=option]", { hasText: "README.md" }).waitFor();
    await page.keyboard.press("Enter");
    assert.equal(await page.inputValue(field), "look at @README.md ");
    await page.keyboard.press("Enter");
    await until("it completes", async () => (await backend.api("GET", `chats/${chat.id}`)).turn?.state === "completed");
    await page.keyboard.type("/pl");
    await page.locator(".suggest [role=option]", { hasText: "/plan" }).waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.inputValue(field), "/plan ");
  },

  "a refusal gives the words back": async (stage) => {
    const { page } = await stage.demo();
    await page.route(/\/turns$/, (route) => route.fulfill({ status: 507, contentType: "application/problem+json", json: { code: "disk_full", status: 507, title: "", detail: "The disk is full. Nothing was accepted." } }));
    await say(page, "keep this");
    await page.locator(".comp-note", { hasText: "The disk is full" }).waitFor();
    assert.equal(await page.inputValue(field), "keep this");
  },

  "a message whose answer got lost is sent once": async (stage) => {
    const { backend, chat, page } = await stage.demo();
    let tries = 0;
    await page.route(/\/turns$/, async (route) => {
      tries++;
      if (tries > 1) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await say(page, "exactly once");
    await until("it is tried again", async () => tries > 1);
    await page.locator(".outbox").waitFor({ state: "detached" });
    assert.deepEqual(await turns(backend, chat), ["exactly once"]);
  },
};
