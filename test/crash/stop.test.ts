import { expect, test } from "vitest";
import { aCompany, sync } from "../support/company/company.ts";
import { endOf, startSync, syncHere, writeConfig } from "../support/crash/crash.ts";
import { count, expectEqual, expectHealed } from "../support/truth/equal.ts";

// Fault: process | SIGINT and SIGTERM in the middle of a run | a process of `sync`, and `sync` | it ends with 130 or 143 after a commit, and the next run continues
test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s ends a sync with %i after a commit, and the next run goes on", async (signal, code) => {
  const company = await aCompany({ records: 8 });
  writeConfig(company);
  const child = startSync(company);
  company.proxy.obstruct(async ({ n }, passOn) => {
    if (n !== 40) return undefined;
    const reply = await passOn();
    child.kill(signal);
    return reply;
  });
  expect(await endOf(child)).toMatchObject({ code, report: { outcome: "interrupted" } });
  expect(count(company.file, "SELECT count(*) FROM _runs WHERE outcome = 'interrupted'")).toBe(1);
  const asked = company.proxy.asked.length;
  expect(await sync(company)).toMatchObject({ outcome: "complete", resumed: true });
  expect(company.proxy.asked.slice(asked).map(({ target }) => target)).not.toContain("/countries");
  expectEqual(company);
});

// Fault: network | an answer that never comes, with --max-duration 2s | a proxy, before `sync` | it ends with 5; the next run completes
test("--max-duration ends a sync with 5, although an answer does not come", async () => {
  const company = await aCompany({ records: 2 });
  writeConfig(company, "http: { timeout: 2s }");
  company.proxy.obstruct(({ path }) => (path === "/invoices" ? "hang" : undefined));
  const ended = await syncHere(company, ["--max-duration", "2s"]);
  expect(ended).toMatchObject({ code: 5, report: { outcome: "stopped" } });
  await expectHealed(company);
});
