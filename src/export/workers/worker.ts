import { parentPort, workerData } from "node:worker_threads";
import { assert, type MirrorError } from "../../base/errors.ts";
import { failedReply, type ThreadReply } from "../../base/threads/thread-reply.ts";
import { guarded, openDatabase } from "../../store/database.ts";
import { installRedaction, type Redaction } from "../../store/snapshot/redacted-records.ts";
import type { KeyRange } from "../columns/row-source.ts";
import type { TypeOverflow } from "../parquet/parquet-types.ts";
import { partsSql, type LaidOutPart } from "../plan/export-plan.ts";
import { createEncoder, stateOf, type EncodedRows, type EncodeJob, type Encoder } from "./encoder.ts";

/**
 * A worker thread: reads and encodes rows through a connection of its own. It writes nothing, so nothing is
 * left behind when it ends.
 */
assert(parentPort, "this file runs in a worker thread");
const port = parentPort;
const mirror = workerData as string;
const db = openDatabase(mirror, { readonly: true });
let encoder: Encoder | null = null;

const execute = (statements: readonly string[]) => {
  for (const statement of statements) db.exec(statement);
};

/** What the pool asks of a worker. */
const calls = {
  /** Begins a read transaction, after ending the last one. Returns its `stateOf`. */
  begin: () => {
    if (db.inTransaction) db.exec("ROLLBACK");
    db.exec("BEGIN");
    // A transaction sees the state of its first read.
    return stateOf(db);
  },
  execute,
  /** Makes the functions that redact. Without this call none are needed. */
  redact: (redaction: Redaction) => installRedaction(db, redaction),
  /** Opens a job in place of the last one. Returns the parts that the setup laid out; none without a setup. */
  open: (job: EncodeJob): readonly LaidOutPart[] => {
    encoder = null;
    execute(job.setup);
    encoder = createEncoder(db, job);
    return job.setup.length > 0 ? (db.prepare(partsSql).raw(true).all() as LaidOutPart[]) : [];
  },
  /** The rows of a query on what the job laid out. */
  query: (sql: string) => db.prepare(sql).raw(true).all() as (readonly unknown[])[],
  /** Encodes rows of the open job. @throws TypeOverflow */
  encode: (range: KeyRange): EncodedRows => {
    assert(encoder, "a job is opened before its rows are encoded");
    return encoder(range);
  },
};
export type WorkerCalls = typeof calls;

/** One call on its way to a worker; calls are answered in their order. */
export interface WorkerRequest {
  readonly method: keyof WorkerCalls;
  readonly args: readonly unknown[];
}

export type WorkerReply = ThreadReply<unknown, MirrorError & TypeOverflow>;

port.on("message", ({ method, args }: WorkerRequest) => {
  const reply = replyTo(method, args);
  const encoded = method === "encode" && "value" in reply ? (reply.value as EncodedRows).parts : [];
  port.postMessage(
    reply,
    encoded.map(({ bytes }) => bytes.buffer as ArrayBuffer),
  );
});

function replyTo(method: WorkerRequest["method"], args: WorkerRequest["args"]): WorkerReply {
  try {
    const call = calls[method] as (...args: readonly unknown[]) => unknown;
    return { value: guarded(mirror, () => call(...args)) };
  } catch (error) {
    return failedReply(error);
  }
}
