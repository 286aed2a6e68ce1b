import { expect, test } from "vitest";
import { endOf } from "../../support/program/cli.ts";
import { aCompany, type Company } from "../../support/company/company.ts";
import { expectEqual, expectReplayable, expectTombstonesTrue } from "../../support/truth/equal.ts";
import {
  inMirror,
  secret,
  serve,
  startIn,
  wholeRuns,
  writeServeConfig,
} from "../../support/program/serve.ts";
import { portToKeep } from "../../support/program/serve-process.ts";
import { eventually } from "../../support/eventually.ts";

function waitingEvents(company: Company): number {
  return Number(inMirror(company, "SELECT count(*) FROM _inbox WHERE state = 'waiting'") ?? 1);
}

/** Tables whose every change has an event. */
const covered = ["clients", "suppliers", "invoices", "orders", "quotations", "document_payments"];

// Fault: process | kill -9 of the daemon, again and again, during a day's work | a process of `serve` | equal in what events cover, and in everything after one run (I11)
test("I11: a day's work while the daemon is killed: equal in what events cover, and in everything after one run", async () => {
  const port = await portToKeep();
  const url = `http://127.0.0.1:${port}/webhooks/acme`;
  const company = await aCompany({ records: 8, webhooks: [{ url, secret }], retryScale: 0.008 });
  const { control } = company.sandbox;
  writeServeConfig(company, "schedule: { sync: off, publish: off }");
  const start = () => serve(company, ["--listen", `127.0.0.1:${port}`]);
  const first = await start();
  await eventually(() => wholeRuns(company) === 1, "a first whole run");
  const day = control.day({ changes: 60, durationMs: 3_000, seed: 5 });
  await eventually(() => Number(inMirror(company, "SELECT count(*) FROM _inbox")) > 15, "some events");
  await first.end("SIGKILL");
  const second = await start();
  expect(await day.done).toMatchObject({ ended: true, problem: null });
  await control.webhooks.idle(20_000, { withinMs: 30_000 });
  await eventually(() => waitingEvents(company) === 0, "every event read");
  expect(wholeRuns(company)).toBe(1);
  expectEqual(company, { tables: covered });
  expect(Number(inMirror(company, "SELECT count(*) FROM _inbox"))).toBe(control.events().length);
  expect((await endOf(startIn(company, ["sync", "--json"]))).code).toBe(0);
  expectEqual(company);
  expectTombstonesTrue(company);
  expectReplayable(company);
  await second.end("SIGTERM");
});
