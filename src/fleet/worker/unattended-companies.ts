import type { Log } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { JobEngine } from "../jobs/job-engine.ts";
import type { Postgres } from "../postgres/connection.ts";
import { judgeLosses } from "../postgres/tables/losses.ts";
import { findWaitingCompanies, type WaitingCompany } from "../postgres/tables/owners-table.ts";

export interface UnattendedCompaniesParts {
  readonly postgres: Postgres;
  readonly engine: Pick<JobEngine, "send">;
  /** Does this node hold the company, or begin to? */
  readonly isHeld: (company: string) => boolean;
  /** Says that this node lives. */
  readonly beat: () => Promise<void>;
  readonly random: Random;
  readonly log: Log;
}

/** Companies that are looked at, at a time. */
const mostAtOnce = 1_000;

/**
 * Looks for companies that nobody looks after although there is something to do.
 *
 * Guarantee: whatever was lost below it (a job, its sender, a node), a job is sent again. A company that nodes died of one
 * after another is left alone for a while.
 * Source of truth: tables `owners` and `inbox_heads`.
 * Worst outcome of a crash: none; another node looks.
 */
export class UnattendedCompanies {
  private readonly parts: UnattendedCompaniesParts;

  constructor(parts: UnattendedCompaniesParts) {
    this.parts = parts;
  }

  /** One look. Throws MirrorError `database`. */
  async sendJobs(): Promise<void> {
    const { engine, postgres, isHeld } = this.parts;
    const waiting = await findWaitingCompanies(postgres, mostAtOnce);
    if (waiting.some(({ reason }) => reason === "suspect")) await this.judgeLosses();
    const left = waiting.filter(({ company }) => !isHeld(company));
    const of = (reason: WaitingCompany["reason"]) =>
      left.filter((one) => one.reason === reason).map(({ company }) => company);
    await engine.send("run", of("left"));
    await engine.send("events", of("inbox"));
  }

  /** Companies of nodes that died one after another are left alone for a while, unless they are too many. */
  private async judgeLosses(): Promise<void> {
    const { postgres, beat, random, log } = this.parts;
    // While Postgres is away nodes lose their companies and live: this one says so first.
    await beat();
    for (const { delayMs, ...facts } of await judgeLosses(postgres, () => random.next()))
      log.error("nodes that held this company died one after another: it is left alone for a while", {
        company: facts.company,
        node: facts.node,
        losses: facts.losses,
        ms: Math.round(delayMs),
      });
  }
}
