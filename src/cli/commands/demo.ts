import path from "node:path";
import { formatDuration } from "../../base/units.ts";
import { shortPath } from "../../config/load.ts";
import { WorkQueue } from "../../state/work-queue.ts";
import { Changes } from "../../store/apply/change-log.ts";
import { readDatabase } from "../../store/database.ts";
import { DemoSetup, queryRow } from "../demo/demo-setup.ts";
import { publishFiles } from "../demo/report-steps.ts";
import { serveWebhooks } from "../demo/webhook-steps.ts";
import type { CommandContext, RunningSandbox } from "../program/command.ts";
import type { CommandRun } from "../program/command-table.ts";

/** Faster than the real service, so that hours take a minute. */
const sandboxRequest = {
  seed: 7,
  records: "400",
  limit: 100_000,
  windowMs: 60_000,
  latencyMs: 40,
  retryScale: 0.5,
};

/** Prints what it did, with numbers read off the result. Returns whether it ended as it should. */
type DemoStep = (demo: DemoSetup) => Promise<boolean>;

const steps: readonly (readonly [title: string, step: DemoStep])[] = [
  ["A first sync, and the plug is pulled in the middle of it", crashSync],
  ["The next sync goes on where it was", resumeSync],
  ["The service changes; an ordinary nightly run brings it in", nightlySync],
  ["Seconds behind: serve hears of changes by webhook", serveWebhooks],
  ["The answer to a question: in plain SQL, as CSV, as Parquet", publishFiles],
];

export const demoCommand: CommandRun<"demo"> = async (context, { options }) => {
  const folder = path.resolve(context.cwd, options.out ?? "demo");
  const sandbox = await context.connectors[0].startSandbox(sandboxRequest);
  try {
    return (await showAll(context, folder, sandbox)) ? "complete" : "failed";
  } finally {
    await sandbox.close();
  }
};

async function showAll(context: CommandContext, folder: string, sandbox: RunningSandbox): Promise<boolean> {
  const { globals, output, cwd } = context;
  const print = (line: string) => (globals.json ? Promise.resolve() : output.line(line));
  await print("A stand-in for the service runs on this machine, with a made-up company of 400 documents.");
  await print("It answers faster than the real one, which allows 120 requests a minute.");
  const demo = new DemoSetup(context, sandbox, folder, print);
  try {
    let complete = true;
    for (const [index, [title, step]] of steps.entries()) {
      await print(`\n${index + 1}. ${title}`);
      complete = (await step(demo)) && complete;
    }
    const { database, report } = demo;
    if (globals.json) await output.json({ database, report, complete });
    if (!complete) await print("\nNot everything went as it should: see above.");
    await print(`\nAll of it is yours to open, in ${folder}`);
    await demo.print(
      `sqlite3 ${shortPath(database, cwd)} "SELECT number, client_name, total_with_vat FROM invoices"`,
    );
    await demo.print(`sqlite3 ${shortPath(report, cwd)} "SELECT * FROM v_revenue_by_month"`);
    return complete;
  } finally {
    await demo.close();
  }
}

/** After the lists, in the middle of the documents. */
const crashAfterRequests = 480;

async function crashSync(demo: DemoSetup): Promise<boolean> {
  const before = demo.sandbox.requestCount();
  const sync = demo.start(["sync"]);
  await demo.waitUntil(() => sync.isOver || demo.sandbox.requestCount() >= before + crashAfterRequests);
  const how = sync.isOver ? "it was faster than the kill" : "killed with SIGKILL";
  sync.child.kill("SIGKILL");
  await sync.ended;
  const counts = readDatabase(demo.database, (db) => new WorkQueue(db).counts());
  const waiting = counts.reduce((sum, { count }) => sum + count, 0);
  await demo.print(`${how} after ${demo.sandbox.requestCount() - before} requests`);
  await demo.print(`in the database: ${documents(demo)} documents, and ${waiting} requests still to be made`);
  return true;
}

async function resumeSync(demo: DemoSetup): Promise<boolean> {
  const before = demo.sandbox.requestCount();
  const { finished_at, started_at, outcome } = await demo.sync();
  const took = formatDuration(Date.parse(finished_at) - Date.parse(started_at));
  await demo.print(`${outcome} after ${demo.sandbox.requestCount() - before} more requests in ${took}`);
  await demo.print(
    `in the database: ${documents(demo)} documents; nothing was read twice but what was in flight`,
  );
  return outcome === "complete";
}

function documents({ database }: DemoSetup): number {
  const tables = ["invoices", "credit_notes", "proformas", "orders", "quotations"];
  const counts = tables.map((table) => `(SELECT count(*) FROM ${table})`);
  const row = queryRow(database, `SELECT ${counts.join(" + ")} AS count`);
  return (row as { readonly count: number }).count;
}

async function nightlySync(demo: DemoSetup): Promise<boolean> {
  const seq = readDatabase(demo.database, (db) => new Changes(db).lastSeq());
  for (const { sentence } of demo.makeChanges()) await demo.print(sentence);
  const { requests, outcome } = await demo.sync();
  const { list, child, detail, confirm } = requests;
  await demo.print(
    `${outcome}: ${list + child} lists looked through, ${detail + confirm} records read again`,
  );
  const counts = readDatabase(demo.database, (db) => new Changes(db).countsAfter(seq));
  const words = counts.map(({ resource, op, count }) => `${resource} ${count} ${op}`);
  await demo.print(`the change log says: ${words.join(", ")}`);
  return outcome === "complete" && counts.length > 0;
}
