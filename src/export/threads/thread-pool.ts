import { availableParallelism } from "node:os";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { throwIfAborted, assert, codeOf, MirrorError } from "../../base/errors.ts";
import { errorOfReply, resourceLimits, threadFile } from "../../base/threads.ts";
import { openSnapshot, type Snapshot } from "../../state/mirror-snapshot.ts";
import { guarded, sizeOfFiles, type Db } from "../../store/database.ts";
import { about } from "../../store/snapshot/snapshot-tables.ts";
import type { KeyRange } from "../columns/row-source.ts";
import type { LaidOutPart } from "../plan/export-plan.ts";
import { TypeOverflow } from "../parquet/parquet-types.ts";
import type { ExportParts } from "../plan/export-request.ts";
import { createCalls, stateOf, type EncodedRows, type EncodeJob, type EncoderCalls } from "./encoder.ts";
import type { EncoderReply, EncoderRequest } from "./encoder-thread.ts";

/** More threads double the memory and wait for the same disk. */
const maxThreads = 2;
/** About 12,000 documents. Threads would take a third more of the processor, and 65 MB, for about the same time. */
const smallMirrorBytes = 128_000_000;
/** Ranges that each thread encodes ahead of the one that is written. */
const aheadEach = 1;
/** To use them up, a writer must commit between the first reads of two connections every time. */
const maxAttempts = 200;

/** Who encodes: a thread with its own connection, or this one. */
interface EncodingThread {
  /** Calls without an answer. */
  readonly load: number;
  /** Rejects with what the call throws: TypeOverflow, MirrorError or Error. */
  call<M extends keyof EncoderCalls>(
    method: M,
    ...args: Parameters<EncoderCalls[M]>
  ): Promise<ReturnType<EncoderCalls[M]>>;
  /** Ends the thread; calls under way are rejected. */
  stop(): Promise<unknown>;
}

/** One state of the mirror, read by this thread through `snapshot` and by a pool of threads. */
export class ThreadPool {
  readonly snapshot: Snapshot;
  readonly #threads: readonly EncodingThread[];
  /** Those that work on the open job. */
  #active: readonly EncodingThread[] = [];

  private constructor(snapshot: Snapshot, threads: readonly EncodingThread[]) {
    this.snapshot = snapshot;
    this.#threads = threads;
  }

