import { parentPort, workerData } from "node:worker_threads";
import { assert, MirrorError } from "../../base/errors.ts";
import { guarded, openDatabase } from "../../store/database.ts";
import { TypeOverflow } from "../parquet/parquet-types.ts";
import { partsSql, type LaidOutPart } from "../plan/export-plan.ts";
import { createEncoder, type Encoder } from "./encoder.ts";
import type { EncodedRows, WorkerCalls, WorkerReply, WorkerRequest } from "./protocol.ts";

/**
 * A worker thread: reads and encodes rows through a connection of its own. It writes nothing, so nothing is
 * left behind when it ends.
 */
assert(parentPort, "this file runs in a worker thread");
const port = parentPort;
/** The mirror's file. */
const mirror = workerData as string;
const db = openDatabase(mirror, { readonly: true });
const encoders = new Map<number, Encoder>();

const calls: WorkerCalls = {
  begin: () => {
    if (db.inTransaction) db.exec("ROLLBACK");
    db.exec("BEGIN");
    // A transaction sees the state of its first read.
    const seq = Number(db.prepare("SELECT coalesce(max(seq), 0) FROM main._change_log").pluck().get());
    return { seq, schemaVersion: Number(db.pragma("main.schema_version", { simple: true })) };
  },
  execute: (statements) => {
    for (const statement of statements) db.exec(statement);
  },
  open: (job) => {
    calls.execute(job.setup);
    encoders.set(job.id, createEncoder(db, job));
    return job.setup.length > 0 ? (db.prepare(partsSql).raw(true).all() as LaidOutPart[]) : [];
  },
  encode: (job, range) => {
    const encode = encoders.get(job);
    assert(encode, "a job is opened before its rows are encoded");
    return encode(range);
  },
  close: (job) => void encoders.delete(job),
};

port.on("message", (request: WorkerRequest) => {
  const reply = replyTo(request);
  const encoded =
    request.method === "encode" && reply.kind === "result" ? (reply.value as EncodedRows) : null;
  port.postMessage(reply, encoded?.parts.map(({ bytes }) => bytes.buffer as ArrayBuffer) ?? []);
});

function replyTo({ method, args }: WorkerRequest): WorkerReply {
  try {
    const call = calls[method] as (...args: readonly unknown[]) => unknown;
    return { kind: "result", value: guarded(mirror, () => call(...args)) };
  } catch (error) {
    if (error instanceof TypeOverflow) return { kind: "overflow", column: error.column, type: error.type };
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    const { kind: errorKind = null, hint, retryable = false } = error instanceof MirrorError ? error : {};
    return { kind: "failed", errorKind, message, hint, retryable, stack };
  }
}
