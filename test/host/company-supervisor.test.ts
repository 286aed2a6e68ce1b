import { declaration } from "../../connectors/fintoro/declaration.ts";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { hourMs, systemClock, type Clock } from "../../src/base/clock.ts";
import { askDaemon } from "../../src/host/commands.ts";
import { createRecentViews, type Daemon } from "../../src/host/daemon.ts";
import { usualRun } from "../../src/runs/run-queue.ts";
import { needsRestart } from "../../src/host/host-context.ts";
import { recordStep } from "../../src/status/after-run-record.ts";
import { mirrorFiles, settingsOf, type CompanySettings } from "../../src/store/mirror-files.ts";
import { aCompany, type Company } from "../support/company/company.ts";
import { jsonReply } from "../support/company/proxy.ts";
import { load, minimal } from "../support/connector/config.ts";
import { age, configOf, impatientClock, startDaemon } from "../support/program/daemon.ts";
import { expectEqual } from "../support/truth/equal.ts";
import { inMirror, wholeRuns } from "../support/company/served-company.ts";
import { companyView } from "../support/status/company-view.ts";
import { eventually } from "../support/eventually.ts";

/** A file that cannot be opened is tried again after this. */
const openRetryMs = 30_000;

function stateOf(daemon: Daemon, company = "acme") {
  return daemon.pageOf(company)?.view();
}

async function untilWorking(daemon: Daemon): Promise<void> {
  await eventually(() => stateOf(daemon)?.service.state === "working", "a service that answers");
}

let leftOnce: Buffer | undefined;

/** A mirror that a daemon has made, received for, and left in order. Made once: each test gets a copy. */
async function leftInOrder(): Promise<Company> {
  const company = await aCompany({ records: 3 });
  if (!leftOnce) {
    const daemon = startDaemon(company, configOf(company));
    await eventually(() => wholeRuns(company) === 1, "a whole run");
    await daemon.stop();
    company.said.length = 0;
    leftOnce = readFileSync(company.file);
  }
  writeFileSync(company.file, leftOnce);
  return company;
}

/** A run of clients, by the daemon that holds the company. */
function syncBy(company: Company, more: object = {}) {
  const options = { ...usualRun, resources: ["clients"], untilMs: null, ...more };
  const sock = company.file.replace(/db$/, "sock");
  return askDaemon(sock, { kind: "sync", options }, new AbortController().signal);
}

test("a company that starts makes no run after a short pause, and one after a pause that may have cost events", async () => {
  const company = await leftInOrder();
  const config = configOf(company);
  const short = startDaemon(company, config);
  await untilWorking(short);
  await short.stop();
  expect(inMirror(company, "SELECT count(*) FROM _runs")).toBe(1);
  age(company, 6 * hourMs);
  company.sandbox.control.create("clients", { name: "No event was sent" });
  const long = startDaemon(company, config);
  await eventually(() => wholeRuns(company) === 2, "a run because of the gap");
  expect(company.said.join("\n")).toContain("events may have been lost");
  await long.stop();
  expectEqual(company);
  const again = startDaemon(company, config);
  await untilWorking(again);
  await again.stop();
  expect(inMirror(company, "SELECT count(*) FROM _runs")).toBe(2);
});

// Fault: data | a table of one company's mirror is damaged | SQL on the mirror beside the daemon | that company says so; the other one works
test("a company whose mirror cannot be read says so itself, keeps what it counted, and hides no other company", async () => {
  const company = await aCompany({ records: 3 });
  const companies = [
    { name: "acme", token: company.sandbox.token },
    { name: "beta", token: company.sandbox.token },
  ];
  const daemon = startDaemon(company, configOf(company, "", companies));
  const haveRun = () => companies.every(({ name }) => stateOf(daemon, name)?.runs["complete"] === 1);
  await eventually(haveRun, "a run of each");
  const rows = stateOf(daemon)?.rows;
  const db = new Database(company.file);
  db.exec("ALTER TABLE _inbox RENAME COLUMN received_at TO elsewhere");
  await eventually(() => stateOf(daemon)?.service.state === "database", "a look that fails");
  const [acme, beta] = [stateOf(daemon), stateOf(daemon, "beta")];
  expect(acme).toMatchObject({ company: "acme", open: true, service: { state: "database" }, rows });
  expect(acme?.service.message).toMatch(/received_at.*acme\.db$/);
  expect(beta).toMatchObject({ company: "beta", open: true, service: { state: "working" } });
  db.exec("ALTER TABLE _inbox RENAME COLUMN elsewhere TO received_at");
  db.close();
  await untilWorking(daemon);
});

