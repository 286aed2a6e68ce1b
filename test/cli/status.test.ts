import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { hourMs, systemClock } from "../../src/base/clock.ts";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { takeWriterLock } from "../../src/store/writer-lock.ts";
import { createTestInvocation, runCommand, temporaryFolder } from "../support/program/cli.ts";
import { aCompany, aMirroredCompany, sync, type Company } from "../support/company/company.ts";
import { jsonReply } from "../support/company/proxy.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { statusOf } from "../support/company/served-company.ts";
import { damageTable, readEarlier, wound } from "../support/verify/verify.ts";
import type { RunPlan } from "../../src/sync/plan/estimate.ts";
import { look } from "../support/truth/compare.ts";
import { count } from "../support/truth/equal.ts";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { put } from "../support/mirror/store.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import type { Health } from "../../src/status/mirror-health.ts";

/** A company and its config; `contents` null: with nothing mirrored. */
async function mirrored(contents: { readonly records: number } | null = { records: 3 }): Promise<Company> {
  const company = await (contents ? aMirroredCompany(contents) : aCompany());
  writeServeConfig(company);
  return company;
}

/** The mirror of `acme`, and the same one for `beta`. */
async function twoMirrored(): Promise<Company> {
  const company = await aMirroredCompany({ records: 3 });
  const { token } = company.sandbox;
  const companies = ["acme", "beta"].map((name) => ({ name, token }));
  writeServeConfig(company, "", companies);
  copyFileSync(company.file, path.join(company.folder, "beta.db"));
  return company;
}

const unauthenticated = jsonReply(401, { message: "Unauthenticated." });

const run = ({ folder: cwd }: Company, ...args: string[]) => runCommand(args, { cwd });
const status = (company: Company, ...args: string[]) => run(company, "status", ...args);

async function conditionsOf(company: Company): Promise<string[]> {
  return (await statusOf(company)).conditions.map(({ kind, subject }) => `${kind} ${subject}`);
}

function arrived(company: Company, agoMs: number, state: string): void {
  const sql =
    "INSERT INTO _inbox (event_id, type, received_at, body, state) VALUES ('a', 'odd.one', ?, '{}', ?)";
  wound(company, sql, new Date(Date.now() - agoMs).toISOString(), state);
}

/** As a daemon that began an hour ago leaves it between two heartbeats. */
function listening(company: Company): void {
  const lock = takeWriterLock(path.join(company.folder, "acme.lock"), "serve");
  onTestFinished(() => lock.release());
  const sql = "INSERT INTO _receiver (started_ms, seen_ms) VALUES (?, ?)";
  wound(company, sql, Date.now() - hourMs, Date.now() - 5_000);
}

test("what the config leaves out is not called read, nor whole in the report, until a run has read all of it", async () => {
  const company = await aCompany({ records: 5 });
  const payments = async (resources: string, ...limit: string[]) => {
    writeServeConfig(company, resources);
    await run(company, "sync", ...limit);
    await run(company, "publish");
    const sql = "SELECT value FROM _about WHERE subject = 'document_payments' AND fact = 'complete'";
    const complete = look(path.join(company.folder, "acme.report.db"), (db) => db.prepare(sql).pluck().get());
    const { health } = await statusOf(company);
    const found = health?.resources.find(({ name }) => name === "document_payments");
    return [found?.sweptAt === null ? "never" : "read", complete];
  };
  expect(await payments("resources: { exclude: [document_payments] }")).toEqual(["never", "no"]);
  // The documents that have them are read again, in this run not all of them.
  expect(await payments("", "--max-requests", "30")).toEqual(["read", "no"]);
  expect(await payments("")).toEqual(["read", "yes"]);
});

