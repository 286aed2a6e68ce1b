import path from "node:path";
import { formatDuration } from "../../base/units.ts";
import { shortPath } from "../../config/load.ts";
import { InboxView } from "../../state/inbox/inbox.ts";
import { Runs } from "../../state/runs.ts";
import { readDatabase } from "../../store/database.ts";
import { DemoSetup, writeTokenVariable } from "../demo/demo-setup.ts";
import type { CommandRun } from "../program/command-table.ts";

/** Faster than the real service, so that hours take a minute. */
const sandboxRequest = {
  seed: 7,
  records: 400,
  limit: 100_000,
  windowMs: 60_000,
  latencyMs: 40,
  retryScale: 0.5,
};

/** Runs commands and prints what they print. Throws where something is not as it should be. */
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
  const { sandbox } = demo;
  const sync = await demo.start("sync");
  const isUnderWay = () => sync.isOver || sandbox.requestCount() >= crashAfterRequests;
  await demo.waitFor("the sync is under way", isUnderWay, Infinity);
  const how = sync.isOver ? "it was faster than the kill" : "killed with SIGKILL";
  sync.child.kill("SIGKILL");
  await sync.ended;
  await demo.print(`${how} after ${sandbox.requestCount()} requests`);
}

async function resumeSync(demo: DemoSetup): Promise<void> {
  const before = demo.sandbox.requestCount();
  await demo.run("sync");
  const requests = demo.sandbox.requestCount() - before;
  await demo.print(`${requests} more requests: nothing was read twice but what was in flight`);
  await demo.run("verify");
}

async function nightlySync(demo: DemoSetup): Promise<void> {
  for (const { sentence } of demo.makeChanges()) await demo.print(sentence);
  await demo.run("sync");
}

const debtors = `SELECT client_name AS client, sum(invoices) AS invoices, round(sum(to_be_paid), 2) AS owed
  FROM v_receivables WHERE currency = 'EUR' GROUP BY buyer ORDER BY owed DESC LIMIT 3`;

async function publishFiles(demo: DemoSetup): Promise<void> {
  await demo.run("publish");
  await demo.print("in its view v_receivables, who owes us how much:");
  for (const row of readDatabase(demo.report, (db) => db.prepare(debtors).all())) {
    const { client, invoices, owed } = row as { client: string; invoices: number; owed: number };
    const name = client.replaceAll(/\s/g, " ").padEnd(40);
    await demo.print(`${name} ${String(invoices).padStart(3)} unpaid  ${owed.toFixed(2).padStart(12)} EUR`);
  }
  const args = ["invoices", "v_receivables", "--out", demo.inFolder("export"), "--format"];
  for (const format of ["csv", "parquet"]) await demo.run("export", ...args, format);
}

const runsWithinMs = 60_000;
/** For an event that nobody received: the third attempt, in case the second one came too early. */
const retriedWithinMs = 75_000;

/** `serve` mirrors changes at once; after a kill and a restart also those in between. */
export async function serveWebhooks(demo: DemoSetup): Promise<void> {
  await demo.receive();
  await demo.run("webhooks", "create", "--token-env", writeTokenVariable);
  const since = demo.now();
  const serve = await demo.serve();
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
  return readDatabase(database, (db) => db.prepare(sql).get(id, since)) !== undefined;
}

/** Makes changes while nobody listens; the service's retries bring them in after a restart. */
async function mirrorMissedChanges(demo: DemoSetup): Promise<void> {
  const failedBefore = demo.deliveries().failed;
  const made = [...demo.makeChanges()];
  for (const { sentence } of made) await demo.print(sentence);
  const failed = () => demo.deliveries().failed - failedBefore;
  await demo.waitFor("a delivery fails", () => failed() > 0 && !areAllDelivered(demo));
  await demo.print(`the service has tried ${failed()} times in vain, and will try again`);
  const elapsedMs = demo.stopwatch();
  const serve = await demo.serve();
  const isWhole = () => areAllDelivered(demo) && made.every((change) => isMirrored(demo, change));
  await demo.waitFor("all of it is in the mirror", isWhole, retriedWithinMs);
  await demo.print(`serve is started again; all of it is in the mirror after ${formatDuration(elapsedMs())}`);
  // The last reads may still be under way when the expected rows are there.
  const isRead = () => readDatabase(demo.database, (db) => new InboxView(db).waiting() === 0);
  await demo.waitFor("every event is read", isRead);
  serve.child.kill("SIGTERM");
  const code = await serve.ended;
  await demo.print(`SIGTERM: serve finishes what it has begun and exits ${code ?? "by force"}`, code === 0);
  await demo.run("verify");
}

function areAllDelivered(demo: DemoSetup): boolean {
  const { events, delivered } = demo.deliveries();
  return delivered === events;
}
