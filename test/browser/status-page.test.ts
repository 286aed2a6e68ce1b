import { mkdirSync, readFileSync } from "node:fs";
import type { Result } from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { Secret } from "../../src/base/secret.ts";
import { silentLog } from "../../src/base/logger.ts";
import { startServer, type WebhookServer } from "../../src/server/server.ts";
import { openPage, startBrowser, type OpenedPage } from "../support/status/browser.ts";
import { lookedAtMs } from "../support/status/company-view.ts";
import { hostile } from "../support/status/rows.ts";
import { aSite, type SiteFacts } from "../support/status/site.ts";
import { openStates, type StatusStates } from "../support/status/states.ts";

/** The wall clock stands still; intervals pass twenty times as fast. */
const speed = 20;
const clock: Clock = {
  nowMs: () => lookedAtMs,
  monotonicMs: () => systemClock.monotonicMs() * speed,
  sleep: (ms, signal) => systemClock.sleep(ms / speed, signal),
};
const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
/** A folder for pictures of all states; none are made without it. */
const pictures = process.env["STATUS_PICTURES"];

let states: StatusStates;
let server: WebhookServer;
let browser: Browser | null;
let url: string;
/** Where one state is shown after the other: a renderer and a script of rules for all. */
let shared: OpenedPage;

/** The pages of all states behind a server of their own. */
function startSite(facts: SiteFacts = {}) {
  const view = (company: string) => states.views.get(company)!;
  const site = aSite({ clock, names: states.names, find: states.find, view, ...facts });
  const nobody = { find: () => null, countAnswer: () => undefined };
  const parts = { companies: nobody, clock: systemClock, pages: {}, site, log: silentLog };
  return startServer({ host: "127.0.0.1", port: 0, ...parts });
}

beforeAll(async () => {
  [browser, states] = await Promise.all([startBrowser(), openStates(clock)]);
  server = await startSite();
  url = `http://127.0.0.1:${server.port}`;
  if (!browser) return;
  shared = await openPage(browser, url);
  await shared.page.addInitScript(axe);
});

/** The picture of the documents: one company that is well. */
async function takePicture(folder: string): Promise<void> {
  const one = await startSite({ names: ["acme"] });
  const opened = browser && (await openPage(browser, `http://127.0.0.1:${one.port}/`));
  await opened?.page.setViewportSize({ width: 1_160, height: 1_010 });
  await opened?.page.screenshot({ path: `${folder}/status-page.png` });
  await opened?.close();
  await one.close(100);
}

afterAll(async () => {
  if (pictures !== undefined) await takePicture(pictures);
  await browser?.close();
  await server.close(100);
  await states.close();
});

const pages = {
  huge: "/",
  empty: "/companies/empty",
  "first run": "/companies/first_run",
  healthy: "/companies/acme",
  failing: "/companies/failing",
  hostile: "/companies/hostile",
  search: "/companies/hostile/changes?q=script",
};

/** What keeps people from using the page as it is shown now; and a picture of it, where one is wanted. */
async function judge(page: OpenedPage["page"], name: string, rules?: readonly string[]) {
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
  const run = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const violations = await page.evaluate<readonly Result[]>(run);
  const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
  if (pictures !== undefined) {
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: `${pictures}/${name.replace(" ", "-")}.png`, fullPage: true });
  }
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
  return [...found, ...(overflow > 0 ? [`${overflow} pixels too wide`] : [])];
}

/** What may differ there from a desk in the light. */
const rulesOfDarkPhones = ["color-contrast", "target-size", "scrollable-region-focusable"];

async function show(address: string): Promise<OpenedPage> {
  await shared.page.emulateMedia({ colorScheme: "light" });
  await shared.page.setViewportSize({ width: 1_200, height: 800 });
  await shared.page.goto(address);
  return shared;
}

