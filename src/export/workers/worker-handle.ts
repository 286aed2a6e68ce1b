import { Worker } from "node:worker_threads";
import { MirrorError } from "../../base/errors.ts";
import { errorOfReply, threadFile } from "../../base/threads/thread-reply.ts";
import { TypeOverflow } from "../parquet/parquet-types.ts";
import type { WorkerCalls, WorkerReply, WorkerRequest } from "./protocol.ts";

/** A thread beyond these ends with an error; the process goes on. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4 };

/** The pool's side of one worker thread. */
export class WorkerHandle {
  readonly #worker: Worker;
  /** Calls without an answer, the oldest first. */
  readonly #pending: PromiseWithResolvers<unknown>[] = [];
  #broken: Error | null = null;

  constructor(mirror: string) {
    this.#worker = new Worker(threadFile(new URL("./worker.ts", import.meta.url)), {
      workerData: mirror,
      resourceLimits,
    });
    this.#worker.on("message", (reply: WorkerReply) => this.#answer(reply));
    this.#worker.on("error", (error) => this.#break(threadError(error)));
    this.#worker.on("exit", () =>
      this.#break(new Error("broken promise: a worker runs until it is stopped")),
    );
  }

  /** Calls that are under way or waiting. */
  get load(): number {
    return this.#pending.length;
  }

  /** Rejects with what the call throws: TypeOverflow, MirrorError or Error. */
  call<M extends keyof WorkerCalls>(
    method: M,
    ...args: Parameters<WorkerCalls[M]>
  ): Promise<ReturnType<WorkerCalls[M]>> {
    if (this.#broken) return Promise.reject(this.#broken);
    const pending = Promise.withResolvers<unknown>();
    this.#pending.push(pending);
    this.#worker.postMessage({ method, args } satisfies WorkerRequest, []);
    return pending.promise as Promise<ReturnType<WorkerCalls[M]>>;
  }

  /** Ends the thread; calls under way are rejected. */
  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #answer(reply: WorkerReply): void {
    const call = this.#pending.shift();
    if ("value" in reply) call?.resolve(reply.value);
    else call?.reject(errorOf(reply));
  }

  #break(error: Error): void {
    this.#broken ??= error;
    for (const call of this.#pending.splice(0)) call.reject(this.#broken);
  }
}

function threadError(error: unknown): Error {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "ERR_WORKER_OUT_OF_MEMORY") return error instanceof Error ? error : new Error(String(error));
  return new MirrorError("database", "a record is too large to be exported in the memory that is allowed", {
    hint: "Export tables one by one to see which it is, and in csv or jsonl.",
    cause: error,
  });
}

function errorOf(reply: Extract<WorkerReply, { readonly error: Error }>): Error {
  const { column, type } = reply.fields;
  if (column !== undefined && type !== undefined) return new TypeOverflow(column, type);
  return errorOfReply(reply);
}
