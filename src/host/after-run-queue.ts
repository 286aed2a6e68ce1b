import { WaitQueue } from "../base/semaphore.ts";

/** What is made: `all` that follows runs, the `report` alone, a `backup` or `files`, which jobs of their own make. */
export type AfterRunScope = "all" | "report" | "backup" | "files";

interface WaitingJob {
  readonly company: string;
  scope: AfterRunScope;
  readonly askers: WaitQueue<true>;
}

/**
 * What follows runs, over all companies: so many at a time, in the order of their requests, one per company. What
 * waits already is not queued again.
 *
 * Guarantee: no more than `limit` at a time, whatever runs end together. Files, which come again and again, wait for all else.
 * Source of truth: this process's memory; what was made is on disk.
 * Worst outcome of a crash: what waits is forgotten, and the next run asks again.
 */
export class AfterRunQueue {
  limit = 1;
  private readonly perform: (company: string, scope: AfterRunScope) => Promise<void>;
  private readonly waiting = new Map<string, WaitingJob>();
  private readonly running = new Map<string, Promise<void>>();

  /** @param perform makes it for a company, with the config as it is by then; never rejects */
  constructor(perform: AfterRunQueue["perform"]) {
    this.perform = perform;
  }

  /** Resolves when it was made, or is not made any more; with `signal` nobody waits for that any longer. */
  async add(company: string, scope: AfterRunScope, signal?: AbortSignal): Promise<void> {
    const key = scope === "backup" || scope === "files" ? `${company} ${scope}` : company;
    const job = this.waiting.get(key) ?? { company, scope, askers: new WaitQueue<true>() };
    if (scope === "all") job.scope = scope;
    this.waiting.set(key, job);
    const ended = job.askers.wait(0, signal);
    this.startNext();
    await ended;
  }

  isPending(company: string): boolean {
    return this.running.has(company) || [...this.waiting.values()].some((job) => job.company === company);
  }

  /** The company is gone: what waits for it is not made. */
  drop(company: string): void {
    for (const [key, job] of this.waiting) {
      if (job.company !== company) continue;
      job.askers.serveAll(true);
      this.waiting.delete(key);
    }
  }

  /** Makes nothing more, and resolves when what is being made has ended. */
  async stop(): Promise<void> {
    this.limit = 0;
    for (const { company } of this.waiting.values()) this.drop(company);
    await Promise.all(this.running.values());
  }

  private startNext(): void {
    const filesLast = [...this.waiting].toSorted(
      ([, a], [, b]) => Number(a.scope === "files") - Number(b.scope === "files"),
    );
    for (const [key, { company, scope, askers }] of filesLast) {
      if (this.running.size >= this.limit) return;
      if (this.running.has(company)) continue;
      this.waiting.delete(key);
      const work = this.perform(company, scope).finally(() => {
        this.running.delete(company);
        askers.serveAll(true);
        this.startNext();
      });
      this.running.set(company, work);
    }
  }
}
