import path from "node:path";
import { formatDuration, formatSize } from "../../base/units.ts";
import { shortPath } from "../../config/load.ts";
import { WorkQueue } from "../../state/work-queue.ts";
import { Changes } from "../../store/apply/change-log.ts";
import { readDatabase } from "../../store/database.ts";
import { DemoSetup, queryRow, demoCompany, failedCommand, writeTokenVariable } from "../demo/demo-setup.ts";
import type { CommandRun } from "../program/command-table.ts";
import { readFileSync, statSync } from "node:fs";
import { InboxView } from "../../state/inbox/inbox.ts";
import { Runs } from "../../state/runs.ts";

/** Faster than the real service, so that hours take a minute. */
const sandboxRequest = {
  seed: 7,
  records: 400,
  limit: 100_000,
  windowMs: 60_000,
  latencyMs: 40,
  retryScale: 0.5,
};

/** Prints what it did, with numbers read off the result. Throws where something is not as it should be. */
type DemoStep = (demo: DemoSetup) => Promise<void>;

const steps: readonly (readonly [title: string, step: DemoStep])[] = [
  ["A first sync, and the plug is pulled in the middle of it", crashSync],
  ["The next sync goes on where it was", resumeSync],
  ["The service changes; an ordinary nightly run brings it in", nightlySync],
  ["Seconds behind: serve hears of changes by webhook", serveWebhooks],
  ["The answer to a question: in plain SQL, as CSV, as Parquet", publishFiles],
];

export const demoCommand: CommandRun<"demo"> = async (context, { options }) => {
  const { globals, output, cwd, connector } = context;
  const folder = path.resolve(cwd, options.out ?? "demo");
  const print = (line: string) => (globals.json ? Promise.resolve() : output.line(line));
  await using sandbox = await connector.startSandbox(sandboxRequest);
  await print("A stand-in for the service runs on this machine, with a made-up company of 400 documents.");
  await print("It answers faster than the real one, which allows 120 requests a minute.");
  await using demo = new DemoSetup(context, sandbox, folder, print);
  for (const [index, [title, step]] of steps.entries()) {
    await print(`\n${index + 1}. ${title}`);
    await step(demo);
  }
  const [database, report] = [demo.database, demo.report].map((file) => shortPath(file, cwd));
  if (globals.json) await output.json({ database: demo.database, report: demo.report, complete: true });
  await print(`\nAll of it is yours to open, in ${folder}`);
  await demo.print(`sqlite3 ${database} "SELECT number, client_name, total_with_vat FROM invoices"`);
  await demo.print(`sqlite3 ${report} "SELECT * FROM v_revenue_by_month"`);
  return "complete";
};

/** After the lists, in the middle of the documents. */
const crashAfterRequests = 480;

async function crashSync(demo: DemoSetup): Promise<void> {
  const before = demo.sandbox.requestCount();
  const sync = demo.start(["sync"]);
  const isUnderWay = () => sync.isOver || demo.sandbox.requestCount() >= before + crashAfterRequests;
  await demo.waitFor("the sync is under way", isUnderWay, Infinity);
  const how = sync.isOver ? "it was faster than the kill" : "killed with SIGKILL";
  sync.child.kill("SIGKILL");
  await sync.ended;
  const counts = readDatabase(demo.database, (db) => new WorkQueue(db).counts());
  const waiting = counts.reduce((sum, { count }) => sum + count, 0);
  await demo.print(`${how} after ${demo.sandbox.requestCount() - before} requests`);
  await demo.print(`in the database: ${documents(demo)} documents, and ${waiting} requests still to be made`);
}

async function resumeSync(demo: DemoSetup): Promise<void> {
  const before = demo.sandbox.requestCount();
  const { finished_at, started_at, outcome } = await demo.sync();
  const took = formatDuration(Date.parse(finished_at) - Date.parse(started_at));
  await demo.print(`${outcome} after ${demo.sandbox.requestCount() - before} more requests in ${took}`);
  await demo.print(
    `in the database: ${documents(demo)} documents; nothing was read twice but what was in flight`,
  );
}

function documents({ database }: DemoSetup): number {
  const tables = ["invoices", "credit_notes", "proformas", "orders", "quotations"];
  const counts = tables.map((table) => `(SELECT count(*) FROM ${table})`);
  return (queryRow(database, `SELECT ${counts.join(" + ")} AS count`) as { readonly count: number }).count;
}