  /**
   * Opens the same state on several connections. They cannot share a transaction, so all begin at once and compare
   * the last change that they see; as every change of a row is in the change log (I2), the same last change means
   * the same rows.
   *
   * @throws MirrorError `database`: no mirror, or one that changes too fast
   */
  static async open({ mirror, declaration, reportDate, redact = [] }: ExportParts): Promise<ThreadPool> {
    let snapshot = openSnapshot(mirror, declaration, { reportDate, redact });
    if (sizeOfFiles(snapshot.db) < smallMirrorBytes)
      return new ThreadPool(snapshot, [ownThread(mirror, snapshot.db)]);
    const length = Math.min(maxThreads, availableParallelism());
    const threads = Array.from({ length }, () => startThread(mirror));
    const begin = () => Promise.all(threads.map((thread) => thread.call("begin")));
    try {
      let began = begin();
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const states = await began;
        if (states.every((state) => state === stateOf(snapshot.db))) {
          // The temporary facts name the state: they are copied only when all agree on it.
          const objects = temporaryObjects(snapshot);
          const { redaction } = snapshot;
          await Promise.all(threads.map((thread) => thread.call("prepare", redaction, objects)));
          return new ThreadPool(snapshot, threads);
        }
        snapshot.close();
        began = begin();
        // An overlay may be outdated by now: nobody waits for the threads then.
        began.catch(() => undefined);
        snapshot = openSnapshot(mirror, declaration, { reportDate, redact });
      }
      const what = `the mirror changes too fast to be read by several threads: ${mirror}`;
      const hint = "Run it again, or after the sync that is writing.";
      throw new MirrorError("database", what, { retryable: true, hint });
    } catch (error) {
      await new ThreadPool(snapshot, threads)[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Opens a job in place of the last one. Returns the parts that its setup laid out; none without a setup. */
  async openJob(job: EncodeJob): Promise<readonly LaidOutPart[]> {
    // Only the first thread has the rows that a setup lays out.
    this.#active = job.setup.length > 0 ? this.#threads.slice(0, 1) : this.#threads;
    const [parts = []] = await Promise.all(this.#active.map((thread) => thread.call("open", job)));
    return parts;
  }

  /** The rows of a query on what the open job laid out. */
  async query(sql: string): Promise<readonly (readonly unknown[])[]> {
    const [thread] = this.#active;
    assert(thread, "a job is opened before it is queried");
    return thread.call("query", sql);
  }

  /**
   * Encodes ranges of the open job's rows, each on the thread with the least to do; yields them in order. Memory
   * holds `1 + aheadEach` of them for each thread.
   *
   * @throws TypeOverflow, or MirrorError `stopped`
   */
  async *encode(ranges: Iterable<KeyRange>, signal?: AbortSignal): AsyncGenerator<EncodedRows> {
    const ahead = this.#active.length * (1 + aheadEach) - 1;
    const pending: Promise<EncodedRows>[] = [];
    try {
      for (const range of ranges) {
        throwIfAborted(signal, "the export was interrupted; the earlier files are unchanged");
        const thread = this.#active.reduce((least, each) => (each.load < least.load ? each : least));
        const encoded = thread.call("encode", range);
        encoded.catch(() => undefined);
        pending.push(encoded);
        if (pending.length > ahead) yield (await pending.shift()) as EncodedRows;
      }
      while (pending.length > 0) yield (await pending.shift()) as EncodedRows;
    } finally {
      await Promise.allSettled(pending);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.snapshot.close();
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }
}

/** Statements that make the snapshot's temporary views and tables on another connection. */
function temporaryObjects({ db }: Snapshot): string[] {
  const objects = "SELECT sql FROM sqlite_temp_master WHERE sql IS NOT NULL ORDER BY rowid";
  const facts = `SELECT format('INSERT INTO temp.${about.name} VALUES (%Q, %Q, %Q)', subject, fact, value) FROM temp.${about.name}`;
  const texts = (sql: string) => db.prepare(sql).pluck().all() as string[];
  return [...texts(objects).map((sql) => sql.replace(/^CREATE (TEMP )?/, "CREATE TEMP ")), ...texts(facts)];
}

function ownThread(mirror: string, db: Db): EncodingThread {
  const calls = createCalls(db);
  return {
    load: 0,
    call: async <M extends keyof EncoderCalls>(method: M, ...args: Parameters<EncoderCalls[M]>) => {
      await setImmediate();
      const call = calls[method] as (...given: typeof args) => ReturnType<EncoderCalls[M]>;
      return guarded(mirror, () => call(...args));
    },
    stop: () => Promise.resolve(),
  };
}

function startThread(mirror: string): EncodingThread {
  const file = threadFile(new URL("./encoder-thread.ts", import.meta.url));
  const thread = new Worker(file, { workerData: mirror, resourceLimits });
  /** The oldest first. */
  const pending: PromiseWithResolvers<unknown>[] = [];
  let broken: Error | null = null;
  const breakOff = (error: Error) => {
    broken ??= error;
    for (const call of pending.splice(0)) call.reject(broken);
  };
  thread.on("message", (reply: EncoderReply) => {
    const call = pending.shift();
    if ("value" in reply) call?.resolve(reply.value);
    else call?.reject(errorOf(reply));
  });
  thread.on("error", (error) => breakOff(threadError(error)));
  thread.on("exit", () => breakOff(new Error("broken promise: a thread runs until it is stopped")));
  return {
    get load() {
      return pending.length;
    },
    call: <M extends keyof EncoderCalls>(method: M, ...args: Parameters<EncoderCalls[M]>) => {
      if (broken) return Promise.reject(broken);
      const answer = Promise.withResolvers<unknown>();
      pending.push(answer);
      thread.postMessage({ method, args } satisfies EncoderRequest, []);
      return answer.promise as Promise<ReturnType<EncoderCalls[M]>>;
    },
    stop: () => thread.terminate(),
  };
}

function threadError(error: unknown): Error {
  if (codeOf(error) !== "ERR_WORKER_OUT_OF_MEMORY")
    return error instanceof Error ? error : new Error(String(error));
  return new MirrorError("database", "a record is too large to be exported in the memory that is allowed", {
    hint: "Export tables one by one to see which it is, and in csv or jsonl.",
    cause: error,
  });
}

function errorOf(reply: Extract<EncoderReply, { readonly error: Error }>): Error {
  const { column, type } = reply.fields;
  if (column !== undefined && type !== undefined) return new TypeOverflow(column, type);
  return errorOfReply(reply);
}
