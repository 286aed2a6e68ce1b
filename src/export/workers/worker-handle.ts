import path from "node:path";
import { Worker } from "node:worker_threads";
import { MirrorError, type ErrorKind } from "../../base/errors.ts";
import type { Failure, WorkerRequest, Reply, WorkerStart } from "./job.ts";

/** A thread that runs out of these ends alone, with an error, and takes nothing with it. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4 };

/** One thread: asked one thing at a time. */
export class WorkerHandle {
  busy = false;
  readonly #worker: Worker;
  #broken: Error | null = null;
  #settle: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | null = null;

  constructor(start: WorkerStart) {
    this.#worker = new Worker(workerFile(), { workerData: start, resourceLimits });
    this.#worker.on("message", (reply: Reply) => this.#settle?.resolve(reply));
    this.#worker.on("error", (error) => this.#break(threadError(error)));
    this.#worker.on("exit", () => this.#break(new Error("broken promise: a thread ends when it is told to")));
  }

  async order(order: WorkerRequest): Promise<Reply> {
    const broken = this.#broken;
    if (broken) throw broken;
    const reply = await new Promise<Reply>((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#worker.postMessage(order, []);
    });
    if (reply.kind === "failed") throw errorOf(reply.failure);
    return reply;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #break(error: Error): void {
    this.#broken ??= error;
    this.#settle?.reject(this.#broken);
  }
}

/** In the source beside this file as it is, in the built package as JavaScript. */
function workerFile(): URL {
  const source = new URL("./worker.ts", import.meta.url);
  return new URL(source.href.replace(/\.ts$/, path.extname(import.meta.url)));
}

function threadError(error: unknown): Error {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "ERR_WORKER_OUT_OF_MEMORY") return error instanceof Error ? error : new Error(String(error));
  return new MirrorError("database", "a record is too large to be exported in the memory that is allowed", {
    hint: "Export tables one by one to see which it is, and in csv or jsonl.",
    cause: error,
  });
}

function errorOf({ error, message, hint, retryable, stack }: Failure): Error {
  if (error === "") return Object.assign(new Error(message), { stack });
  return new MirrorError(
    error as ErrorKind,
    message,
    hint === undefined ? { retryable } : { hint, retryable },
  );
}