describe("status", () => {
  test("a mirror that is damaged inside keeps no other company from its status, and is named; its shard is not called one without runs", async () => {
    const company = await twoMirrored();
    damageTable(company, "_runs");
    const stdout = expect.stringMatching(/^beta: \d+ records, read whole/) as string;
    const stderr = expect.stringContaining("acme: the database is damaged") as string;
    expect(await status(company)).toEqual({ code: 10, stdout, stderr });
    const companies = { acme: { error: { kind: "database" } }, beta: { mirrored: true } };
    expect(JSON.parse((await status(company, "--json")).stdout)).toMatchObject({ companies });
    const pruned = await run(company, "prune", "--company", "acme");
    expect(pruned).toMatchObject({ code: 10, stderr: expect.stringContaining("the database is damaged: ") });
    wound({ file: path.join(company.folder, "beta.db") }, "INSERT INTO _meta VALUES ('shard', '\"2/3\"')");
    expect((await status(company, "--all")).stdout).toMatch(/^shard 3\/3: not known; 1 company: acme$/m);
    const { shards } = JSON.parse((await status(company, "--json")).stdout) as { shards: readonly object[] };
    expect(shards).toContainEqual({ shard: "3/3", companies: ["acme"], last_read_at: null, missing: false });
  });

  // Fault: data | what a run or the identity stores is no JSON, or of another kind | SQL on the mirror | a run and status name the damage and what to do; other companies go on
  test.each([
    "_runs SET report = '{'",
    "_runs SET report = 'null'",
    "_runs SET swept = '5'",
    "_meta SET value = 'x' WHERE key = 'identity'",
    "_meta SET value = '{\"name\":1}' WHERE key = 'identity'",
  ])("a mirror in which somebody did %s is called damaged, by its runs, too", async (change) => {
    const company = await twoMirrored();
    wound(company, `UPDATE ${change}`);
    const stdout = expect.stringContaining("beta: ") as string;
    const stderr = expect.stringMatching(/restore a backup.*acme: the database is damaged: /) as string;
    for (const command of ["status", "sync"])
      expect(await run(company, command), command).toEqual({ code: 10, stdout, stderr });
  });

  // Fault: secrets | one company's token is missing | the environment of `sync` and `verify` of two companies | the other one is read, and compared; both exit with 3
  test.each(["sync", "verify"])("%s without one token exits with 3, after the others", async (command) => {
    const company = await twoMirrored();
    const lacking = { name: "beta", token: '"${env:NOT_SET}"' };
    writeServeConfig(company, "", [{ name: "acme", token: company.sandbox.token }, lacking]);
    const stderr = expect.stringContaining("beta.token: the environment variable NOT_SET") as string;
    const stdout = expect.stringContaining("acme: ") as string;
    expect(await run(company, command)).toEqual({ code: 3, stdout, stderr });
  });

  test("of a shard without companies says that there are none, and a quiet one prints its answer", async () => {
    const company = await mirrored();
    const none = await status(company, "--json", "--shard", "1/3");
    expect(JSON.parse(none.stdout)).toEqual({ companies: {}, shards: null });
    expect((await status(company, "-q")).stdout).toMatch(/^acme: \d+ records/);
  });

  // Fault: disk | the file of the request budget cannot be opened, as on a full disk | status, with a folder in its place | everything else is shown, with the free space
  test("shows all else, and the free space, where the budget's file cannot be opened", async () => {
    const company = await mirrored();
    const budget = path.join(company.folder, "acme.budget.db");
    for (const end of ["", "-wal", "-shm"]) rmSync(budget + end, { force: true });
    mkdirSync(budget);
    const { code, stdout, stderr } = await status(company);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^acme: \d+ records, read whole/)]);
    expect(stdout).toMatch(/^ {2}(! )?disk: [\d.]+ \w+ free beside the mirror$/m);
    expect(stderr).toContain(`the database cannot be opened: ${budget}`);
  });

  test("is not whole when an event waits for more than an hour beside a daemon; without one a run reads it", async () => {
    const company = await mirrored();
    arrived(company, hourMs + 60_000, "waiting");
    expect(await status(company)).toMatchObject({ code: 0 });
    expect(await conditionsOf(company)).toEqual([]);
    listening(company);
    const { code, stdout } = await status(company);
    const served = /being written by process \d+ \(serve, since[^]*receiver: listening for 1h 00m/;
    expect([code, stdout]).toEqual([3, expect.stringMatching(served)]);
    expect(await conditionsOf(company)).toEqual(["stale events"]);
    expect(stdout).toContain("! 1 events wait, the oldest for 1h 01m");
    expect(stdout).toContain("  events: 1 waits, the oldest received 1h 01m ago");
  });

  // Fault: disk | a full disk keeps a daemon from writing, also that it refuses deliveries | the heartbeats in the mirror, and its writer lock | status names it and exits 3
  test("names a daemon that is there and writes nothing, and exits 3", async () => {
    const company = await mirrored();
    listening(company);
    const note = path.join(company.folder, "acme.lock.holder");
    const since = new Date(Date.now() - 2 * hourMs).toISOString();
    writeFileSync(note, JSON.stringify({ pid: process.pid, command: "serve", since }));
    wound(company, "UPDATE _receiver SET seen_ms = seen_ms - 120000");
    const silent = / receiver: none is listening, for \dm \d\ds: serve is there, and writes nothing/;
    expect(await status(company)).toMatchObject({ code: 3, stdout: expect.stringMatching(silent) });
  });

  test("a run without an end was cut off, unless who holds the lock began it since", async () => {
    const company = await mirrored();
    const begin = (pid: number, agoMs = 0) => {
      const sql = "INSERT INTO _runs (mode, started_at, pid) VALUES ('incremental', ?, ?)";
      wound(company, sql, new Date(Date.now() - agoMs).toISOString(), pid);
    };
    begin(process.pid, 1_000);
    expect((await status(company)).stdout).toMatch(/run 2 .*: cut off\n.*run 1 .*: complete/);
    listening(company);
    expect((await status(company)).stdout).toMatch(/run 2 .*: cut off\n/);
    begin(process.pid + 1);
    expect((await status(company)).stdout).toMatch(/run 3 .*: cut off\n/);
    begin(process.pid);
    expect((await status(company)).stdout).toMatch(/run 4 .*: running\n.*run 3 .*: cut off\n/);
  });

  test("I11: counts the lists of clients that a sync of these alone leaves to the next run", async () => {
    const company = await mirrored(null);
    expect((await run(company, "sync", "clients")).code).toBe(0);
    const waiting = expect.stringMatching(/ {2}\d+ requests wait for the next run\n/) as string;
    // Not everything was read yet.
    expect(await status(company)).toMatchObject({ code: 3, stdout: waiting });
  });

  test("says what the requests in the queue wait for", async () => {
    const company = await mirrored();
    const add = `INSERT INTO _work (resource, target, kind, lane, due_ms, reason, dirty_seq)
      VALUES ('clients', ?, 'detail', 0, 0, 'clients.updated', 1)`;
    wound(company, add, "id:1");
    expect((await status(company)).stdout).toContain("  1 request waits for the next run\n");
    wound(company, add, "id:2");
    listening(company);
    expect((await status(company)).stdout).toContain("  2 requests wait for a turn\n");
  });

  // Fault: clock | a table was read by a clock that was a year ahead | the mirror that `status --max-age` judges | exit 1: its age is unknown, not fresh for a year
  test("takes lists for current as long as the schedule says, or --max-age, and none that a clock read in the future", async () => {
    const company = await mirrored();
    expect((await status(company, "--max-age", "26h")).code).toBe(0);
    const threeDaysAgo = new Date(Date.now() - 72 * hourMs).toISOString();
    const earlier = "(SELECT json_group_object(key, ?) FROM json_each(swept))";
    wound(company, `UPDATE _runs SET swept = ${earlier}`, threeDaysAgo);
    expect(await conditionsOf(company)).toEqual(["stale lists"]);
    writeServeConfig(company, 'schedule: { sync: "15 2 * * 1", publish: off }');
    expect(await conditionsOf(company)).toEqual([]);
    expect((await status(company, "--max-age", "26h")).stdout).toContain("! read whole longer than 26h");
    const nextYear = new Date(Date.now() + 365 * 24 * hourMs).toISOString();
    wound(company, "UPDATE _runs SET swept = json_set(swept, '$.clients', ?)", nextYear);
    const said = "! read whole longer than 3d 8h ago, or by a clock that was ahead: clients";
    const judged = await status(company, "--max-age", "80h");
    expect(judged).toMatchObject({ code: 1, stdout: expect.stringContaining(said) });
  });

  test("marks a report that was last made too long ago", async () => {
    const company = await mirrored();
    writeServeConfig(company, "schedule: { publish: after_sync }");
    const at = new Date(Date.now() - 72 * hourMs).toISOString();
    const report = { outcome: "written", at, duration_ms: 900, error: null, last_success_at: at, seq: 7 };
    writeFileSync(path.join(company.folder, "acme.after-run.json"), JSON.stringify({ report }));
    expect((await status(company)).stdout).toMatch(/^ {2}! last made longer than 26h 00m ago.*: report$/m);
  });

  test("of a mirror of which nothing was ever read exits 1", async () => {
    const company = await mirrored(null);
    company.proxy.obstruct(() => unauthenticated);
    expect((await sync(company)).outcome).toBe("unauthenticated");
    const stdout = expect.stringContaining("not everything was read whole yet") as string;
    expect(await status(company)).toMatchObject({ code: 1, stdout });
  });

  test("of one company says how many clients, with which turnover, are not ready for electronic invoices", async () => {
    const company = await mirrored();
    wound(company, "UPDATE clients SET country_id = NULL WHERE type = 'company'");
    type Answers = { readonly answers: Readonly<Record<string, string>> };
    const answers = async () => ((await statusOf(company)) as unknown as Answers).answers;
    const { einvoice_readiness: said = "" } = await answers();
    expect(said).toMatch(
      /^[1-9]\d* clients, \d+(\.\d)? % of turnover, are not ready for electronic invoices: see v_einvoice_gaps$/,
    );
    expect((await status(company)).stdout).toContain(said);
    wound(company, "DELETE FROM clients");
    expect(await answers()).toEqual({});
  });

  // Fault: secrets | the token is revoked between two nightly runs | the service | status says that a run could not begin, and exits 3, until one begins
  test("names a run that could not begin because the token was refused, until another one begins", async () => {
    const company = await mirrored();
    company.proxy.obstruct(() => unauthenticated);
    expect((await sync(company)).outcome).toBe("unauthenticated");
    const stdout = expect.stringMatching(/! the last run did not finish: unauthenticated: GET \/whoami/);
    expect(await status(company)).toMatchObject({ code: 3, stdout });
    expect(await conditionsOf(company)).toEqual(["failed reading"]);
    company.recover();
    await sync(company);
    expect(await status(company)).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining("! the last"),
    });
  });

  test("without a mirror exits 1, with events null; of companies of the fleet it says which command shows them", async () => {
    const fleet = "fleet: { postgres: '${env:DATABASE_URL}', snapshots: s3://bucket/mirrors }\n";
    const config = `companies: { acme: { token: "\${env:ACME}" } }\n${fleet}`;
    const cwd = temporaryFolder({ "config.yaml": config });
    const env = { ACME: "token-of-acme" };
    const shown = JSON.parse((await runCommand(["status", "--json"], { cwd, env })).stdout) as unknown;
    expect(shown).toMatchObject({ companies: { acme: { mirrored: false, events: null } } });
    const stdout = expect.stringMatching(
      /^acme: no mirror yet\..*\n.*`fleet status` shows those of the fleet\n$/,
    );
    expect(await runCommand(["status"], { cwd, env })).toMatchObject({ code: 1, stdout });
  });
});

