import { parentPort, Worker, workerData } from "node:worker_threads";
import { ended } from "./cancellation.ts";
import { assert, MirrorError } from "./errors.ts";
import path from "node:path";

/** A thread beyond these ends with an error; the process goes on. */
export const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4 };

/**
 * Does one task in a thread of its own, which begins with `file` and calls `answerTask`. What holds up an event loop
 * then holds up nobody else.
 *
 * @throws what the task throws, or MirrorError `stopped` once `signal` aborts and the thread has ended
 */
export async function runInThread<Value>(file: URL, task: unknown, signal: AbortSignal): Promise<Value> {
  const reply = Promise.withResolvers<ThreadReply<Value> | typeof ended>();
  const worker = new Worker(file, { workerData: task, resourceLimits });
  worker.once("message", reply.resolve);
  worker.once("error", reply.reject);
  worker.once("exit", () => reply.resolve(ended));
  const stop = () => void worker.terminate();
  signal.addEventListener("abort", stop);
  try {
    if (signal.aborted) stop();
    const answer = await reply.promise;
    if (answer !== ended && "value" in answer) return answer.value;
    if (answer !== ended) throw errorOfReply(answer);
    assert(signal.aborted, "a thread answers before it ends");
    throw new MirrorError("stopped", "the work was interrupted");
  } finally {
    signal.removeEventListener("abort", stop);
    await worker.terminate();
  }
}

/** Does the task that this thread was made for, of the type that `runInThread` was given, and answers. */
export async function answerTask(work: (task: never) => Promise<unknown>): Promise<void> {
  assert(parentPort, "this file runs in a worker thread");
  try {
    const value = await work(workerData as never);
    parentPort.postMessage({ value } satisfies ThreadReply, []);
  } catch (error) {
    parentPort.postMessage(failedReply(error), []);
  }
}

/** The answer of a thread. A message loses an error's class and own fields, so these stand beside it. */
export type ThreadReply<Value = unknown, Fields = MirrorError> =
  { readonly value: Value } | { readonly error: Error; readonly fields: Partial<Fields> };

/**
 * The file that a thread begins with: TypeScript in the source, JavaScript in the built package.
 *
 * @param source beside the file that names it: the built package has all its files in one folder
 */
export function threadFile(source: URL): URL {
  return new URL(source.href.replace(/\.ts$/, path.extname(import.meta.url)));
}

export function failedReply(error: unknown): { readonly error: Error; readonly fields: object } {
  const thrown = error instanceof Error ? error : new Error(String(error));
  return { error: thrown, fields: Object.assign({}, thrown) };
}

export function errorOfReply({ error, fields }: Extract<ThreadReply, { error: Error }>): Error {
  const { kind, retryable = false, hint } = fields;
  if (kind === undefined) return error;
  return new MirrorError(kind, error.message, { retryable, ...(hint === undefined ? {} : { hint }) });
}
