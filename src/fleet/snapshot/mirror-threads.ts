import { MirrorError } from "../../base/errors.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { runInThread } from "../../base/threads/run-in-thread.ts";
import { threadFile } from "../../base/threads/thread-reply.ts";
import type { MirrorFacts } from "../../backup/content/copy-mirror.ts";
import type { ContentFacts } from "../../base/files/hashed-file.ts";
import type { MirrorPosition } from "./mirror-position.ts";

/** Copies a mirror beside its writer, checks the copy and packs it. */
export interface PackTask {
  readonly kind: "pack";
  readonly mirror: string;
  /** New files. */
  readonly copy: string;
  readonly packed: string;
}

/** What was packed. */
export interface PackedMirror {
  readonly facts: MirrorFacts;
  readonly position: MirrorPosition;
  readonly unpacked: ContentFacts;
  readonly packed: ContentFacts;
}

/** Unpacks a mirror, checks it, and puts it where one belongs. */
export interface PlaceTask {
  readonly kind: "place";
  readonly packed: string;
  /** A new file. */
  readonly unpacked: string;
  readonly expected: ContentFacts;
  readonly mirror: string;
  /** Files about the mirror that is there now; removed with it. */
  readonly about: readonly string[];
}

/** What is done with whole mirrors. */
export type MirrorTask = PackTask | PlaceTask;

/** More of them would wait for the same disk. */
const mostThreads = 2;

/**
 * Work on whole mirrors, in threads beside the event loop of a node: other companies wait for none of it. One object
 * for each process: so many threads at a time, in the order in which they were asked for.
 */
export class MirrorThreads {
  private readonly places = new Semaphore(mostThreads);

  /** @throws what the task throws, or MirrorError `stopped` */
  pack(task: Omit<PackTask, "kind">, signal: AbortSignal): Promise<PackedMirror> {
    return this.run<PackedMirror>({ kind: "pack", ...task }, signal);
  }

  /** @throws what the task throws, or MirrorError `stopped` */
  async place(task: Omit<PlaceTask, "kind">, signal: AbortSignal): Promise<void> {
    await this.run({ kind: "place", ...task }, signal);
  }

  private async run<Value>(task: MirrorTask, signal: AbortSignal): Promise<Value> {
    const release = await this.places.acquire(signal);
    if (!release) throw new MirrorError("stopped", "the work was interrupted");
    try {
      const file = threadFile(new URL("./mirror-thread.ts", import.meta.url));
      return await runInThread<Value>(file, task, signal);
    } finally {
      release();
    }
  }
}
