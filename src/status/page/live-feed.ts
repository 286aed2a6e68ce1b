import { randomUUID } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { cpuMs } from "./facts/facts-reader.ts";
import type { Part } from "./markup/page-part.ts";

/** Between two readings: so many times what one computes, so that looking takes little of the one thread there is. */
const restFactor = 200;
const shortestMs = 2_000;
const longestMs = 5 * 60_000;

/** The parts of a page, and the revision that a stream goes on from. */
export interface FeedState {
  readonly parts: readonly Part[];
  readonly revision: string;
}

interface KnownPart extends Part {
  /** When its content changed last. */
  readonly changed: number;
}

/**
 * One page's parts, read and rendered once for all who look at it, and again at intervals while somebody does.
 *
 * Guarantee: at most one rendering an interval, however many look; a reader gets every change since its revision.
 * Source of truth: what `read` gives. Worst outcome of a crash: readers connect again and get all parts.
 */
export class LiveFeed {
  private readonly clock: Clock;
  private readonly read: () => Promise<readonly Part[]>;
  private readonly costMs: () => number;
  private readonly readers = new Map<(message: string) => void, number>();
  /** Another process, or another feed of the same page, knows nothing of this one's revisions. */
  private readonly name = randomUUID().slice(0, 8);
  private parts: readonly KnownPart[] = [];
  private revision = 0;
  private nextMs = 0;
  /** Of the latest reading: until the next one, all get what it gave, or why it gave nothing. */
  private reading: Promise<void> = Promise.resolve();
  private stopped = new AbortController();

  /** @param costMs what was computed so far, ms */
  constructor(clock: Clock, read: () => Promise<readonly Part[]>, costMs: () => number = cpuMs) {
    this.clock = clock;
    this.read = read;
    this.costMs = costMs;
  }

  get isWatched(): boolean {
    return this.readers.size > 0;
  }

  /** The parts as they are now, or were within the interval. Rejects with what `read` rejects with. */
  async state(): Promise<FeedState> {
    await this.refresh();
    return { parts: this.parts, revision: `${this.name}-${this.revision}` };
  }

  /** Sends what changed since a revision, and from now on what changes. Gives the end of it. */
  follow(since: string, send: (message: string) => void): () => void {
    const [name, number] = since.split("-");
    this.readers.set(send, name === this.name ? Number(number) : -1);
    this.sendChanges();
    if (this.readers.size === 1) void this.keepUp();
    return () => {
      this.readers.delete(send);
      if (this.readers.size === 0) this.stopped.abort();
    };
  }

  private async keepUp(): Promise<void> {
    this.stopped = new AbortController();
    const { signal } = this.stopped;
    while (!signal.aborted) {
      // What cannot be read now may be readable later; the page of who asks anew says why.
      await this.refresh().catch(() => undefined);
      await this.clock.sleep(Math.max(1, this.nextMs - this.clock.monotonicMs()), signal);
    }
  }

  private refresh(): Promise<void> {
    if (this.clock.monotonicMs() >= this.nextMs) {
      this.nextMs = Infinity;
      this.reading = this.readParts();
    }
    return this.reading;
  }

  private async readParts(): Promise<void> {
    const beforeMs = this.costMs();
    try {
      const parts = await this.read();
      this.take(parts);
    } finally {
      const restMs = (this.costMs() - beforeMs) * restFactor;
      this.nextMs = this.clock.monotonicMs() + Math.min(longestMs, Math.max(shortestMs, restMs));
    }
  }

  private take(parts: readonly Part[]): void {
    const next = this.revision + 1;
    const known = new Map(this.parts.map((part) => [part.id, part]));
    const isSame = ({ id, body }: Part) => known.get(id)?.body.text === body.text;
    if (parts.every(isSame)) return;
    this.parts = parts.map((part) => ({
      ...part,
      changed: isSame(part) ? (known.get(part.id)?.changed ?? next) : next,
    }));
    this.revision = next;
    this.sendChanges();
  }

  private sendChanges(): void {
    for (const [send, since] of this.readers) {
      const changed = this.parts.filter((part) => part.changed > since);
      this.readers.set(send, this.revision);
      if (changed.length === 0) continue;
      const data = JSON.stringify(changed.map(({ id, body }) => ({ id, html: body.text })));
      send(`id: ${this.name}-${this.revision}\nevent: parts\ndata: ${data}\n\n`);
    }
  }
}
