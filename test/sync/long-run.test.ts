import { expect, onTestFinished, test } from "vitest";
import { companyOf, parentNames } from "../support/virtual/stub-service.ts";
import { VirtualCompany } from "../support/virtual/virtual-company.ts";

const hourMs = 3_600_000;
const listAgeMs = 20 * hourMs;
/** From the moment when lists are due until the last of them began, at a request in half a minute. */
const slackMs = hourMs / 2;

/** A company that grants two requests a minute: its first run takes a day. */
function slowCompany(documents: number): VirtualCompany {
  const company = new VirtualCompany(companyOf(documents), { limit: 2 });
  onTestFinished(() => company.close());
  return company;
}

/** How long ago the list was begun that was read longest ago, of those that were ever read. */
function oldestListMs({ service, clock }: VirtualCompany): number {
  return clock.nowMs() - Math.min(...service.served.listedAtMs.values());
}

function isParent(name: string): boolean {
  return (parentNames as readonly string[]).includes(name);
}

/** Of resources with records that were never read by themselves: for how long none of one resource was read. */
function longestWaitMs({ service, clock }: VirtualCompany, sinceMs: number): number {
  const all = [...service.served.readAtMs].map(([name, times]) => ({
    name,
    times: Array.from(times.slice(1)),
  }));
  const parents = all.flatMap(({ name, times }) => (isParent(name) ? times : []));
  const details = all.flatMap(({ name, times }) => (isParent(name) ? [] : [times]));
  const waits = [parents, ...details]
    .filter((times) => times.includes(0))
    .map((times) => clock.nowMs() - times.reduce((a, b) => Math.max(a, b), sinceMs));
  return Math.max(0, ...waits);
}

test("a run that lasts days has no list older than 20 hours, and no resource waits for an hour", async () => {
  const company = slowCompany(2_200);
  let [oldestMs, waitMs, sent] = [0, 0, 0];
  const startedMs = company.clock.nowMs();
  const onSend = () => {
    sent += 1;
    oldestMs = Math.max(oldestMs, oldestListMs(company));
    if (sent % 20 === 0) waitMs = Math.max(waitMs, longestWaitMs(company, startedMs));
  };
  expect((await company.sync({ onSend })).outcome).toBe("complete");
  expect(company.clock.nowMs() - startedMs).toBeGreaterThan(22 * hourMs);
  expect(company.service.served.unread).toBe(0);
  expect(oldestMs).toBeGreaterThan(listAgeMs);
  expect(oldestMs).toBeLessThan(listAgeMs + slackMs);
  expect(waitMs).toBeLessThan(hourMs);
});

test("nights that are cut off read the lists again each time, and every detail within them", async () => {
  const company = slowCompany(2_200);
  const startMs = company.clock.nowMs();
  const outcomes: string[] = [];
  for (let night = 0; outcomes.at(-1) !== "complete" && night < 9; night++) {
    await company.clock.until(startMs + night * 24 * hourMs);
    let oldestMs = 0;
    const onSend = () => {
      const isLate = company.clock.nowMs() - startMs - night * 24 * hourMs > hourMs;
      if (isLate) oldestMs = Math.max(oldestMs, oldestListMs(company));
    };
    outcomes.push((await company.sync({ mostMs: 8 * hourMs, onSend })).outcome);
    expect(oldestMs).toBeLessThan(listAgeMs);
  }
  expect(outcomes).toEqual(["stopped", "stopped", "stopped", "complete"]);
  expect(company.service.served.unread).toBe(0);
});