interface DryRun {
  readonly requests: Readonly<Record<"list" | "detail" | "child" | "scrub", number>>;
  readonly plan: RunPlan;
}

async function dryRun(company: Company, ...args: string[]): Promise<DryRun> {
  const { stdout } = await run(company, "sync", "--dry-run", "--json", ...args);
  return (JSON.parse(stdout) as { companies: { acme: DryRun } }).companies.acme;
}

describe("the plan", () => {
  test("of a run after an interrupted one has what that one left to be read", async () => {
    const company = writeServeConfig(await aMirroredCompany());
    expect((await run(company, "sync", "--full", "--max-requests", "35")).code).toBe(5);
    const { list, detail, child } = (await dryRun(company)).requests;
    expect((await sync(company)).requests).toMatchObject({ list, detail, child });
    expect(detail).toBeGreaterThan(0);
  });

  test("of a first run has what that then reads; of a night the scrub, unless it is not asked for", async () => {
    const company = writeServeConfig(await aCompany({ records: 3 }));
    const planned = await dryRun(company);
    expect(planned.plan.scrub).toEqual({ requests: 0, minutes: 0, total: 0, nights: 0 });
    const first = await sync(company);
    const { list, detail, child } = planned.requests;
    expect(first.requests).toMatchObject({ list, detail, child });
    const total = first.requests.detail + first.requests.child;
    expect(planned.plan.missing.requests).toBe(total);
    expect((await dryRun(company)).plan.scrub).toMatchObject({ requests: 0, total, nights: 1 });
    readEarlier(company, 1);
    const { requests, plan } = await dryRun(company);
    expect(requests).toMatchObject({ detail: 0, child: 0, scrub: total });
    expect(plan.scrub).toMatchObject({ requests: total, nights: 1 });
    expect((await dryRun(company, "--no-scrub")).requests.scrub).toBe(0);
    expect((await dryRun(company, "--full")).requests).toMatchObject({ scrub: 0, total: expect.any(Number) });
    const text = await run(company, "sync", "--dry-run");
    expect(text.stdout).toContain("every detail and CRM parent read so far is proved every night");
    const made = JSON.parse((await run(company, "sync", "--json")).stdout) as unknown;
    expect(made).toMatchObject({ companies: { acme: { scrub: { read: total } } } });
  });

  test("sends no more requests than --max-requests allows, and says so", async () => {
    const company = writeServeConfig(await aCompany({ records: 3 }));
    const { code, stderr } = await run(company, "sync", "--dry-run", "--max-requests", "4");
    const said = expect.stringContaining("the limit given for this run is reached") as string;
    expect([code, company.sandbox.requests().length, stderr]).toEqual([5, 4, said]);
  });

  test("is given up at once when it is interrupted while it waits for the service", async () => {
    const company = writeServeConfig(await aCompany({ records: 3 }));
    const parts = { commands, clock: systemClock, cwd: company.folder };
    const { run: plan, signals } = createTestInvocation(["sync", "--dry-run"], parts);
    company.proxy.obstruct(({ path: asked }) => {
      if (asked !== "/clients") return undefined;
      signals.emit("SIGTERM");
      return "hang";
    });
    expect((await plan()).code).toBe(143);
  });

  test("of one company is made also where the token of another one is refused, which is named", async () => {
    const company = await aCompany({ records: 3 });
    const refused = { name: "refused", token: "wrong-token-0123456789" };
    writeServeConfig(company, "", [refused, { name: "acme", token: company.sandbox.token }]);
    expect((await dryRun(company)).requests.list).toBeGreaterThan(10);
    const { code, stderr } = await run(company, "sync", "--dry-run");
    expect([code, stderr]).toEqual([3, expect.stringContaining("refused: GET /")]);
  });

  test("stands in status, with the stalest detail and parent's list of each resource", async () => {
    const company = writeServeConfig(await aMirroredCompany());
    const total = count(company.file, "SELECT count(*) FROM _parents") + detailsOf(company);
    const { plan, health } = await statusOf(company);
    expect(plan?.scrub).toMatchObject({ total, nights: 1, requests: total });
    expect(plan?.lists.requests).toBeGreaterThan(10);
    const resource = (name: string) => health?.resources.find((one) => one.name === name);
    const read = expect.stringMatching(/^\d{4}-/) as string;
    expect(resource("invoices")).toMatchObject({ oldest_detail_at: read, oldest_parent_at: null });
    const logs = resource("contact_activity_logs");
    expect(logs).toMatchObject({ oldest_detail_at: null, oldest_parent_at: read });
    const { stdout } = await run(company, "status");
    expect(stdout).toContain("every detail and CRM parent read so far is proved every night");
    expect(stdout).toMatch(/invoices .* ago +\d+\S*(?: \d+s)?\n/);
    writeServeConfig(company, "scrub: { time: 1m, cycle: 30d, at_most: 1m }\nrate_limit: { window: 1h }\n");
    expect((await statusOf(company)).plan?.scrub.nights).toBeGreaterThan(1);
  });
});

