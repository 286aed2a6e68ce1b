import { expect, test } from "vitest";
import { aCompany, sync, type Company } from "../support/company/company.ts";
import { syncUntil, writeConfig } from "../support/crash/crash.ts";
import { count, expectEqual } from "../support/truth/equal.ts";
import { serve, startIn, writeServeConfig } from "../support/program/serve.ts";
import { eventually } from "../support/eventually.ts";

const dayMs = 86_400_000;

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

// Fault: process | SIGINT in the middle of a scrub | a process of `sync` | it ends with 130 after a commit; what was read is not read again
test("a sync that is asked to stop in its scrub ends after a commit, and the next one reads the rest", async () => {
  const company = await agedMirror();
  writeConfig(company);
  const ended = await syncUntil(company, { request: 45, afterMs: 1, signal: "SIGINT" });
  expect(ended.code).toBe(130);
  const { read = 0, left = 0 } = ended.report?.scrub ?? {};
  expect(Math.min(read, left)).toBeGreaterThan(0);
  const next = await syncUntil(company, { request: Infinity, afterMs: 0 });
  expect([next.code, next.report?.scrub]).toMatchObject([0, { planned: left, read: left, left: 0 }]);
  expectEqual(company);
});

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
