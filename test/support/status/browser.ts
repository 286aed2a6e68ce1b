import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser } from "playwright-core";

/** Chromium, from a package; null, with a plain sentence, where it cannot start. Under CI that is a failure. */
export async function startBrowser(): Promise<Browser | null> {
  try {
    const executablePath = await chromium.executablePath();
    const args = ["--no-sandbox", "--disable-gpu"];
    return await playwright.launch({ executablePath, args, headless: true });
  } catch (error) {
    if (process.env["CI"]) throw error;
    process.stderr.write(`Chromium cannot start here, so no page was looked at: ${String(error)}\n`);
    return null;
  }
}

export type OpenedPage = Awaited<ReturnType<typeof openPage>>;

/** A page in a browser, and what went wrong in it. `hasDrivenTimers`: its timers end where the test says so. */
export async function openPage(
  browser: Browser,
  url: string,
  { javaScript = true, hasDrivenTimers = false }: { javaScript?: boolean; hasDrivenTimers?: boolean } = {},
) {
  const viewport = { width: 1_200, height: 800 };
  const looks = { colorScheme: "light", reducedMotion: "reduce", viewport } as const;
  const context = await browser.newContext({ ...looks, javaScriptEnabled: javaScript });
  const page = await context.newPage();
  /** Errors in the console, refusals by the policy among them, and requests to another origin. */
  const wrong: string[] = [];
  const { origin } = new URL(url);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(message.text());
  });
  page.on("pageerror", (error) => void wrong.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`)) wrong.push(`request to ${request.url()}`);
  });
  page.on("requestfailed", (request) => {
    // Chromium ends a request itself as soon as it is answered 304.
    const why = request.failure()?.errorText;
    if (why !== "net::ERR_ABORTED") wrong.push(`failed: ${request.url()} ${why}`);
  });
  if (hasDrivenTimers) {
    // Installed alone, the clock still runs by itself.
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(1_000);
  }
  await page.goto(url);
  return { page, wrong, close: () => context.close() };
}
