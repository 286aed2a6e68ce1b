import { parentPort, workerData } from "node:worker_threads";
import { assert, type MirrorError } from "../../base/errors.ts";
import { failedReply, type ThreadReply } from "../../base/threads.ts";
import { guarded, openDatabase } from "../../store/database.ts";
import { attachBelow } from "../../store/snapshot/overlay.ts";
import type { TypeOverflow } from "../parquet/parquet-types.ts";
import { createCalls, type EncodedRows, type EncoderCalls } from "./encoder.ts";

/** A thread of an export: reads and encodes rows through a connection of its own, and writes nothing. */
assert(parentPort, "this file runs in a thread");
const port = parentPort;
const mirror = workerData as string;
const db = openDatabase(mirror, { readonly: true });
attachBelow(db, "main");
const calls = createCalls(db);

/** One call on its way to a thread; calls are answered in their order. */
export interface EncoderRequest {
  readonly method: keyof EncoderCalls;
  readonly args: readonly unknown[];
}

export type EncoderReply = ThreadReply<unknown, MirrorError & TypeOverflow>;

port.on("message", ({ method, args }: EncoderRequest) => {
  const reply = replyTo(method, args);
  const encoded = method === "encode" && "value" in reply ? (reply.value as EncodedRows).parts : [];
  port.postMessage(
    reply,
    encoded.map(({ bytes }) => bytes.buffer as ArrayBuffer),
  );
});

function replyTo(method: EncoderRequest["method"], args: EncoderRequest["args"]): EncoderReply {
  try {
    const call = calls[method] as (...args: readonly unknown[]) => unknown;
    return { value: guarded(mirror, () => call(...args)) };
  } catch (error) {
    return failedReply(error);
  }
}
