import { expect, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import { aCompany, sync, type Company } from "../support/company/company.ts";
import { count, expectEqual } from "../support/truth/equal.ts";
import { serve, startIn, writeServeConfig } from "../support/program/serve.ts";
import { eventually } from "../support/eventually.ts";

/** A mirror whose details were read two days ago. */
async function agedMirror(): Promise<Company> {
  const company = await aCompany({ records: 40 });
  await sync(company, { startAtMs: Date.now() - 2 * dayMs });
  return company;
}

const readLately = ({ file }: Company) =>
  count(file, "SELECT count(*) FROM _fence_invoices WHERE read_at > ?", Date.now() - dayMs);

const detailsAsked = ({ proxy }: Company, from: number) =>
  proxy.asked.slice(from).filter(({ path }) => /\/\d+$/.test(path)).length;

// Fault: process | SIGTERM in the middle of a scrub | a process of `serve` | it ends with 0 at once; what was read is kept
test("serve ends with 0 in the middle of a scrub, loses nothing, and the sync beside it goes on", async () => {
  const company = await agedMirror();
  writeServeConfig(company, "schedule: { publish: off, sync: off }");
  const from = company.proxy.asked.length;
  const held = Promise.withResolvers<void>();
  company.proxy.obstruct(async (_asked, passOn) => {
    if (detailsAsked(company, from) > 20) await held.promise;
    return passOn();
  });
  const daemon = await serve(company);
  const beside = startIn(company, ["sync", "--json"]);
  await eventually(() => detailsAsked(company, from) > 20 && readLately(company) > 0, "some of the scrub");
  const ending = daemon.end("SIGTERM");
  held.resolve();
  expect((await ending).code).toBe(0);
  const askedBefore = detailsAsked(company, from);
  expect(readLately(company)).toBeGreaterThan(0);
  await eventually(() => beside.exitCode !== null, "the end of the sync");
  expect(beside.exitCode).toBe(0);
  expect(detailsAsked(company, from)).toBeGreaterThan(askedBefore);
  expectEqual(company);
});