async function nightlySync(demo: DemoSetup): Promise<void> {
  const seq = readDatabase(demo.database, (db) => new Changes(db).lastSeq());
  for (const { sentence } of demo.makeChanges()) await demo.print(sentence);
  const { requests, outcome } = await demo.sync();
  const { list, child, detail, confirm } = requests;
  await demo.print(
    `${outcome}: ${list + child} lists looked through, ${detail + confirm} records read again`,
  );
  const counts = readDatabase(demo.database, (db) => new Changes(db).countsAfter(seq));
  const words = counts.map(({ resource, op, count }) => `${resource} ${count} ${op}`);
  await demo.print(`the change log says: ${words.join(", ")}`, counts.length > 0);
}

const debtors = `SELECT client_name AS client, sum(invoices) AS invoices, round(sum(to_be_paid), 2) AS owed
  FROM v_receivables WHERE currency = 'EUR' GROUP BY buyer ORDER BY owed DESC LIMIT 3`;

/** Publishes a report and files of two kinds, and compares them with the mirror. */
export async function publishFiles(demo: DemoSetup): Promise<void> {
  await demo.run("publish");
  await demo.print(`publish: ${fileText(demo.report)}; in it v_receivables, who owes us how much:`);
  for (const row of readDatabase(demo.report, (db) => db.prepare(debtors).all())) {
    const { client, invoices, owed } = row as { client: string; invoices: number; owed: number };
    const name = client.replaceAll(/\s/g, " ").padEnd(40);
    await demo.print(`${name} ${String(invoices).padStart(3)} unpaid  ${owed.toFixed(2).padStart(12)} EUR`);
  }
  const args = ["invoices", "v_receivables", "--out", demo.inFolder("export"), "--format"];
  for (const format of ["csv", "parquet"]) await demo.run("export", ...args, format);
  const files = ["csv", "parquet"].flatMap((format) => [`invoices.${format}`, `v_receivables.${format}`]);
  await demo.print(`export: ${files.map((name) => fileText(exported(demo, name))).join(", ")}`);
  await compareFiles(demo);
}

function exported(demo: DemoSetup, name: string): string {
  return demo.inFolder(path.join("export", demoCompany, name));
}

function fileText(file: string): string {
  return `${path.basename(file)} (${formatSize(statSync(file).size)})`;
}

const owedInMirror = `SELECT count(*) AS invoices, round(sum(i.to_be_paid), 2) AS owed
  FROM invoices i JOIN currencies c ON c.id = i.currency_id
  WHERE i._deleted_at IS NULL AND i.to_be_paid > 0 AND i.status <> 'will_not_be_paid' AND c.symbol = 'EUR'`;

const owedInReport = `SELECT sum(invoices) AS invoices, round(sum(to_be_paid), 2) AS owed
  FROM v_receivables WHERE currency = 'EUR'`;

const invoicesInMirror = "SELECT count(*) AS count FROM invoices WHERE _deleted_at IS NULL";

/** Compares what the report adds up, and the rows of the exported files, with the mirror. */
export async function compareFiles(demo: DemoSetup): Promise<void> {
  const sums = [queryRow(demo.database, owedInMirror), queryRow(demo.report, owedInReport)].map((row) => {
    const { owed, invoices } = row as { owed: number | null; invoices: number | null };
    return `${owed?.toFixed(2) ?? "no"} EUR in ${invoices ?? "no"} unpaid invoices`;
  });
  const areEqual = sums[0] === sums[1];
  const finding = areEqual ? `agree: ${sums[0]}` : `differ: ${sums.join("; ")}`;
  await demo.print(`the mirror and the report ${finding}`, areEqual);
  const { count } = queryRow(demo.database, invoicesInMirror) as { readonly count: number };
  const { files } = JSON.parse(readFileSync(exported(demo, "manifest.json"), "utf8")) as {
    readonly files: readonly { readonly file: string; readonly rows: number }[];
  };
  const [csv, parquet] = ["invoices.csv", "invoices.parquet"].map(
    (name) => files.find(({ file }) => file === name)?.rows,
  );
  const rows = `invoices: ${count} in the mirror, ${csv} and ${parquet} rows in the files`;
  await demo.print(rows, csv === count && parquet === count);
}

const runsWithinMs = 60_000;
/** For an event that nobody received: the third attempt, in case the second one came too early. */
const retriedWithinMs = 75_000;

