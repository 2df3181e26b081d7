import assert from "node:assert/strict";
import { say, until } from "../stage.mjs";

const completed = (backend, chat) => until("it completes", async () => (await backend.api("GET", `chats/${chat.id}`)).turn?.state === "completed");

export default {
  "a backend that comes back is found again, what was written meanwhile goes out once": async (stage) => {
    const { backend, chat, page } = await stage.demo();
    await say(page, "before");
    await completed(backend, chat);
    await backend.stop();
    await page.locator(".ban", { hasText: "Reconnecting" }).waitFor();
    await say(page, "while it was away");
    await page.locator(".outbox .qr", { hasText: "while it was away" }).waitFor();
    const again = await stage.serve({ state: backend.state, listen: new URL(backend.url).host });
    await page.locator(".user", { hasText: "while it was away" }).waitFor();
    await page.locator(".ban").waitFor({ state: "detached" });
    await completed(again, chat);
    const { items } = await again.api("GET", `chats/${chat.id}/items`);
    assert.equal(items.filter((item) => item.body.text === "while it was away" && item.kind === "user_message").length, 1);
  },

  "two browsers on one chat see the same, and the first answer counts": async (stage) => {
    const first = await stage.demo();
    const second = await stage.open({ backend: first.backend, path: `/#/chat/${first.chat.id}` });
    await say(first.page, "/edit");
    await first.page.locator(".req").waitFor();
    await second.page.locator(".req").waitFor();
    await second.page.waitForTimeout(400);
    await second.page.locator(".req .btn", { hasText: "Allow once" }).click();
    await first.page.locator(".req").waitFor({ state: "detached" });
    await completed(first.backend, first.chat);
    const rows = (page) => page.locator(".user").allInnerTexts();
    assert.deepEqual(await rows(first.page), await rows(second.page));
  },

  "where sockets do not get through, long polls do": async (stage) => {
    const backend = await stage.serve();
    const chat = await backend.api("POST", "demo");
    await backend.api("PATCH", "settings", { onboarded: true });
    const page = await stage.page(backend);
    await page.addInitScript(() => {
      globalThis.WebSocket = class {
        constructor() {
          setTimeout(() => this.onclose?.());
        }
        close() {}
      };
    });
    await page.goto(`${backend.url}/#/chat/${chat.id}`);
    await page.waitForSelector(".comp textarea");
    await say(page, "over polls");
    await completed(backend, chat);
    await page.locator(".said", { hasText: "over polls" }).waitFor();
  },

  "200 chats in the sidebar": async (stage) => {
    const backend = await stage.serve();
    const { cwd } = await backend.api("POST", "demo");
    for (let n = 0; n < 200; n++) await backend.api("POST", "chats", { agent: "demo", cwd, title: `Chat number ${n}` });
    const { page } = await stage.open({ backend });
    await page.locator(".side .chat").nth(200).waitFor();
    await page.focus(".side .chat[tabindex='0']");
    await page.keyboard.press("End");
    assert.ok(await page.evaluate(() => document.activeElement.getBoundingClientRect().bottom <= innerHeight));
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".comp textarea");
  },
};
