import type { VerifyReport } from "../../../src/verify/report.ts";
import type { Company } from "../company/open-company.ts";
import { truthOf, type Truth } from "../truth/truth.ts";
import { named } from "./verify.ts";

export interface LiveOptions {
  readonly seed: number;
  readonly perSecond: number;
}

/** People who change a company's records all the time, and when each record changed last. */
export class LiveChanges {
  /** Changes so far. */
  count = 0;
  private readonly company: Company;
  private readonly stopped = new AbortController();
  private readonly changedAtMs = new Map<string, number>();
  private before: Truth;
  private readonly ended: Promise<void>;

  /** Starts them. */
  constructor(company: Company, options: LiveOptions) {
    this.company = company;
    this.before = truthOf(company.sandbox);
    this.ended = this.work(options);
    this.ended.catch(() => undefined);
  }

  /** Rejects with a bug of the sandbox. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.ended;
  }

  /** Records that are named although the service has not changed them since then, `performance.now()`. */
  wronglyNamed(report: VerifyReport, sinceMs: number): string[] {
    return named(report).filter((line) => {
      const [table = "", id = ""] = line.split(" ");
      return !((this.changedAtMs.get(`${table} ${id}`) ?? -Infinity) > sinceMs);
    });
  }

  private async work({ seed, perSecond }: LiveOptions): Promise<void> {
    const { control } = this.company.sandbox;
    const startMs = performance.now();
    while (!this.stopped.signal.aborted) {
      const waitMs = startMs + (this.count * 1_000) / perSecond - performance.now();
      await control.clock.sleep(Math.max(0, waitMs), this.stopped.signal);
      await control.day({ seed: seed * 1_000_003 + this.count, changes: 1, durationMs: 0 }).done;
      this.count += 1;
      this.observe();
    }
  }

  private observe(): void {
    const after = truthOf(this.company.sandbox);
    const atMs = performance.now();
    for (const [table, records] of after) {
      const earlier = this.before.get(table);
      const ids = new Set([...records.keys(), ...(earlier?.keys() ?? [])]);
      for (const id of ids)
        if (earlier?.get(id)?.text !== records.get(id)?.text) this.changedAtMs.set(`${table} ${id}`, atMs);
    }
    this.before = after;
  }
}
