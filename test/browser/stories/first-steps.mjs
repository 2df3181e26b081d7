import assert from "node:assert/strict";
import { accessible, say, until } from "../stage.mjs";

const turnState = async (backend, chat) => (await backend.api("GET", `chats/${chat.id}`)).turn?.state;

export default {
  "a browser asks for the token once": async (stage) => {
    const backend = await stage.serve();
    await backend.api("PATCH", "settings", { onboarded: true });
    const page = await stage.page(backend, { token: false });
    await page.goto(backend.url);
    await accessible(page, "the token page");
    await page.fill(".token input", "wrong");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".token .dan");
    await page.fill(".token input", backend.token);
    await page.keyboard.press("Enter");
    await page.waitForSelector(".app");
    await page.reload();
    await page.waitForSelector(".app");
    assert.equal(page.url().includes(backend.token), false, "the token stands in the address");
  },

  "a message is answered, and everything is there after a reload": async (stage) => {
    const { backend, chat, page } = await stage.demo();
    await say(page, "Hello there, 你好");
    await until("the turn completes", async () => (await turnState(backend, chat)) === "completed");
    await page.getByText("Hello there, 你好").first().waitFor();
    assert.equal(await page.inputValue(".comp textarea"), "");
    await page.reload();
    await page.locator(".user", { hasText: "Hello there, 你好" }).waitFor();
  },

  "a permission is answered from the keyboard, never by Enter": async (stage) => {
    const { backend, chat, page } = await stage.demo();
    await say(page, "/edit");
    await page.waitForSelector(".req");
    assert.ok(await page.evaluate(() => document.activeElement.matches("textarea")), "a request took the focus");
    await page.keyboard.press("Alt+j");
    await page.waitForFunction(() => document.activeElement.matches(".req"));
    await page.waitForTimeout(350);
    await page.keyboard.press("Enter");
    await page.focus(".req .btn.pri");
    await page.keyboard.press("Enter");
    assert.equal(await turnState(backend, chat), "awaiting_input");
    await page.focus(".req");
    await page.keyboard.press("a");
    await until("the turn completes", async () => (await turnState(backend, chat)) === "completed");
  },

  "a question is answered with digits and Enter": async (stage) => {
    const { backend, chat, page } = await stage.demo();
    await say(page, "/ask");
    await page.waitForSelector(".req .question");
    await page.keyboard.press("Alt+j");
    await page.waitForFunction(() => document.activeElement.matches(".req"));
    await page.waitForTimeout(350);
    await page.keyboard.press("2");
    await page.keyboard.press("Enter");
    await until("the turn completes", async () => (await turnState(backend, chat)) === "completed");
    const { items } = await backend.api("GET", `chats/${chat.id}/items`);
    assert.equal(items.find((item) => item.kind === "question").body.request.answer.outcome, "answered");
  },

  "a run is stopped, what waits is held and released": async (stage) => {
    const { backend, chat, page } = await stage.demo();
    await say(page, "/slow 60");
    await until("it runs", async () => (await turnState(backend, chat)) === "running");
    await say(page, "second message");
    await page.locator(".q .qr", { hasText: "second message" }).waitFor();
    await page.keyboard.press("Control+.");
    await until("it stops", async () => (await turnState(backend, chat)) === "stopped");
    await page.locator(".qheld").waitFor();
    await page.locator(".qheld .btn").click();
    await page.locator(".user", { hasText: "second message" }).waitFor();
    await until("the second completes", async () => (await turnState(backend, chat)) === "completed");
  },

  "a failure is a card with the way on": async (stage) => {
    const { page } = await stage.demo();
    await say(page, "/fail");
    await page.locator(".err").waitFor();
    await page.locator(".err .btn").first().waitFor();
  },

  "an agent that crashes is told, and the next message works": async (stage) => {
    const { backend, chat, page } = await stage.demo();
    await say(page, "/crash kill");
    await page.locator(".err").waitFor();
    await say(page, "are you there");
    await until("the next completes", async () => {
      const { turn } = await backend.api("GET", `chats/${chat.id}`);
      return turn.text === "are you there" && turn.state === "completed";
    });
  },
};