describe("in a browser, a page", () => {
  test.each(Object.entries(pages))("%s: all can use it, light, dark, on a phone", async (name, path) => {
    if (!browser) return;
    const { page, wrong } = await show(url + path);
    expect(await judge(page, `${name}-light`)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await judge(page, `${name}-dark-phone`, rulesOfDarkPhones)).toEqual([]);
    expect(await page.evaluate("globalThis.wasRun")).toBeUndefined();
    expect(wrong.splice(0)).toEqual([]);
  });

  test.each(Object.entries(pages))("%s: all that it loads is less than 100 kB", async (_, path) => {
    const text = await (await fetch(url + path)).text();
    const assets = [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map((match) => match[1] ?? "");
    const bodies = await Promise.all(assets.map(async (asset) => (await fetch(url + asset)).text()));
    expect(Buffer.byteLength(text + bodies.join(""))).toBeLessThan(100_000);
  });

  test("shows texts from outside as texts: no element, no turned line, no end of a line", async () => {
    const text = await (await fetch(`${url}/companies/hostile`)).text();
    expect(text).not.toContain("<script>globalThis");
    expect(text).not.toContain("<img");
    for (const unsafe of ["\u202e", "\u2066", "\u0000", "\u001b"]) expect(text).not.toContain(unsafe);
    expect(text).toContain("\\u202e");
    expect(text).not.toContain(hostile.long);
  });

  test("shows a month that was handed over, and how many of its documents changed since", async () => {
    const text = await (await fetch(`${url}/companies/acme`)).text();
    expect(text).toMatch(/month 2026-\d\d/);
    expect(text).toMatch(/[1-9]\d* documents? changed since it was handed over/);
  });

  test("changes by itself, and keeps focus, typed text, scroll position and opened details", async () => {
    if (!browser) return;
    const { page, wrong, close } = await openPage(browser, `${url}/companies/acme`, {
      hasDrivenTimers: true,
    });
    await page.clock.runFor(1);
    await page.locator("#connection", { hasText: "Live" }).waitFor();
    await page.evaluate("globalThis.sameDocument = true");
    await page.click("#budget-table summary");
    await page.fill("input[type=search]", "Kov");
    const scrolled = await page.evaluate<number>("window.scrollY");
    const before = states.views.get("acme")!;
    states.views.set("acme", { ...before, missingSecrets: ["the environment variable X is not set"] });
    const nextSentence = () => page.clock.runFor(2_000).then(() => page.textContent(".sentence"));
    const missing = "Not current: a secret is missing: the environment variable X is not set";
    await expect.poll(nextSentence).toBe(missing);
    expect(
      await page.evaluate(`[sameDocument, document.activeElement.name, document.activeElement.value,
        document.getElementById("budget-table").open, window.scrollY - ${scrolled} < 400]`),
    ).toEqual([true, "q", "Kov", true, true]);
    states.views.set("acme", before);
    await expect.poll(nextSentence).toContain("Everything is fresh");
    expect(wrong).toEqual([]);
    await close();
  });

  // Fault: network | the daemon is away while somebody looks at its page | no network in a real browser | the page stays, says so, is asked for less and less, and follows again
  test("says that it is not connected, asks less and less, and follows again; nobody sees it: it asks nothing", async () => {
    if (!browser) return;
    const { page, close } = await openPage(browser, `${url}/companies/acme`, { hasDrivenTimers: true });
    let asked = 0;
    page.on("request", () => void asked++);
    const isShown = (text: string) => page.locator("#connection", { hasText: text }).waitFor();
    await page.clock.runFor(1);
    await isShown("Live");
    await page.context().setOffline(true);
    for (const seconds of [2, 4, 8, 16, 32, 60]) {
      const failed = page.waitForEvent("requestfailed");
      await page.clock.runFor(seconds * 1_000);
      await failed;
      await isShown(`asked for again in ${Math.min(60, 2 * seconds)} seconds`);
    }
    expect(asked).toBe(7);
    expect(await page.textContent("h1")).toBe("acme");
    await page.context().setOffline(false);
    const afterMinute = () => page.clock.runFor(60_000).then(() => page.textContent("#connection"));
    await expect.poll(afterMinute).toContain("Live");
    const askedSoFar = asked;
    const hide = (isHidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"))`);
    await hide(true);
    await page.clock.runFor(600_000);
    expect(asked).toBe(askedSoFar);
    const [back] = await Promise.all([
      page.waitForResponse(url + "/companies/acme"),
      hide(false).then(() => page.clock.runFor(1)),
    ]);
    expect([304, 200]).toContain(back.status());
    await close();
  });

  test("works without JavaScript: companies and changes are searched by forms", async () => {
    if (!browser) return;
    const { page, close } = await openPage(browser, url, { javaScript: false });
    await page.fill("input[type=search]", "acme");
    await page.press("input[type=search]", "Enter");
    await page.click("text=acme");
    expect(await page.textContent(".sentence")).toMatch(/^Everything is fresh and proven as of \d\d:\d\d$/);
    await page.fill("input[type=search]", "kováč");
    await page.click("button");
    expect(await page.textContent("h1")).toBe("Changes of acme");
    expect(await page.textContent(".rows > li:last-child")).toContain("Kováč & synovia");
    await close();
  });

  test("asks for a token where one is set, and follows after it was given", async () => {
    if (!browser) return;
    const token = "a-token-of-the-pages-0123";
    const given = { secret: new Secret(token), isMade: false };
    const closed = await startSite({ isLocal: false, token: () => given });
    const { page } = await show(`http://127.0.0.1:${closed.port}/companies/acme`);
    expect(await judge(page, "sign-in")).toEqual([]);
    await page.fill("input[type=password]", token);
    await page.press("input[type=password]", "Enter");
    await page.locator("#connection", { hasText: "Live" }).waitFor();
    expect(await page.textContent("h1")).toBe("acme");
    await closed.close(100);
  });
});
