import { expect, onTestFinished, test } from "vitest";
import { hourMs } from "../../src/base/clock.ts";
import { companyOf } from "../support/virtual/stub-service.ts";
import { VirtualCompany } from "../support/virtual/virtual-company.ts";

const listAgeMs = 20 * hourMs;
/** From the moment when lists are due until the last of them began, at a request in half a minute. */
const slackMs = hourMs / 2;

/** How long ago the list was begun that was read longest ago, of those that were ever read. */
function oldestListMs({ service, clock }: VirtualCompany): number {
  return clock.nowMs() - Math.min(...service.served.listedAtMs.values());
}

test("a run that lasts days has no list older than 20 hours", async () => {
  // Two requests a minute: its first run takes a day.
  const company = new VirtualCompany(companyOf(2_200), 2);
  onTestFinished(() => company.close());
  let oldestMs = 0;
  const startedMs = company.clock.nowMs();
  const onSend = () => (oldestMs = Math.max(oldestMs, oldestListMs(company)));
  expect((await company.sync({ onSend })).outcome).toBe("complete");
  expect(company.clock.nowMs() - startedMs).toBeGreaterThan(22 * hourMs);
  expect(company.service.served.unread).toBe(0);
  expect(oldestMs).toBeGreaterThan(listAgeMs);
  expect(oldestMs).toBeLessThan(listAgeMs + slackMs);
});
