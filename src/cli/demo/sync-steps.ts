import { formatDuration } from "../../base/units.ts";
import { Changes } from "../../store/apply/change-reader.ts";
import type { DemoSetup } from "./demo-setup.ts";
import { rowCounts, withDatabase } from "./mirror-reader.ts";

/** After the lists, in the middle of the documents. */
const crashAfterRequests = 480;

/** A first sync, killed in the middle. */
export async function crashSync(demo: DemoSetup): Promise<boolean> {
  const before = demo.requests();
  const sync = demo.processes.start(["sync"]);
  while (!sync.isOver && demo.requests() < before + crashAfterRequests) await demo.sleep(10);
  const how = sync.isOver ? "it was faster than the kill" : "killed with SIGKILL";
  sync.child.kill("SIGKILL");
  await sync.ended;
  const { documents, waiting } = rowCounts(demo.database);
  await demo.print(`   ${how} after ${demo.requests() - before} requests`);
  await demo.print(`   in the database: ${documents} documents, and ${waiting} requests still to be made`);
  return true;
}

/** The next sync completes the first one. */
export async function resumeSync(demo: DemoSetup): Promise<boolean> {
  const before = demo.requests();
  const { finished_at, started_at, outcome } = await demo.sync();
  const took = formatDuration(Date.parse(finished_at) - Date.parse(started_at));
  const { documents } = rowCounts(demo.database);
  await demo.print(`   ${outcome} after ${demo.requests() - before} more requests in ${took}`);
  await demo.print(
    `   in the database: ${documents} documents; nothing was read twice but what was in flight`,
  );
  return outcome === "complete";
}

/** An ordinary run after changes at the service. */
export async function nightlySync(demo: DemoSetup): Promise<boolean> {
  const seq = withDatabase(demo.database, (db) => new Changes(db).lastSeq());
  for (const change of demo.changes()) await demo.print(`   ${change.make().sentence}`);
  const { requests, outcome } = await demo.sync();
  const { list, child, detail, confirm } = requests;
  await demo.print(
    `   ${outcome}: ${list + child} lists looked through, ${detail + confirm} records read again`,
  );
  const counts = withDatabase(demo.database, (db) => new Changes(db).countsAfter(seq));
  const words = counts.map(({ resource, op, count }) => `${resource} ${count} ${op}`);
  await demo.print(`   the change log says: ${words.join(", ")}`);
  return outcome === "complete" && counts.length > 0;
}