// Fault: files | the mirror's file is no database, until it is removed | the file under the supervisor | tried again, no deliveries meanwhile, then a whole run
test("a company whose file cannot be opened tries again until a file that is none is one", async () => {
  const company = await aCompany({ records: 3 });
  writeFileSync(company.file, "this is no database, and long enough to be sure of that");
  const clock: Clock = {
    ...impatientClock,
    sleep: (ms, signal) => impatientClock.sleep(ms === openRetryMs ? 1 : ms, signal),
  };
  const config = configOf(company, "http: { timeout: 60s }\n");
  const daemon = startDaemon(company, config, { clock });
  await eventually(() => stateOf(daemon)?.service.message?.includes("not a SQLite") === true, "why");
  expect(daemon.find("acme")).toBe("unavailable");
  rmSync(company.file);
  await eventually(() => wholeRuns(company) === 1, "a whole run");
  await daemon.stop();
  expectEqual(company);
});

test("a quick run hides no whole run that was cut off", async () => {
  const company = await leftInOrder();
  const daemon = startDaemon(company, configOf(company));
  await untilWorking(daemon);
  await syncBy(company, { full: true, mostRequests: 1 });
  await syncBy(company, { quick: true });
  const { lastRun, runs } = stateOf(daemon) ?? {};
  expect([lastRun?.outcome, runs]).toMatchObject(["stopped", { stopped: 1, complete: 1 }]);
});

describe("a change of the config", () => {
  test("that concerns what follows a run holds for the next run; a failure of it is logged and harms nothing", async () => {
    const company = await leftInOrder();
    const followed: number[] = [];
    const daemon = startDaemon(company, configOf(company), {
      afterRun: async ({ config }) => {
        followed.push(config.exports.length);
        throw new Error("no room for a report");
      },
    });
    await untilWorking(daemon);
    daemon.apply(configOf(company, "exports: [{ format: csv, out: ./reports, after: sync }]\n"));
    syncBy(company).catch(() => undefined);
    await eventually(() => company.said.join("\n").includes("no room for a report"), "the failure logged");
    expect(followed).toEqual([1]);
    expect(stateOf(daemon)).toMatchObject({ open: true, runs: { complete: 1 } });
  });

  test.each([
    ["resources: { exclude: [clients] }", true],
    ["retention: { runs: 10d }", true],
    ["backup: { schedule: off }", true],
    ["report: { out: ./elsewhere }", false],
  ])("to %s opens a mirror anew: %s", (more, isNeeded) => {
    expect(needsRestart(settings(), settings())).toBe(false);
    expect(needsRestart(settings(), settings(`${more}\n`))).toBe(isNeeded);
  });
});

// Fault: files | another process fetches them, or the disk is full: nothing can be recorded | what `serve` starts to fetch files | not started again and again: the next run asks for them
test("files are fetched while attempts are recorded, and no longer when one could not be", async () => {
  const company = await aCompany({ records: 2 });
  const config = configOf(company, "files: { pdf: on }");
  const { afterRun: file } = mirrorFiles(config, "acme");
  const recordedAttempts = 3;
  let attempts = 0;
  const afterRun = async (_company: unknown, scope: string) => {
    await turn();
    if (scope !== "files") return null;
    attempts++;
    const result = { outcome: "unchanged", error: null, seq: null } as const;
    if (attempts <= recordedAttempts) recordStep(file, "files", result, attempts - 1, attempts);
    return null;
  };
  startDaemon(company, config, { afterRun });
  await eventually(() => attempts > recordedAttempts, "an attempt that is not recorded");
  for (let turns = 0; turns < 50; turns++) await turn();
  expect(attempts).toBe(recordedAttempts + 1);
});

test("no files are fetched after a run that failed, which would fail likewise: one alert is enough", async () => {
  const company = await aCompany({ records: 2 });
  const scopes: string[] = [];
  const afterRun = async (_company: unknown, scope: string) => {
    scopes.push(scope);
    return null;
  };
  company.proxy.obstruct(({ path }) =>
    path.startsWith("/invoices/") ? jsonReply(401, { message: "Unauthenticated." }) : undefined,
  );
  const daemon = startDaemon(company, configOf(company, "files: { pdf: on }"), { afterRun });
  await eventually(() => stateOf(daemon)?.lastRun?.outcome === "unauthenticated", "a refused run");
  await turn();
  expect(scopes).not.toContain("files");
});

test("views of many companies are read in slices, once for all who ask, and again when they are 5 s old", async () => {
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const reads = { count: 0, inTurn: 0, mostInTurn: 0 };
  const view = () => {
    reads.count += 1;
    reads.inTurn += 1;
    reads.mostInTurn = Math.max(reads.mostInTurn, reads.inTurn);
    if (reads.inTurn === 1) setImmediate(() => (reads.inTurn = 0));
    nowMs += 5;
    return companyView();
  };
  const recent = createRecentViews(clock, () => Array.from({ length: 100 }, () => ({ view })));
  const [one, other] = await Promise.all([recent(), recent()]);
  expect(one).toHaveLength(100);
  expect(other).toBe(one);
  expect(reads).toMatchObject({ count: 100, mostInTurn: 4 });
  nowMs += 4_900;
  expect(await recent()).toBe(one);
  nowMs += 200;
  expect(await recent()).not.toBe(one);
});

function settings(text?: string): CompanySettings {
  const { config } = load(minimal(text));
  return settingsOf(config, config.companies[0]!, declaration);
}