function detailsOf(company: Company): number {
  const tables = ["invoices", "credit_notes", "proformas", "orders", "quotations", "price_list_items"];
  return tables.reduce((sum, table) => {
    const sql = `SELECT count(*) FROM "_fence_${table}" WHERE source = 'detail' AND gone = 0`;
    return sum + count(company.file, sql);
  }, 0);
}

test("a mirror that an older version wrote last, which did not know all resources, is read as without their records", async () => {
  const { url, token } = await openSandbox({ records: 1 });
  const config = `base_url: ${url}\ndata_dir: .\ncompanies: { acme: { token: "${token}" } }\n`;
  const cwd = temporaryFolder({ "config.yaml": config });
  const unknown = new Set(["clients", "orders"]);
  const resources = declaration.resources.filter(({ name }) => !unknown.has(name));
  const older = await openMirror(path.join(cwd, "acme.db"), { ...declaration, resources });
  put(older, "units", { id: 1, name: "piece" });
  older.close();
  const exports = ["export --history", "export --as-of 2099-01-01"];
  for (const command of ["status", "verify --local", "sync --dry-run", ...exports]) {
    const { stdout, stderr } = await runCommand(command.split(" "), { cwd });
    expect(stdout + stderr).not.toMatch(/bug|no such column|"msg":"no such table/);
  }
  const { stdout } = await runCommand(["status", "--json"], { cwd });
  const { health } = (JSON.parse(stdout) as { companies: { acme: { health: Health } } }).companies.acme;
  const counts = Object.fromEntries(health.resources.map(({ name, live }) => [name, live]));
  expect(counts).toMatchObject({ units: 1, clients: 0, orders: 0 });
});
