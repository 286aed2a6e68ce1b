import { Semaphore, type Release } from "../base/semaphore.ts";

/** Places for the runs of a process; each company has a request budget of its own, but the processor is shared. */
export class RunPlaces {
  private readonly runs: Semaphore;
  private readonly scrubs: Semaphore;

  /** So many at once, over all companies. A scrub lasts long and leaves most of the processor free. */
  constructor(runs = 4, scrubs = 24) {
    this.runs = new Semaphore(runs);
    this.scrubs = new Semaphore(scrubs);
  }

  /** Waits for the place of a run; null: `signal` aborted first. */
  async take(signal?: AbortSignal): Promise<RunPlace | null> {
    const release = await this.runs.acquire(signal);
    return release && new RunPlace(release, this.scrubs);
  }
}

/** The place of one run. */
export class RunPlace {
  private readonly scrubs: Semaphore;
  private given: Release | null;

  constructor(given: Release, scrubs: Semaphore) {
    this.given = given;
    this.scrubs = scrubs;
  }

  /** Gives the place to other runs, and waits for one among the scrubs when `step` is done, or until `signal` aborts. */
  async beginScrub(step: () => Promise<void>, signal: AbortSignal): Promise<void> {
    this.release();
    await step();
    this.given = await this.scrubs.acquire(signal);
  }

  release(): void {
    this.given?.();
    this.given = null;
  }
}
