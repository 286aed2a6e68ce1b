import { formatDuration } from "../../base/units.ts";
import { WorkQueue } from "../../state/work-queue.ts";
import { Changes } from "../../store/apply/change-reader.ts";
import { queryRow, readDatabase, type DemoSetup } from "./demo-setup.ts";

/** After the lists, in the middle of the documents. */
const crashAfterRequests = 480;

/** A first sync, killed in the middle. */
export async function crashSync(demo: DemoSetup): Promise<boolean> {
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

/** The next sync completes the first one. */
export async function resumeSync(demo: DemoSetup): Promise<boolean> {
  const before = demo.sandbox.requestCount();
  const { finished_at, started_at, outcome } = await demo.sync();
  const took = formatDuration(Date.parse(finished_at) - Date.parse(started_at));
  await demo.print(`${outcome} after ${demo.sandbox.requestCount() - before} more requests in ${took}`);
  await demo.print(
    `in the database: ${documents(demo)} documents; nothing was read twice but what was in flight`,
  );
  return outcome === "complete";
}

/** Rows of documents in the mirror. */
function documents({ database }: DemoSetup): number {
  const tables = ["invoices", "credit_notes", "proformas", "orders", "quotations"];
  const counts = tables.map((table) => `(SELECT count(*) FROM ${table})`);
  const row = queryRow(database, `SELECT ${counts.join(" + ")} AS count`);
  return (row as { readonly count: number }).count;
}

/** An ordinary run after changes at the service. */
export async function nightlySync(demo: DemoSetup): Promise<boolean> {
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
