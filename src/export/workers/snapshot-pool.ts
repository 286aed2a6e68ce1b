import { MirrorError } from "../../base/errors.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import { openSnapshot, type Snapshot, type SnapshotOptions } from "../../state/mirror-snapshot.ts";
import type { SnapshotId } from "./protocol.ts";
import { WorkerPool } from "./worker-pool.ts";

/** One state of the mirror, read by this thread and by a pool of workers. */
export interface SharedSnapshot {
  readonly snapshot: Snapshot;
  readonly pool: WorkerPool;
  close(): Promise<void>;
}

/** To fail, a writer must commit between the first reads of two connections every time. */
const maxAttempts = 200;

/**
 * Opens the same state of the mirror on several connections. They cannot share a transaction, so all begin at
 * once and compare the last change that they see; as every change of a row is in the change log (I2), the
 * same last change means the same rows.
 *
 * @throws MirrorError `database`: no mirror, or one that changes too fast
 */
export async function openShared(
  path: string,
  manifest: Manifest,
  options: SnapshotOptions,
): Promise<SharedSnapshot> {
  let snapshot = openSnapshot(path, manifest, options);
  const pool = new WorkerPool({ mirror: path });
  const close = async () => {
    snapshot.close();
    await pool.stop();
  };
  try {
    let began = pool.begin();
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (agree(snapshot, await began)) {
        // The temporary facts name the state: they are copied only when all agree on it.
        await pool.execute(temporaryObjects(snapshot));
        return { snapshot, pool, close };
      }
      snapshot.close();
      began = pool.begin();
      snapshot = openSnapshot(path, manifest, options);
    }
  } catch (error) {
    await close();
    throw error;
  }
  await close();
  throw new MirrorError("database", `the mirror changes too fast to be read by several threads: ${path}`, {
    retryable: true,
    hint: "Run it again, or after the sync that is writing.",
  });
}

function agree({ db, seq }: Snapshot, ids: readonly SnapshotId[]): boolean {
  const schemaVersion = Number(db.pragma("main.schema_version", { simple: true }));
  return ids.every((id) => id.seq === seq && id.schemaVersion === schemaVersion);
}

/** Statements that make the snapshot's temporary views and tables on another connection. */
function temporaryObjects({ db }: Snapshot): string[] {
  const sql = "SELECT type, name, sql FROM sqlite_temp_master WHERE sql IS NOT NULL ORDER BY rowid";
  const objects = db.prepare(sql).all() as { type: string; name: string; sql: string }[];
  return objects.flatMap(({ type, name, sql: text }) => {
    const create = text.replace(/^CREATE (TEMP )?/, "CREATE TEMP ");
    if (type !== "table") return [create];
    const rows = db.prepare(`SELECT * FROM temp."${name}"`).raw(true).all() as unknown[][];
    return [
      create,
      ...rows.map((row) => `INSERT INTO temp."${name}" VALUES (${row.map(literal).join(",")})`),
    ];
  });
}

function literal(value: unknown): string {
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  return typeof value === "number" ? String(value) : "NULL";
}
