import assert from "node:assert/strict";
import { say, until } from "../stage.mjs";

const scrollTop = (page) => page.$eval(".tline", (element) => element.scrollTop);
const topOf = (page, text) => page.evaluate((wanted) => {
  const row = [...document.querySelectorAll(".vrow")].find((one) => one.textContent.includes(wanted));
  return row && Math.round(row.getBoundingClientRect().top);
}, text);
const settled = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

/** Where the rows stand whose text is theirs alone; heads of runs look alike. */
const namedRows = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".vrow")].flatMap((row) => {
      const name = /(Message|Answer) \d+/.exec(row.textContent)?.[0];
      return name ? [[name, Math.round(row.getBoundingClientRect().top)]] : [];
    }),
  );

/** A chat of so many items, given by the network instead of an agent: no agent writes 10,000 in a test. */
async function longChat(page, chat, count) {
  const at = (seq) => new Date(Date.UTC(2026, 10, 27, 8) + seq * 1000).toISOString();
  const item = (seq) => {
    const turn = `turn_${Math.floor((seq - 1) / 10)}`;
    const kind = seq % 10 === 1 ? "user_message" : seq % 10 === 0 ? "answer" : "tool_call";
    const text = kind === "user_message" ? `Message ${seq}` : `Answer ${seq}. ${"Some words of it. ".repeat((seq * 7) % 23)}`;
    const tool = { kind: "read", name: "Read", title: `src/file${seq}.go`, started_at: at(seq), ended_at: at(seq) };
    return { id: `item_${seq}`, chat: chat.id, turn, kind, status: "completed", seq, revision: 1, at: at(seq), summary: text, body: kind === "tool_call" ? { tool } : { text } };
  };
  await page.route(/\/api\/v1\/chats\/[^/]+\/items\?/, (route) => {
    const query = new URL(route.request().url()).searchParams;
    const limit = Number(query.get("limit"));
    const before = Number(query.get("before")) || count + 1;
    const after = Number(query.get("after"));
    const from = after ? after + 1 : Math.max(1, before - limit);
    const to = after ? Math.min(count, after + limit) : before - 1;
    const items = [];
    for (let seq = from; seq <= to; seq++) items.push(item(seq));
    return route.fulfill({ json: { items, has_before: from > 1, has_after: to < count } });
  });
}

export default {
  "the view does not move while an answer grows; only the own message moves it": async (stage) => {
    const { page } = await stage.demo();
    await say(page, "/long 24");
    await page.locator(".md h2, .md h1, .md p").first().waitFor();
    const first = await topOf(page, "/long 24");
    assert.ok(first < 120, `the own message stands at ${first}, not at the top`);
    await page.locator(".below").waitFor();
    assert.equal(await topOf(page, "/long 24"), first);
    await page.hover(".tline");
    await page.mouse.wheel(0, 500);
    await settled(page);
    const held = await scrollTop(page);
    await page.waitForTimeout(1500);
    assert.ok(Math.abs((await scrollTop(page)) - held) <= 1, "the view moved while it was read");
  },

  "10,000 items scroll without a jump, in bounded memory": async (stage) => {
    const backend = await stage.serve();
    const chat = await backend.api("POST", "demo");
    const { page } = await stage.open({ backend, path: "/#/nothing" });
    await longChat(page, chat, 10_000);
    await page.evaluate((id) => (location.hash = `#/chat/${id}`), chat.id);
    await page.reload();
    await page.locator(".vrow", { hasText: "Message 9991" }).waitFor();
    await page.hover(".tline");
    let worst = 0;
    for (let step = 0; step < 60; step++) {
      await page.mouse.wheel(0, -700);
      await page.waitForTimeout(60);
      const seen = await namedRows(page);
      await page.waitForTimeout(80);
      const now = new Map(await namedRows(page));
      for (const [text, top] of seen) {
        if (top < 0 || top > 800 || !now.has(text)) continue;
        worst = Math.max(worst, Math.abs(now.get(text) - top));
      }
    }
    assert.ok(worst <= 2, `a row moved by ${worst} px while nobody scrolled`);
    assert.ok((await page.$$(".vrow")).length < 120, "rows are not virtual");
    await page.keyboard.press("Control+End");
    await page.locator(".vrow", { hasText: "Answer 10000" }).waitFor();
  },

  "in the smallest window nothing lies over a request": async (stage) => {
    const { page } = await stage.demo({ width: 1040, height: 680 });
    await say(page, "/edit");
    await page.locator(".req .acts").waitFor();
    const covered = await page.evaluate(() =>
      [...document.querySelectorAll(".req .acts .btn")].filter((button) => {
        const box = button.getBoundingClientRect();
        return box.width > 0 && !button.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2));
      }).length,
    );
    assert.equal(covered, 0, "an answer is covered");
    await page.keyboard.press("Alt+l");
    await page.locator(".insp").waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.locator(".insp").waitFor();
    await page.setViewportSize({ width: 1040, height: 680 });
    await page.locator(".insp").waitFor({ state: "detached" });
  },

  "a folded run opens in place, and its rows are named for a screen reader": async (stage) => {
    const { backend, chat, page } = await stage.demo();
    await say(page, "/read");
    await until("it completes", async () => (await backend.api("GET", `chats/${chat.id}`)).turn?.state === "completed");
    await page.reload();
    const head = page.locator(".runh");
    await head.waitFor();
    assert.equal(await head.getAttribute("aria-expanded"), "false");
    const before = await head.boundingBox();
    await head.click();
    await page.locator(".tool", { hasText: "Read" }).waitFor();
    const after = await head.boundingBox();
    assert.ok(Math.abs(before.y - after.y) <= 1, "the head moved when it was opened");
    assert.match(await page.locator(".vrow[data-row=user]").first().getAttribute("aria-label"), /^You, \d\d:\d\d$/);
  },

  "what an agent writes is harmless": async (stage) => {
    const { backend, chat, page } = await stage.demo();
    const outside = [];
    page.on("request", (request) => !request.url().startsWith(backend.url) && !/^(blob|data):/.test(request.url()) && outside.push(request.url()));
    await say(
      page,
      'x <img src=x onerror="window.hit=1"> <script>window.hit=2</script> [a](javascript:window.hit=3) ![p](https://example.org/p.png) <iframe src="https://example.org"></iframe> [ok](https://example.org/path)',
    );
    await until("it completes", async () => (await backend.api("GET", `chats/${chat.id}`)).turn?.state === "completed");
    await page.locator(".said").first().waitFor();
    assert.equal(await page.evaluate(() => globalThis.hit), undefined);
    assert.equal(await page.locator(".md iframe, .md script, .md img").count(), 0);
    assert.deepEqual(outside, []);
    const link = page.locator(".md a", { hasText: "ok" });
    if (await link.count()) {
      await link.first().click();
      await page.getByRole("dialog").getByText("example.org").first().waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  },
};
