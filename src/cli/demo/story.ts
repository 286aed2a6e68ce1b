import { formatDuration } from "../../base/units.ts";
import type { Stage } from "./stage.ts";
import { question, receivables, rowCounts } from "./queries.ts";

/** What the story needs of the service it plays on. */
export interface Scene {
  /** Requests the service has answered so far. */
  requests(): number;
  /** Changes something at the service; one sentence for each change. */
  change(): Promise<readonly string[]>;
  wait(ms: number): Promise<void>;
}

/** Past the lists, in the middle of the documents. */
const crashAfterRequests = 480;

export type Tell = (line: string) => Promise<void>;

/** The whole story; every number in it is read off what happened. Returns whether it ended well. */
export async function tellStory(stage: Stage, scene: Scene, tell: Tell): Promise<boolean> {
  await tell("1. A first sync, and the plug is pulled in the middle of it");
  await crash(stage, scene, tell);
  await tell("");
  await tell("2. The next sync goes on where it was");
  const whole = await resume(stage, scene, tell);
  await tell("");
  await tell("3. The service changes; an ordinary nightly run brings it in");
  const current = await morning(stage, scene, tell);
  await tell("");
  await tell("4. The answer to a question, in plain SQL");
  for (const row of question<{ client: string; invoices: number; owed: number }>(
    stage.database,
    receivables,
  )) {
    await tell(
      `   ${row.client.padEnd(40)} ${String(row.invoices).padStart(3)} unpaid  ${row.owed.toFixed(2).padStart(12)}`,
    );
  }
  return whole && current;
}

async function crash(stage: Stage, scene: Scene, tell: Tell): Promise<void> {
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
}

async function resume(stage: Stage, scene: Scene, tell: Tell): Promise<boolean> {
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

async function morning(stage: Stage, scene: Scene, tell: Tell): Promise<boolean> {
  const seq = question<{ seq: number }>(stage.database, "SELECT max(seq) AS seq FROM _changes")[0]?.seq ?? 0;
  for (const sentence of await scene.change()) await tell(`   ${sentence}`);
  const report = await stage.sync();
  const { list, child, detail, confirm } = report.requests;
  await tell(
    `   ${report.outcome}: ${list + child} lists looked through, ${detail + confirm} records read again`,
  );
  const sql = `SELECT resource, op, count(*) AS count FROM _changes WHERE seq > ${seq} GROUP BY resource, op ORDER BY min(seq)`;
  const changes = question<{ resource: string; op: string; count: number }>(stage.database, sql);
  const words = changes.map(({ resource, op, count }) => `${resource} ${count} ${op}`);
  await tell(`   the change log says: ${words.join(", ")}`);
  return report.outcome === "complete" && changes.length > 0;
}
