import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { fakturoid } from "../../connectors/fakturoid/declaration.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/logger.ts";
import { monthAt } from "../../src/rate-limit/monthly-quota.ts";
import { openBudgetFile } from "../../src/state/budget-file.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { recordTarget } from "../../src/state/work-item.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { settingsOf } from "../../src/store/mirror-files.ts";
import { readStatus } from "../../src/status/read-status.ts";
import { changesOf } from "../support/company/account-changes.ts";
import { openForTest, writeAccountConfig, type Account } from "../support/company/open-account.ts";
import { endServe, portToKeep, startServe } from "../support/program/serve-process.ts";
import { look } from "../support/truth/compare.ts";

/** How the month stands, by a connection of its own, as another process sees it. */
async function month(one: Account) {
  await using service = one.connect();
  return service.rateLimiter.view().month;
}

describe("the month's calls", () => {
  test("are counted over all processes, tokens included, and begin anew with the month", async () => {
    const one = await openForTest({ monthly: null });
    await one.sync();
    const { length } = one.standIn.visits;
    const november = { month: "2026-11", used: length, limit: 1_500, kept: 150, left: 1_350 - length };
    expect(await month(one)).toEqual(november);
    one.passDays(30);
    expect(await month(one)).toMatchObject({ month: "2026-12", used: 0 });
  });

  test("are what the account states, where others use it too: its number, if it is the larger one", async () => {
    const one = await openForTest({ monthly: 20_000 });
    one.standIn.callsUsed = 4_000;
    await one.sync();
    expect(await month(one)).toMatchObject({ limit: 20_000, used: one.standIn.callsUsed });
  });

  // Fault: clock | the service still states the calls of the month before on the first day of a month | the budget | the new month is not used up
  test("of the month before, which the service may still state on the first day, use up no new month", async () => {
    const one = await openForTest({ monthly: 3_000 });
    one.passDays(29);
    one.standIn.callsUsed = 2_990;
    expect(await one.sync()).toMatchObject({ outcome: "complete" });
    const used = one.standIn.visits.length;
    expect(await month(one)).toMatchObject({ month: "2026-12", limit: 3_000, used });
    one.passDays(1);
    one.standIn.callsUsed = 500;
    await one.sync();
    expect((await month(one))?.used).toBeGreaterThan(500);
  });

  // Fault: limiter | the month's calls are used up in the middle of a run | the budget | no further request; the run is resumable, and the next month's goes on
  test("I8: used up end a run that can be resumed, and no request follows until the next month", async () => {
    const one = await openForTest({ monthly: null }, "rate_limit: { monthly: 10, reserve: 20% }\n");
    const report = await one.sync();
    expect(report).toMatchObject({ outcome: "stopped" });
    expect(one.said.filter((line) => line.startsWith("warn the month's calls are used up"))).toHaveLength(1);
    expect(one.standIn.visits).toHaveLength(8);
    const used = "8 of 10 calls of 2026-11 are used, and 2 are kept for events";
    expect((await one.sync()).error?.message).toContain(used);
    expect(one.standIn.visits).toHaveLength(8);
    one.passDays(30);
    expect(await one.sync()).toMatchObject({ outcome: "stopped", resumed: true });
    expect(one.standIn.visits).toHaveLength(16);
  });

  test("bound the whole lists of a week: where nights need the calls, one is read over several days", async () => {
    const limit = "rate_limit: { monthly: 75, reserve: 0% }\n";
    const one = await openForTest({ invoices: 400, monthly: null }, limit);
    await one.sync();
    one.passDays(8);
    one.asked();
    await one.sync();
    expect(one.asked().filter((path) => path === "/invoices.json")).toHaveLength(1);
    one.passDays(7);
    await one.sync();
    const overdue = "warn invoices: the whole list is overdue";
    expect(one.said.filter((line) => line.startsWith(overdue))).toHaveLength(1);
    one.passDays(15);
    one.asked();
    await one.sync();
    expect(one.asked().filter((path) => path === "/invoices.json")).toHaveLength(2);
  });
});

test("status names the service's own limit, also before an answer stated one", async () => {
  const { config, company, connect } = await openForTest();
  const service = connect();
  (await service.rateLimiter.admit("list")).lost();
  await service[Symbol.asyncDispose]();
  const settings = settingsOf(config, company, fakturoid);
  const parts = { maxAgeMs: null, nowMs: systemClock.nowMs(), db: null, clock: systemClock, log: silentLog };
  const { budget } = readStatus({ ...settings, ...parts });
  expect(budget).toMatchObject({ limit: null, granted: fakturoid.limits.requests });
});

test("a run is refused also where what an event leads to waits for the next month's calls to ask for an access token", async () => {
  const one = await openForTest({ monthly: null }, "rate_limit: { monthly: 10, reserve: 90% }\n");
  await using service = one.connect(one.config, true);
  (await service.rateLimiter.admit("webhook")).lost();
  const stop = new AbortController();
  const request = { method: "GET", path: "/account.json", expect: "json", lane: "list" } as const;
  const waiting = service.transport.send({ ...request, signal: stop.signal });
  const run = service.limited({});
  const refused = { message: expect.stringContaining("the month's calls are used up") as string };
  await expect(run.send({ ...request, signal: stop.signal })).rejects.toMatchObject(refused);
  await run.close();
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ kind: "stopped" });
});

/** A recheck of the record is due, and this month's calls are used up but for those that are kept for events. */
async function leaveRecheck({ files }: Account, id: number): Promise<void> {
  using budget = openBudgetFile({ path: files.budget, clock: systemClock });
  budget.noteMonth(monthAt(systemClock.nowMs()), { used: 50, limit: null });
  using mirror = await openMirror(files.mirror, fakturoid);
  const recheck = { kind: "detail", lane: "webhook", reason: "recheck", dueAtMs: 1 } as const;
  const what = { resource: "invoices", target: recordTarget(id), dirtySeq: mirror.sequence.next() };
  mirror.apply(() => new WorkQueue(mirror.db).add({ ...recheck, ...what }));
}

// Fault: limiter | a recheck is due when the calls for runs are used up | what is kept for events | it waits, and asks for nothing meanwhile; an event is read
test("I8: what an event leads to waits for the next month, and leaves events the calls that are kept for them", async () => {
  const one = await openForTest({ invoices: 10, monthly: null });
  await one.sync();
  const [rechecked, changed] = one.standIn.books.tables().get("invoices") ?? [];
  await leaveRecheck(one, Number(rechecked?.id));
  const [port, secret] = [await portToKeep(), "a-long-random-text-0123456789"];
  writeAccountConfig(one.folder, one.standIn, secret, "rate_limit: { monthly: 100, reserve: 50% }");
  one.asked();
  const daemon = await startServe(one.folder, port);
  onTestFinished(async () => void (await endServe(daemon, "SIGKILL")));
  await expect.poll(() => daemon.stderr()).toContain("the month's calls are used up");
  const receiver = { url: `http://127.0.0.1:${port}/webhooks/acme`, secret };
  changesOf(one.standIn.books, systemClock, receiver).change("invoices", Number(changed?.id), {
    note: "seen",
  });
  const noteOf = `SELECT note FROM invoices WHERE id = ${Number(changed?.id)}`;
  const notes = () => look(one.files.mirror, (db) => db.prepare(noteOf).pluck().all());
  await expect.poll(notes).toEqual(["seen"]);
  await setTimeout(500);
  expect(one.asked()).toEqual(["/oauth/token", "/account.json", `/invoices/${Number(changed?.id)}.json`]);
});
