import { afterAll, expect, test } from "vitest";
import { hourMs } from "../../src/base/clock.ts";
import { unequal } from "./checks/equality.ts";
import { removeSimulations } from "./machine/simulated-disk.ts";
import { beginsList, isSlow, PlannedCompany } from "./planned-company.ts";

/*
 * What the plan of runs promises, in requests and simulated time. A tenth of the service's budget and of the sizes
 * that design and documents speak of: half an hour of scrub is 360 requests.
 */
const limit = 12;

afterAll(removeSimulations);

test("a first run has every header before it reads a detail or a parent, newest details first, no resource waits for an hour", async () => {
  const company = new PlannedCompany(700, { limit, mostPerPage: 50 });
  expect((await company.sync()).outcome).toBe("complete");
  const { exchanges } = company.service;
  const lastList = exchanges.findLastIndex((one) => !isSlow(one));
  // Requests in flight when the last list was answered.
  expect(exchanges.slice(0, lastList).filter(isSlow).length).toBeLessThanOrEqual(6);
  const invoices = exchanges.flatMap(({ route }) => /^\/invoices\/(\d+)$/.exec(route)?.[1] ?? []);
  expect(Number(invoices[0])).toBeGreaterThan(Number(invoices.at(-1)));
  for (const routes of [/^\/invoices\/\d/, /^\/price-list-items\/\d/, /^\/contact-activity-logs$/]) {
    const times = exchanges.filter(({ route }) => routes.test(route)).map(({ hitAtMs }) => hitAtMs);
    const waits = times.map((atMs, i) => atMs - (times[i - 1] ?? 0));
    expect(Math.max(...waits), String(routes)).toBeLessThan(hourMs);
  }
});

test("a company whose details and parents fit into one night is proved whole every night: no hidden edit stays", async () => {
  const company = new PlannedCompany(250, { limit });
  const { time } = company;
  await company.sync();
  for (const night of [1, 2]) {
    company.editUnseen(4, `note of night ${night}`);
    await company.reachDay(night);
    const startedMs = time.passedMs;
    await company.sync();
    expect(company.lastReads((one) => isSlow(one) && one.hitAtMs >= startedMs).size).toBe(company.slow);
    expect(company.look(unequal)).toEqual([]);
  }
});

test("nights that a limit of 8 h cuts off read every list, and the first run ends with them", async () => {
  const company = new PlannedCompany(1_000, { limit: 2 });
  const outcomes: string[] = [];
  for (const night of [0, 1, 2]) {
    await company.reachDay(night);
    outcomes.push((await company.sync({ kind: "stopped", atMs: 8 * hourMs, now: false })).outcome);
    for (const [list, atMs] of company.lastReads(beginsList))
      expect(company.time.passedMs - atMs, `${list} in night ${night}`).toBeLessThan(20 * hourMs);
  }
  expect(outcomes[0]).toBe("stopped");
  expect(company.lastReads(isSlow).size).toBe(company.slow);
});

test("a run that lasts days has no list older than 20 hours", async () => {
  // A request a minute: its first run takes a day.
  const company = new PlannedCompany(1_100, { limit: 1 });
  expect((await company.sync()).outcome).toBe("complete");
  expect(company.time.passedMs).toBeGreaterThan(22 * hourMs);
  expect(company.lastReads(isSlow).size).toBe(company.slow);
  const listed = new Map<string, number>();
  const ages = company.service.exchanges.map((one) => {
    if (beginsList(one)) listed.set(one.route, one.hitAtMs);
    return one.hitAtMs - Math.min(...listed.values());
  });
  expect(Math.max(...ages)).toBeGreaterThan(20 * hourMs);
  // From the moment when lists are due until the last of them began, at a request a minute.
  expect(Math.max(...ages)).toBeLessThan(20.5 * hourMs);
});