/** `serve` mirrors changes at once; after a kill and a restart also those in between. */
export async function serveWebhooks(demo: DemoSetup): Promise<void> {
  await demo.receive();
  await demo.run("webhooks", "create", "--token-env", writeTokenVariable);
  const secret = `${demoCompany}.webhook-secret`;
  const mode = (statSync(demo.inFolder(secret)).mode & 0o777).toString(8);
  await demo.print(`webhooks create: subscribed to every event; the secret is in ${secret}, mode ${mode}`);
  const since = demo.now();
  const serve = await startServe(demo);
  await demo.print(`serve listens on ${(JSON.parse(serve.stdout) as { readonly url: string }).url}`);
  await demo.waitFor("the first run ends", () => runOutcome(demo, since) !== null, runsWithinMs);
  const outcome = runOutcome(demo, since);
  await demo.print(`nobody listened before, so it looks through every list once: ${outcome}`);
  // One change after the other, each timed until its row is in the mirror.
  for (const change of demo.makeChanges()) {
    await demo.waitFor(`"${change.sentence}" is in the mirror`, () => isMirrored(demo, change));
    await demo.print(`${change.sentence}: in the mirror ${change.elapsedMs()} ms later`);
  }
  serve.child.kill("SIGKILL");
  await serve.ended;
  await demo.print("serve is killed with SIGKILL; meanwhile");
  await mirrorMissedChanges(demo);
}

/** Resolves once `serve` has printed where it listens. */
async function startServe(demo: DemoSetup) {
  const serve = demo.start(["serve"]);
  await demo.waitFor("serve listens", () => serve.stdout.includes("\n") || serve.isOver);
  if (serve.isOver) throw failedCommand("serve", serve);
  return serve;
}

/** Outcome of the last run that ended since; null: none has. */
function runOutcome({ database }: DemoSetup, since: string): string | null {
  const ended = readDatabase(database, (db) => new Runs(db).lastEnded());
  return ended && ended.finishedAt >= since ? ended.outcome : null;
}

interface TimedChange {
  readonly table: string;
  readonly id: number;
  readonly since: string;
}

function isMirrored({ database }: DemoSetup, { table, id, since }: TimedChange): boolean {
  const sql = `SELECT 1 FROM ${table} WHERE id = ? AND _synced_at >= ?`;
  return queryRow(database, sql, id, since) !== undefined;
}

/** Makes changes while nobody listens; the service's retries bring them in after a restart. */
async function mirrorMissedChanges(demo: DemoSetup): Promise<void> {
  const failedBefore = demo.deliveries().failed;
  const made = [...demo.makeChanges()];
  for (const { sentence } of made) await demo.print(sentence);
  const failed = () => demo.deliveries().failed - failedBefore;
  await demo.waitFor("a delivery fails", () => failed() > 0 && !areAllDelivered(demo));
  const elapsedMs = demo.stopwatch();
  const serve = await startServe(demo);
  const up = formatDuration(elapsedMs());
  const isWhole = () => areAllDelivered(demo) && made.every((change) => isMirrored(demo, change));
  await demo.print(`the service has tried ${failed()} times in vain, and will try again`);
  await demo.waitFor("all of it is in the mirror", isWhole, retriedWithinMs);
  const took = formatDuration(elapsedMs());
  await demo.print(
    `serve is started again and listens after ${up}; all of it is in the mirror after ${took}`,
  );
  await compareInbox(demo);
  serve.child.kill("SIGTERM");
  const code = await serve.ended;
  await demo.print(`SIGTERM: serve finishes what it has begun and exits ${code ?? "by force"}`, code === 0);
}

function areAllDelivered(demo: DemoSetup): boolean {
  const { events, delivered } = demo.deliveries();
  return delivered === events;
}

/** Compares the events sent with those that `serve` has stored: none is missing, none still waits. */
async function compareInbox(demo: DemoSetup): Promise<void> {
  // The last reads may still be under way when the expected rows are there.
  const isRead = () => readDatabase(demo.database, (db) => new InboxView(db).waiting() === 0);
  await demo.waitFor("every event is read", isRead);
  const stored = readDatabase(demo.database, (db) => new InboxView(db).list({ most: 10_000 }).length);
  const { events, attempts } = demo.deliveries();
  const sent = `the service sent ${events} events in ${attempts} attempts; the inbox has ${stored}`;
  await demo.print(sent, stored === events);
}
