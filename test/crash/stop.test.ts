import { expect, test } from "vitest";
import { aCompany, sync } from "../support/company/company.ts";
import { endOf, runCommand } from "../support/program/cli.ts";
import { outcomeIn, startIn, writeServeConfig } from "../support/program/serve.ts";
import { count, expectEqual, expectHealed } from "../support/truth/equal.ts";

// Fault: process | SIGINT and SIGTERM in the middle of a run | a process of `sync`, and `sync` | it ends with 130 or 143 after a commit, and the next run continues
test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s ends a sync with %i after a commit, and the next run goes on", async (signal, code) => {
  const company = writeServeConfig(await aCompany({ records: 8 }));
  const child = startIn(company, ["sync", "--json"]);
  company.proxy.obstruct(async ({ n }, passOn) => {
    if (n !== 40) return undefined;
    const reply = await passOn();
    child.kill(signal);
    return reply;
  });
  const ended = await endOf(child);
  expect([ended.code, outcomeIn(ended)]).toEqual([code, "interrupted"]);
  expect(count(company.file, "SELECT count(*) FROM _runs WHERE outcome = 'interrupted'")).toBe(1);
  const asked = company.proxy.asked.length;
  expect(await sync(company)).toMatchObject({ outcome: "complete", resumed: true });
  expect(company.proxy.asked.slice(asked).map(({ target }) => target)).not.toContain("/countries");
  expectEqual(company);
});

// Fault: network | an answer that never comes, with --max-duration 2s | a proxy, before `sync` | it ends with 5; the next run completes
test("--max-duration ends a sync with 5, although an answer does not come", async () => {
  const company = writeServeConfig(await aCompany({ records: 2 }), "http: { timeout: 2s }");
  company.proxy.obstruct(({ path }) => (path === "/invoices" ? "hang" : undefined));
  const ended = await runCommand(["sync", "--json", "--max-duration", "2s"], { cwd: company.folder });
  expect([ended.code, outcomeIn(ended)]).toEqual([5, "stopped"]);
  await expectHealed(company);
});
