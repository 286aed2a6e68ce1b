import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { assert, MirrorError } from "../../base/errors.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import { openSnapshot, type Snapshot, type SnapshotOptions } from "../../state/mirror-snapshot.ts";
import type { KeyRange } from "../columns/row-source.ts";
import type { LaidOutPart } from "../plan/export-plan.ts";
import type { EncodedRows, Job, SnapshotId } from "./protocol.ts";
import { WorkerHandle } from "./worker-handle.ts";

/** More threads double the memory and wait for the same disk. */
const maxThreads = 2;
/** A mirror below this is read before a second thread has started. */
const smallMirrorBytes = 16_000_000;
/** To use them up, a writer must commit between the first reads of two connections every time. */
const maxAttempts = 200;

/** One state of the mirror, read by this thread through `snapshot` and by a pool of workers. */
export class SnapshotPool {
  readonly snapshot: Snapshot;
  readonly #workers: readonly WorkerHandle[];

  private constructor(snapshot: Snapshot, workers: readonly WorkerHandle[]) {
    this.snapshot = snapshot;
    this.#workers = workers;
  }

  /**
   * Opens the same state on several connections. They cannot share a transaction, so all begin at once and compare
   * the last change that they see; as every change of a row is in the change log (I2), the same last change means
   * the same rows.
   *
   * @throws MirrorError `database`: no mirror, or one that changes too fast
   */
  static async open(mirror: string, manifest: Manifest, options: SnapshotOptions): Promise<SnapshotPool> {
    let snapshot = openSnapshot(mirror, manifest, options);
    const isSmall = statSync(mirror).size < smallMirrorBytes;
    const threads = isSmall ? 1 : Math.min(maxThreads, availableParallelism());
    const workers = Array.from({ length: threads }, () => new WorkerHandle(mirror));
    const begin = () => Promise.all(workers.map((worker) => worker.call("begin")));
    try {
      let began = begin();
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        if (agree(snapshot, await began)) {
          // The temporary facts name the state: they are copied only when all agree on it.
          const statements = temporaryObjects(snapshot);
          await Promise.all(workers.map((worker) => worker.call("execute", statements)));
          return new SnapshotPool(snapshot, workers);
        }
        snapshot.close();
        began = begin();
        snapshot = openSnapshot(mirror, manifest, options);
      }
      throw new MirrorError(
        "database",
        `the mirror changes too fast to be read by several threads: ${mirror}`,
        {
          retryable: true,
          hint: "Run it again, or after the sync that is writing.",
        },
      );
    } catch (error) {
      await new SnapshotPool(snapshot, workers).close();
      throw error;
    }
  }

  /** The workers of a job: only the first one has the rows that a setup lays out. */
  workersFor(job: Job): readonly WorkerHandle[] {
    return job.setup.length > 0 ? this.#workers.slice(0, 1) : this.#workers;
  }

  /** Returns the parts that the job's setup laid out; none without a setup. */
  async openJob(job: Job): Promise<readonly LaidOutPart[]> {
    const [parts = []] = await Promise.all(this.workersFor(job).map((worker) => worker.call("open", job)));
    return parts;
  }

  async closeJob(job: Job): Promise<void> {
    await Promise.all(this.workersFor(job).map((worker) => worker.call("close", job.id)));
  }

  /**
   * Encodes a range of an open job's rows on the worker with the least to do.
   *
   * @throws TypeOverflow
   */
  encode(job: Job, range: KeyRange): Promise<EncodedRows> {
    const [first, ...others] = this.workersFor(job);
    assert(first, "a pool has a worker");
    const worker = others.reduce((least, each) => (each.load < least.load ? each : least), first);
    return worker.call("encode", job.id, range);
  }

  async close(): Promise<void> {
    this.snapshot.close();
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }
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
