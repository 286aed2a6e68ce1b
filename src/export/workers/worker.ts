import { parentPort, workerData } from "node:worker_threads";
import { assert, MirrorError } from "../../base/errors.ts";
import { guarded, openDatabase, type Db } from "../../store/database.ts";
import { createEncoder } from "./encoder.ts";
import type { Encoder, Failure, WorkerRequest, Reply, SnapshotId, WorkerStart } from "./job.ts";
import { TypeOverflow } from "../parquet/row-group-writer.ts";

/**
 * A thread that reads and formats: its own connection, its own read transaction on the same state of the
 * mirror as all the others. It writes nothing, so nothing of it can be left behind.
 */
assert(parentPort, "this file is a thread's");
const port = parentPort;
const { mirror } = workerData as WorkerStart;
const db = openDatabase(mirror, { readonly: true });
const encoders = new Map<number, Encoder>();

port.on("message", (order: WorkerRequest) => {
  const reply = answered(order);
  const moved = reply.kind === "made" ? reply.parts.map((part) => part.buffer as ArrayBuffer) : [];
  port.postMessage(reply, moved);
});

function answered(order: WorkerRequest): Reply {
  try {
    return guarded(mirror, () => answer(order));
  } catch (error) {
    return error instanceof TypeOverflow
      ? { kind: "misfit", column: error.column }
      : { kind: "failed", failure: failureOf(error) };
  }
}

function answer(order: WorkerRequest): Reply {
  switch (order.kind) {
    case "begin":
      return { kind: "began", ...begin(db) };
    case "show":
      for (const statement of order.statements) db.exec(statement);
      return { kind: "done" };
    case "open":
      for (const statement of order.job.setup) db.exec(statement);
      encoders.set(order.job.id, createEncoder(db, order.job));
      return { kind: "done" };
    case "ask":
      return { kind: "told", rows: db.prepare(order.sql).raw(true).all() as unknown[][] };
    case "make": {
      const encoder = encoders.get(order.job);
      assert(encoder, "a job is opened before its parts are made");
      return { kind: "made", ...encoder.make(order.range) };
    }
    case "close":
      encoders.delete(order.job);
      return { kind: "done" };
    default:
      return order satisfies never;
  }
}

/** A transaction sees what was committed at its first read. */
function begin(connection: Db): SnapshotId {
  if (connection.inTransaction) connection.exec("ROLLBACK");
  connection.exec("BEGIN");
  const seq = Number(connection.prepare("SELECT coalesce(max(seq), 0) FROM main._change_log").pluck().get());
  return { seq, schemaVersion: Number(connection.pragma("main.schema_version", { simple: true })) };
}

function failureOf(error: unknown): Failure {
  const known = error instanceof MirrorError ? error : null;
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const retryable = known?.retryable ?? false;
  return { error: known?.kind ?? "", message, hint: known?.hint, retryable, stack };
}
