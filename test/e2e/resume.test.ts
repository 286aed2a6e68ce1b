import { describe, expect, test } from "vitest";
import {
  aCompany,
  aMirroredCompany,
  sync,
  type Company,
  type SyncOptions,
} from "../support/company/company.ts";
import { count, expectEqual } from "../support/truth/equal.ts";
import { jsonReply } from "../support/company/proxy.ts";
import { floorOf, spentOn, truthOf } from "../support/truth/truth.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const inFlight = 6;
const startMs = Date.parse("2026-11-20T02:00:00Z");

function leastOf({ sandbox }: Company): number {
  const { lists, details, children } = floorOf(truthOf(sandbox));
  return lists.length + details.length + children.length;
}

/** A run that is stopped when it asks for so many. */
async function stoppedRun(company: Company, request: number, options: SyncOptions): Promise<void> {
  const stop = new AbortController();
  const at = company.proxy.asked.length + request;
  const remove = company.proxy.obstruct(({ n }) => {
    if (n >= at) stop.abort();
    return undefined;
  });
  await sync(company, { ...options, signal: stop.signal });
  remove();
}

/** Lists come in pages of ten, so that they alone need many requests. */
function refuseLargePages({ proxy }: Company): void {
  const errors = { perPage: ["The per page field must not be greater than 10."] };
  const refusal = jsonReply(422, { message: "The given data was invalid.", errors });
  proxy.obstruct(({ path, query }) =>
    !path.startsWith("/contact-activity-logs") && Number(query.get("perPage") ?? 0) > 10
      ? refusal
      : undefined,
  );
}

const isDetail = (path: string) => /\/\d+$/.test(path) || path.startsWith("/contact-activity-logs");

describe("a first run", () => {
  test("reads every page of every list before any detail or parent's list", async () => {
    const company = await aCompany({ records: 60 });
    refuseLargePages(company);
    await sync(company);
    const paths = company.proxy.asked.map(({ path }) => path);
    const firstDetail = paths.findIndex(isDetail);
    expect(firstDetail).toBeGreaterThan(40);
    expect(paths.slice(firstDetail).filter((path) => !isDetail(path))).toEqual([]);
  });

  test("reads details in turn over the resources, the newest first", async () => {
    const company = await aCompany({ records: 60 });
    await sync(company, { concurrency: 1 });
    const details = company.proxy.asked
      .map(({ target }) => target)
      .filter((target) => isDetail(target) || target.includes("activity"));
    const kinds = details.slice(0, 6).map((target) => target.split(/[/?]/)[1]);
    expect(new Set(kinds).size).toBe(6);
    const invoices = details
      .filter((target) => target.startsWith("/invoices/"))
      .map((target) => Number(target.slice(10)));
    expect(invoices).toEqual(invoices.toSorted((a, b) => b - a));
  });
});

describe("a run that was stopped", () => {
  // Fault: process | a run is stopped 8 times, and resumed up to 19 hours later | the run's signal, at varied requests | only what was in flight is read twice; equal at the end
  test("is resumed 19 hours later: only what was in flight is read twice, also after 8 stops", async () => {
    const company = await aCompany({ records: 30 });
    const pauseMs = 19 * hourMs;
    const stops = 8;
    for (let n = 0; n < stops; n++)
      await stoppedRun(company, 6 + ((n * 7) % 12), {
        startAtMs: startMs + Math.floor((n * pauseMs) / stops),
      });
    const report = await sync(company, { startAtMs: startMs + pauseMs });
    expect(report).toMatchObject({ outcome: "complete", resumed: true });
    // One request of each run asks who the company is.
    expect(company.proxy.asked.length).toBeLessThanOrEqual(leastOf(company) + stops * (inFlight + 1));
    expectEqual(company);
  });

  test("a day later: its lists are read again, its details and parents' lists are not", async () => {
    const company = await aCompany();
    const { lists, details, children } = floorOf(truthOf(company.sandbox));
    await stoppedRun(company, lists.length + 20, { startAtMs: startMs });
    const asked = company.proxy.asked.length;
    expect((await sync(company, { startAtMs: startMs + 24 * hourMs })).outcome).toBe("complete");
    const again = spentOn(company.proxy.asked.slice(asked));
    expect(again.lists).toEqual(lists);
    const rest = details.length + children.length - 20;
    expect(again.details.length + again.children.length).toBeLessThanOrEqual(rest + inFlight);
    expectEqual(company);
  });

  // Fault: clock | the clock is set back by a year between two runs | the run's clock | nothing waits for the future; lists of unknown age are read again
  test("is resumed by a clock that was set back a year: nothing waits, and lists of unknown age are read again", async () => {
    const company = await aCompany();
    const { lists } = floorOf(truthOf(company.sandbox));
    company.proxy.obstruct(({ path, n }) =>
      path.startsWith("/invoices/") && n % 2 === 0 ? "reset" : undefined,
    );
    await stoppedRun(company, lists.length + 30, { startAtMs: startMs, attempts: 1 });
    company.recover();
    const asked = company.proxy.asked.length;
    const report = await sync(company, { startAtMs: startMs - 365 * 24 * hourMs });
    expect(report).toMatchObject({ outcome: "complete", resumed: true });
    expect(spentOn(company.proxy.asked.slice(asked)).lists).toEqual(lists);
    expectEqual(company);
  });

  test.each([
    ["of all parents' lists", { parentsPerRun: "all" }],
    ["of so many parents' lists", { parentsPerRun: 5_000 }],
    ["in full", { full: true }],
  ] as const)("%s, reads none of its records and parents' lists twice", async (_what, options) => {
    const company = await aMirroredCompany({}, { startAtMs: startMs - hourMs });
    const { lists, details, children } = floorOf(truthOf(company.sandbox));
    await stoppedRun(company, lists.length + 20, { ...options, startAtMs: startMs });
    expect((await sync(company, { ...options, startAtMs: startMs + hourMs })).outcome).toBe("complete");
    const spent = spentOn(company.proxy.asked);
    expect(new Set(spent.children)).toEqual(new Set(children));
    const least = children.length + ("full" in options ? details.length : 0);
    expect(spent.children.length + spent.details.length).toBeLessThanOrEqual(least + inFlight);
  });
});

