import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { assert } from "../../base/errors.ts";
import type { KeyRange } from "../columns/row-source.ts";
import type { EncodedRows, Job, SnapshotId, WorkerStart } from "./protocol.ts";
import { WorkerHandle } from "./worker-handle.ts";

/** More threads double the memory and wait for the same disk. */
const maxThreads = 2;
/** A mirror below this is read before a second thread has started. */
const smallMirrorBytes = 16_000_000;

function threadsFor(mirror: string): number {
  return statSync(mirror).size < smallMirrorBytes ? 1 : Math.min(maxThreads, availableParallelism());
}

/** The worker threads of one export. */
export class WorkerPool {
  readonly #workers: readonly WorkerHandle[];

  constructor(start: WorkerStart) {
    this.#workers = Array.from({ length: threadsFor(start.mirror) }, () => new WorkerHandle(start));
  }

  /** All workers begin to read at the same time; returns what each of them sees. */
  begin(): Promise<SnapshotId[]> {
    return Promise.all(this.#workers.map((worker) => worker.call("begin")));
  }

  /** Runs statements on every worker's connection. */
  async execute(statements: readonly string[]): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.call("execute", statements)));
  }

  async open(job: Job): Promise<void> {
    await Promise.all(this.workersFor(job).map((worker) => worker.call("open", job)));
  }

  async close(job: Job): Promise<void> {
    await Promise.all(this.workersFor(job).map((worker) => worker.call("close", job.id)));
  }

  /** Runs a query on the first worker, which sees what the setup of a job has laid out. */
  query(sql: string): Promise<readonly unknown[][]> {
    return this.#first().call("query", sql);
  }

  /**
   * Encodes a range of an open job's rows on the worker with the least to do.
   *
   * @throws TypeOverflow
   */
  encode(job: Job, range: KeyRange): Promise<EncodedRows> {
    const [first = this.#first(), ...others] = this.workersFor(job);
    const worker = others.reduce((least, each) => (each.load < least.load ? each : least), first);
    return worker.call("encode", job.id, range);
  }

  /** The workers that take part in a job: only the first one has the rows that a setup laid out. */
  workersFor(job: Job): readonly WorkerHandle[] {
    return job.setup.length > 0 ? [this.#first()] : this.#workers;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }

  #first(): WorkerHandle {
    const [worker] = this.#workers;
    assert(worker, "a pool has a worker");
    return worker;
  }
}
