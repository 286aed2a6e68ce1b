import { expect, onTestFinished, test } from "vitest";
import { dayMs, hourMs } from "../../src/base/clock.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import {
  companyOf,
  detailed,
  documentNames,
  firstDayMs,
  parentNames,
} from "../support/virtual/stub-service.ts";
import { VirtualCompany } from "../support/virtual/virtual-company.ts";

/*
 * What the plan of runs promises, in requests and simulated time. A tenth of the service's budget and of the sizes
 * that design and documents speak of: half an hour of scrub is 360 requests.
 */
const limit = 12;

function aVirtualCompany(documents: number, most = limit): VirtualCompany {
  const company = new VirtualCompany(companyOf(documents), most);
  onTestFinished(() => company.close());
  return company;
}

/** When each record's detail or list was read last, the earliest first. */
function readTimes({ service }: VirtualCompany, resource: string): number[] {
  return [...(service.served.readAtMs.get(resource) ?? [])].slice(1).toSorted((a, b) => a - b);
}

/** Age of the stalest detail or parent's list, days. */
function stalestDays(company: VirtualCompany): number {
  const times = [...detailed, ...parentNames].map((name) => readTimes(company, name)[0] ?? 0);
  return (company.clock.nowMs() - Math.min(...times)) / dayMs;
}

test("a first run has every header before it reads a detail or a parent, newest details first, no resource waits for an hour", async () => {
  const company = aVirtualCompany(1_000);
  const { service } = company;
  const hasAll = (mirror: Mirror) =>
    documentNames.every((name) => mirror.records.counts(name).live === service.count(name));
  let headers: number | null = null;
  const onSend = (mirror: Mirror) => {
    if (headers === null && hasAll(mirror))
      headers = service.served.counts.detail + service.served.counts.child;
  };
  const { outcome } = await company.sync({ onSend });
  expect(outcome).toBe("complete");
  // Requests in flight when the last list was answered.
  expect(headers).toBeLessThanOrEqual(6);
  const invoices = service.served.readAtMs.get("invoices") ?? [];
  expect(invoices.at(-1)).toBeLessThan(invoices[1] ?? 0);
  for (const names of [...detailed.map((name) => [name]), parentNames]) {
    const read = names.flatMap((name) => readTimes(company, name));
    const times = [firstDayMs, ...read.toSorted((a, b) => a - b)];
    const waits = times.slice(1).map((at, i) => at - (times[i] ?? 0));
    expect(Math.max(...waits), names.join()).toBeLessThan(hourMs);
  }
});

test("a company whose details and parents fit into one night is proved whole every night: no hidden edit stays", async () => {
  const company = aVirtualCompany(250);
  await company.sync();
  for (const night of [1, 2]) {
    for (const name of [...detailed, ...parentNames]) company.service.edit(name, night, "hidden");
    await company.clock.reach(firstDayMs + night * dayMs);
    await company.sync();
    expect(stalestDays(company)).toBeLessThan(0.1);
  }
  const notes = await company.look(({ db }) =>
    documentNames.map((name) =>
      db.prepare(`SELECT count(*) FROM ${name} WHERE note = 'note 1'`).pluck().get(),
    ),
  );
  expect(notes).toEqual([2, 2, 2, 2, 2]);
});

test("nights that a limit of 8 h cuts off read every list, and the first run ends with them", async () => {
  const company = aVirtualCompany(3_000, limit / 2);
  const outcomes: string[] = [];
  for (let night = 0; night < 3; night++) {
    await company.clock.reach(firstDayMs + night * dayMs);
    outcomes.push((await company.sync({ mostMs: 8 * hourMs })).outcome);
    for (const [name, at] of company.service.served.listedAtMs)
      expect(company.clock.nowMs() - at, `${name} in night ${night}`).toBeLessThan(20 * hourMs);
  }
  expect(outcomes[0]).toBe("stopped");
  expect(company.service.served.unread).toBe(0);
});

test("a run that lasts days has no list older than 20 hours", async () => {
  // Two requests a minute: its first run takes a day.
  const company = aVirtualCompany(2_200, 2);
  const { clock, service } = company;
  let oldestMs = 0;
  const onSend = () => {
    oldestMs = Math.max(oldestMs, clock.nowMs() - Math.min(...service.served.listedAtMs.values()));
  };
  expect((await company.sync({ onSend })).outcome).toBe("complete");
  expect(clock.nowMs() - firstDayMs).toBeGreaterThan(22 * hourMs);
  expect(service.served.unread).toBe(0);
  expect(oldestMs).toBeGreaterThan(20 * hourMs);
  // From the moment when lists are due until the last of them began, at a request in half a minute.
  expect(oldestMs).toBeLessThan(20.5 * hourMs);
});
