import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import { lockHolder, takeWriterLock } from "../../src/store/writer-lock.ts";
import { aCompany, aMirroredCompany, type Company } from "../support/company/company.ts";
import { dump, look } from "../support/truth/compare.ts";
import { runCommand } from "../support/program/cli.ts";
import { count, expectEqual, expectReplayable } from "../support/truth/equal.ts";
import { localDamage } from "../support/mirror/local-check.ts";
import { outcomeIn, serve, serveHere, startIn, writeServeConfig } from "../support/program/serve.ts";
import { deliver, eventOf } from "../support/program/deliveries.ts";
import { eventually } from "../support/eventually.ts";
import { heldSync, receiving } from "./processes.ts";

const syncHere = ({ folder: cwd }: Company) => runCommand(["sync", "--json"], { cwd });

/** A `sync` that is stopped by SIGSTOP while it waits for its only answer: in no transaction, which others would wait for. */
async function stoppedSync(company: Company) {
  const { child, ended, release } = await heldSync(writeServeConfig(company, "http: { concurrency: 1 }"));
  child.kill("SIGSTOP");
  release();
  return { child, ended };
}

const lockIn = ({ folder }: Company) => path.join(folder, "acme.lock");

function removeLock(company: Company): void {
  for (const end of ["", ".holder"]) rmSync(lockIn(company) + end);
}

describe("the owner of a mirror is stopped (SIGSTOP)", () => {
  // Fault: process | SIGSTOP of the process that writes the mirror, then a second one | the operating system's lock | the second one is refused with 11; the first one goes on after SIGCONT and completes
  test("a second sync ends with 11; the first one completes when it is continued", async () => {
    const company = await aCompany({ records: 2 });
    const first = await stoppedSync(company);
    const second = await syncHere(company);
    expect([second.code, outcomeIn(second)]).toEqual([11, "locked"]);
    expect(second.stderr).toContain(`process ${first.child.pid} (sync`);
    first.child.kill("SIGCONT");
    expect((await first.ended).code).toBe(0);
    expectEqual(company);
  });

  // Fault: process | SIGSTOP of the process that writes the mirror; its lock file is replaced, another one completes, then SIGCONT | the lock file | the first one notices, writes nothing more and ends with 11
  test("continued after its lock file was replaced and another sync has run, it writes nothing more", async () => {
    const company = await aCompany({ records: 2 });
    const first = await stoppedSync(company);
    removeLock(company);
    expect((await syncHere(company)).code).toBe(0);
    const before = dump(company.file, []);
    first.child.kill("SIGCONT");
    const { code, stderr } = await first.ended;
    expect([code, stderr]).toEqual([11, expect.stringContaining("its lock file was removed or replaced")]);
    expect(dump(company.file, [])).toEqual(before);
    expectEqual(company);
    expectReplayable(company);
  });

  // Fault: process | the lock file of serve is removed and another process takes the new one | the lock file | serve stores no delivery and answers 503
  test("I6: serve whose lock file was replaced answers 503 to deliveries and stores none", async () => {
    const { company, daemon } = await receiving(serve);
    daemon.child.kill("SIGSTOP");
    removeLock(company);
    expect((await syncHere(company)).code).toBe(0);
    const other = takeWriterLock(lockIn(company), "sync");
    daemon.child.kill("SIGCONT");
    const delivery = eventOf("clients.updated", 1);
    expect(await deliver(daemon, delivery)).toBe(503);
    other.release();
    expect(count(company.file, "SELECT count(*) FROM _inbox")).toBe(0);
    expect((await daemon.end("SIGTERM")).code).toBe(0);
    expectEqual(company);
  });
});

// Fault: files | an operator removes the mirror while serve has it open | the mirror's files | no delivery is answered 204 into a file without a name; a new mirror is made and read whole
test("I6: the mirror of a serve that is removed takes no delivery; another one is made in its place and read whole", async () => {
  const { company, daemon } = await receiving(serveHere);
  for (const end of ["", "-wal", "-shm"]) rmSync(`${company.file}${end}`);
  const delivery = eventOf("clients.updated", 1);
  expect(await deliver(daemon, delivery)).toBe(503);
  await daemon.until("the mirror's file was removed or replaced");
  const hasRun = () => count(company.file, "SELECT count(*) FROM _runs WHERE outcome = 'complete'") === 1;
  await eventually(() => existsSync(company.file) && hasRun(), "a run that reads the new mirror");
  expect(await deliver(daemon, delivery)).toBe(204);
  expect((await daemon.end("SIGTERM")).code).toBe(0);
  expect(count(company.file, "SELECT count(*) FROM _inbox")).toBe(1);
  expectEqual(company);
});

// Fault: files | an operator removes the write-ahead log while serve has it open, and the process is killed later | the log's files | every delivery that was answered 204 is in the mirror, those that only the removed log held too
test("I6: the write-ahead log of a serve that is removed loses no delivery that was answered 204, before or after", async () => {
  const { company, daemon } = await receiving(serve);
  const stored: string[] = [];
  const send = async () => {
    const delivery = eventOf("clients.updated", 1);
    const status = await deliver(daemon, delivery);
    if (status === 204) stored.push(delivery.id);
    return status;
  };
  expect(await send()).toBe(204);
  // With a reader, SQLite itself does not empty the log when the writer closes.
  const reader = new Database(company.file, { readonly: true });
  expect(reader.prepare("SELECT count(*) FROM _inbox").pluck().get()).toBe(1);
  for (const end of ["-wal", "-shm"]) rmSync(`${company.file}${end}`);
  expect(await send()).toBe(503);
  await daemon.until("write-ahead log was removed or replaced");
  await eventually(async () => (await send()) === 204, "a delivery that is stored");
  reader.close();
  await daemon.end("SIGKILL");
  const ids = look(company.file, (db) => db.prepare("SELECT event_id FROM _inbox").pluck().all());
  expect(new Set(ids)).toEqual(new Set(stored));
  expect(await localDamage(company)).toEqual([]);
});

// Fault: files | the lock file of serve is removed, and taken by nobody or by another process | the lock file | serve notices within seconds, writes nothing while the other one does, and takes the lock again
test("the lock file of a serve without work is missed within seconds when it is removed, and taken again", async () => {
  const company = await aCompany({ records: 2 });
  // Without a secret there are no heartbeats in the mirror.
  writeServeConfig(company, "schedule: { sync: off, publish: off }", [
    { name: "acme", token: company.sandbox.token, secrets: [] },
  ]);
  const daemon = await serveHere(company);
  const untilTaken = (when: string) =>
    eventually(() => lockHolder(lockIn(company))?.pid === process.pid, `the lock ${when}`);
  await daemon.until("a run ended");
  await untilTaken("after a run");
  removeLock(company);
  await untilTaken("again");
  removeLock(company);
  const other = takeWriterLock(lockIn(company), "sync");
  await daemon.until("being written by process");
  other.release();
  await untilTaken("when it is free");
});

const readLately = ({ file }: Company) =>
  count(file, "SELECT count(*) FROM _fence_invoices WHERE read_at > ?", Date.now() - dayMs);

const detailsAsked = ({ proxy }: Company, from: number) =>
  proxy.asked.slice(from).filter(({ path: asked }) => /\/\d+$/.test(asked)).length;

// Fault: process | SIGTERM in the middle of a scrub | a process of `serve` | it ends with 0 at once; what was read is kept
test("serve ends with 0 in the middle of a scrub, loses nothing, and the sync beside it goes on", async () => {
  const company = await aMirroredCompany({ records: 40 }, { startAtMs: Date.now() - 2 * dayMs });
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
