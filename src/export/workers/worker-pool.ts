import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { assert } from "../../base/errors.ts";
import { WorkerHandle } from "./worker-handle.ts";
import type { Job, Made, WorkerRequest, Reply, SnapshotId, WorkerStart } from "./job.ts";
import type { KeyRange } from "../columns/row-source.ts";

/** More threads would wait for each other's disk and double the memory; a small mirror is read before two have begun. */
const mostThreads = 2;
const smallBytes = 16_000_000;

function threadsFor(mirror: string): number {
  return statSync(mirror).size < smallBytes ? 1 : Math.min(mostThreads, availableParallelism());
}

/** What a piece of work became: bytes, or the column whose type was too narrow. */
export type EncodedOrOverflow = Made | { readonly misfit: string };

/** The threads of one export: whoever is free takes the next piece of work. */
export class WorkerPool {
  readonly #hands: readonly WorkerHandle[];
  readonly #waiting: { readonly wants: WorkerHandle | null; readonly start: (hand: WorkerHandle) => void }[] =
    [];

  constructor(start: WorkerStart, threads = threadsFor(start.mirror)) {
    this.#hands = Array.from({ length: threads }, () => new WorkerHandle(start));
  }

  get threads(): number {
    return this.#hands.length;
  }

  /** All begin at once; what each then sees. */
  async begin(): Promise<SnapshotId[]> {
    const replies = await this.#all({ kind: "begin" });
    return replies.map((reply) => {
      assert(reply.kind === "began", "a thread that begins says so");
      return { seq: reply.seq, schemaVersion: reply.schemaVersion };
    });
  }

  /** On all threads: makes the leading thread's temporary views. */
  async show(statements: readonly string[]): Promise<void> {
    await this.#all({ kind: "show", statements });
  }

  /** On all threads; with `alone` on the first one only, which then does all of it. */
  async open(job: Job, alone: boolean): Promise<void> {
    if (alone) await this.#order({ kind: "open", job }, this.#first());
    else await this.#all({ kind: "open", job });
  }

  async close(job: Job, alone: boolean): Promise<void> {
    if (alone) await this.#order({ kind: "close", job: job.id }, this.#first());
    else await this.#all({ kind: "close", job: job.id });
  }

  /** Of the first thread, which sees what `open` with `alone` has set up. */
  async ask(sql: string): Promise<readonly unknown[][]> {
    const reply = await this.#order({ kind: "ask", sql }, this.#first());
    assert(reply.kind === "told", "a question is answered");
    return reply.rows;
  }

  async make(job: Job, range: KeyRange, alone: boolean): Promise<EncodedOrOverflow> {
    const reply = await this.#order({ kind: "make", job: job.id, range }, alone ? this.#first() : null);
    if (reply.kind === "misfit") return { misfit: reply.column };
    assert(reply.kind === "made", "what is ordered is made");
    return reply;
  }

  async end(): Promise<void> {
    await Promise.all(this.#hands.map((hand) => hand.end()));
  }

  #first(): WorkerHandle {
    const [hand] = this.#hands;
    assert(hand, "a crew has a thread");
    return hand;
  }

  #all(order: WorkerRequest): Promise<Reply[]> {
    return Promise.all(this.#hands.map((hand) => this.#order(order, hand)));
  }

  async #order(order: WorkerRequest, wants: WorkerHandle | null): Promise<Reply> {
    const hand = await this.#free(wants);
    try {
      return await hand.order(order);
    } finally {
      this.#release(hand);
    }
  }

  #free(wants: WorkerHandle | null): Promise<WorkerHandle> {
    const hand = wants ?? this.#hands.find(({ busy }) => !busy);
    if (hand && !hand.busy) {
      hand.busy = true;
      return Promise.resolve(hand);
    }
    return new Promise((start) => this.#waiting.push({ wants, start }));
  }

  #release(hand: WorkerHandle): void {
    const next = this.#waiting.findIndex(({ wants }) => wants === null || wants === hand);
    if (next === -1) hand.busy = false;
    else this.#waiting.splice(next, 1)[0]?.start(hand);
  }
}
