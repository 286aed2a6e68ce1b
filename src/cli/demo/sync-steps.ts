import { formatDuration } from "../../base/units.ts";
import { Changes } from "../../store/apply/change-reader.ts";
import { rowCounts, withDatabase } from "./queries.ts";
import type { DemoContext } from "./demo-steps.ts";
import type { DemoSetup } from "./demo-setup.ts";
import type { Narrate } from "./narration.ts";

/** Past the lists, in the middle of the documents. */
const crashAfterRequests = 480;

export async function crash(stage: DemoSetup, scene: DemoContext, tell: Narrate): Promise<boolean> {
  const before = scene.requests();
  const enough = before + crashAfterRequests;
  const alive = await stage.syncAndKill(async () => {
    await scene.wait(10);
    return scene.requests() >= enough;
  });
  const { documents, waiting } = rowCounts(stage.database);
  await tell(
    `   ${alive ? "killed with SIGKILL" : "it was faster than the kill"} after ${scene.requests() - before} requests`,
  );
  await tell(`   in the database: ${documents} documents, and ${waiting} requests still to be made`);
  return true;
}

export async function resume(stage: DemoSetup, scene: DemoContext, tell: Narrate): Promise<boolean> {
  const before = scene.requests();
  const report = await stage.sync();
  const { documents } = rowCounts(stage.database);
  const tookMs = Date.parse(report.finished_at) - Date.parse(report.started_at);
  await tell(
    `   ${report.outcome} after ${scene.requests() - before} more requests in ${formatDuration(tookMs)}`,
  );
  await tell(`   in the database: ${documents} documents; nothing was read twice but what was in flight`);
  return report.outcome === "complete";
}

export async function morning(stage: DemoSetup, scene: DemoContext, tell: Narrate): Promise<boolean> {
  const seq = withDatabase(stage.database, (db) => new Changes(db).lastSeq());
  await scene.changing(async (changes) => {
    for (const change of changes) await tell(`   ${(await change.make()).summary}`);
  });
  const report = await stage.sync();
  const { list, child, detail, confirm } = report.requests;
  await tell(
    `   ${report.outcome}: ${list + child} lists looked through, ${detail + confirm} records read again`,
  );
  const changes = withDatabase(stage.database, (db) => new Changes(db).countsAfter(seq));
  const words = changes.map(({ resource, op, count }) => `${resource} ${count} ${op}`);
  await tell(`   the change log says: ${words.join(", ")}`);
  return report.outcome === "complete" && changes.length > 0;
}
