import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../base/errors.ts";
import { failedReply } from "../../base/threads/thread-reply.ts";
import { guarded, openDatabase } from "../../store/database.ts";
import { installRedaction } from "../../store/snapshot/redacted-records.ts";
import { partsSql, type LaidOutPart } from "../plan/export-plan.ts";
import { createEncoder, type Encoder } from "./encoder.ts";
import {
  stateOf,
  type EncodedRows,
  type WorkerCalls,
  type WorkerReply,
  type WorkerRequest,
} from "./protocol.ts";

/**
 * A worker thread: reads and encodes rows through a connection of its own. It writes nothing, so nothing is
 * left behind when it ends.
 */
assert(parentPort, "this file runs in a worker thread");
const port = parentPort;
/** The mirror's file. */
const mirror = workerData as string;
const db = openDatabase(mirror, { readonly: true });
/** Of the open job. */
let encoder: Encoder | null = null;

const calls: WorkerCalls = {
  begin: () => {
    if (db.inTransaction) db.exec("ROLLBACK");
    db.exec("BEGIN");
    // A transaction sees the state of its first read.
    return stateOf(db);
  },
  execute: (statements) => {
    for (const statement of statements) db.exec(statement);
  },
  redact: (redaction) => installRedaction(db, redaction),
  open: (job) => {
    encoder = null;
    calls.execute(job.setup);
    encoder = createEncoder(db, job);
    return job.setup.length > 0 ? (db.prepare(partsSql).raw(true).all() as LaidOutPart[]) : [];
  },
  query: (sql) => db.prepare(sql).raw(true).all() as (readonly unknown[])[],
  encode: (range) => {
    assert(encoder, "a job is opened before its rows are encoded");
    return encoder(range);
  },
};

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