// Fault: process | runs of a chain are stopped by a limit, a signal and a kill | `parents_per_run: N` | the chain is one share of N, and no parent's list is read twice
describe("with a number of parents' lists for each run", () => {
  const share = 12;

  test("a chain of stopped runs reads one share of them, and none twice; the next chain reads others", async () => {
    const company = await aMirroredCompany({}, { startAtMs: startMs - hourMs });
    const { lists, children } = floorOf(truthOf(company.sandbox));
    const chain = async (atMs: number) => {
      const asked = company.proxy.asked.length;
      const options = { parentsPerRun: share, startAtMs: atMs };
      await stoppedRun(company, lists.length + 4, options);
      const limited = await sync(company, { ...options, mostRequests: 5 });
      // The clock was set back: what was read is known by its run.
      await stoppedRun(company, 3, { ...options, startAtMs: atMs - minuteMs });
      const last = await sync(company, { ...options, concurrency: 1 });
      expect([limited.outcome, last.outcome]).toEqual(["stopped", "complete"]);
      return spentOn(company.proxy.asked.slice(asked)).children;
    };
    const first = await chain(startMs);
    const second = await chain(startMs + hourMs);
    for (const read of [first, second]) {
      expect(new Set(read).size).toBe(share);
      // Requests that were in flight when a run was stopped are sent again.
      expect(read.length).toBeLessThanOrEqual(share + 2 * inFlight);
    }
    expect(children.length).toBeGreaterThan(2 * share);
    expect(new Set([...first, ...second]).size).toBe(2 * share);
  });
});

describe("with a budget too small for its lists", () => {
  const mostRequests = 35;

  test("headers come first, then lists and details both get on, and everything ends complete", async () => {
    const company = await aCompany({ records: 60 });
    refuseLargePages(company);
    const outcomes: string[] = [];
    for (let run = 0; run < 30 && outcomes.at(-1) !== "complete"; run++)
      outcomes.push((await sync(company, { mostRequests, startAtMs: startMs + run * hourMs })).outcome);
    expect(outcomes.at(-1)).toBe("complete");
    const paths = company.proxy.asked.map(({ path }) => path).filter((path) => path !== "/whoami");
    const firstDetail = paths.findIndex(isDetail);
    expect(firstDetail).toBeGreaterThan(mostRequests);
    expect(paths.slice(firstDetail).filter((path) => !isDetail(path))).toEqual([]);
    expectEqual(company);
  });

  test("night by night, when no night is long enough for the lists: details and lists both get on", async () => {
    const company = await aCompany({ records: 60 });
    refuseLargePages(company);
    const provisional: number[] = [];
    for (let night = 0; night < 8; night++) {
      await sync(company, { mostRequests, startAtMs: startMs + night * 24 * hourMs });
      provisional.push(count(company.file, "SELECT count(*) FROM invoices WHERE _detail_at IS NULL"));
    }
    expect(provisional.at(-1)).toBe(0);
    const times = company.proxy.asked.filter(({ target }) => target === "/banks").length;
    expect(times).toBeGreaterThan(3);
  });
});
