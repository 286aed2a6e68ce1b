import { MirrorError } from "../../base/errors.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import { openSnapshot, type Snapshot, type SnapshotOptions } from "../../state/snapshot.ts";
import { WorkerPool } from "./worker-pool.ts";
import type { SnapshotId } from "./job.ts";

/** One state of the mirror, seen by this thread and by a crew. */
export interface SharedSnapshot {
  readonly snapshot: Snapshot;
  readonly crew: WorkerPool;
  close(): Promise<void>;
}

/** A writer would have to commit between two first reads every time. */
const mostAttempts = 200;

/**
 * Connections cannot share a transaction, so all begin at once and compare what they see: every change of a
 * row has its row in the change log (I2), so those who see the same last change see the same rows.
 */
export async function openShared(
  path: string,
  manifest: Manifest,
  options: SnapshotOptions,
): Promise<SharedSnapshot> {
  let snapshot = openSnapshot(path, manifest, options);
  const crew = new WorkerPool({ mirror: path });
  try {
    let began = crew.begin();
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      if (agree(snapshot, await began)) {
        // Only now: what a snapshot shows names its state, so that no two of them show the same.
        await crew.show(showOf(snapshot));
        return { snapshot, crew, close: () => closeAll(snapshot, crew) };
      }
      snapshot.close();
      began = crew.begin();
      snapshot = openSnapshot(path, manifest, options);
    }
  } catch (error) {
    await closeAll(snapshot, crew);
    throw error;
  }
  await closeAll(snapshot, crew);
  throw new MirrorError("database", `the mirror changes too fast to be read by several threads: ${path}`, {
    retryable: true,
    hint: "Run it again, or after the sync that is writing.",
  });
}

async function closeAll(snapshot: Snapshot, crew: WorkerPool): Promise<void> {
  snapshot.close();
  await crew.end();
}

function agree(snapshot: Snapshot, sights: readonly SnapshotId[]): boolean {
  const schemaVersion = Number(snapshot.db.pragma("main.schema_version", { simple: true }));
  return sights.every((sight) => sight.seq === snapshot.seq && sight.schemaVersion === schemaVersion);
}

/** The statements that make this snapshot's temporary views and facts on another connection. */
function showOf({ db }: Snapshot): string[] {
  const sql = "SELECT type, name, sql FROM sqlite_temp_master WHERE sql IS NOT NULL ORDER BY rowid";
  const objects = db.prepare(sql).all() as { type: string; name: string; sql: string }[];
  const made = objects.map((each) => each.sql.replace(/^CREATE (TEMP )?/, "CREATE TEMP "));
  const tables = objects.filter(({ type }) => type === "table").map(({ name }) => name);
  return [...made, ...tables.flatMap((name) => insertsOf({ db }, name))];
}

function insertsOf({ db }: Pick<Snapshot, "db">, table: string): string[] {
  const rows = db.prepare(`SELECT * FROM temp."${table}"`).raw(true).all() as unknown[][];
  return rows.map((row) => `INSERT INTO temp."${table}" VALUES (${row.map(literal).join(",")})`);
}

function literal(value: unknown): string {
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  return typeof value === "number" ? String(value) : "NULL";
}
