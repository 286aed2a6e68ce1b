import { parentPort, Worker, workerData } from "node:worker_threads";
import { ended } from "../cancellation.ts";
import { assert, MirrorError } from "../errors.ts";
import { errorOfReply, failedReply, type ThreadReply } from "./thread-reply.ts";

/** A thread beyond these ends with an error; the process goes on. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4 };

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
