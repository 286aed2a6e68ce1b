import type { Clock } from "../../base/clock.ts";
import { hintOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { Span } from "../../state/uptime-log.ts";
import type { ReceivingTable } from "../postgres/tables/receiving-table.ts";

/** What the times are read with. */
export interface ReceivingTimesParts {
  readonly receiving: Pick<ReceivingTable, "spansSince">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Shorter than the service's first pauses matter little: an event is lost after hours only. */
const readEveryMs = 15_000;

/**
 * When the fleet received deliveries, as this node read it last: one query for all companies that it holds. A mirror's
 * uptime log takes it over, whoever held the company meanwhile.
 *
 * Guarantee: what is read late is a gap that becomes shorter, never a time of receiving that was none.
 * Source of truth: table `receiving`; times are of Postgres' clock.
 * Worst outcome of a crash: none; everything is read again.
 */
export class ReceivingTimes {
  private readonly parts: ReceivingTimesParts;
  private spans: readonly Span[] = [];
  private hasFailed = false;

  constructor(parts: ReceivingTimesParts) {
    this.parts = parts;
  }

  /**
   * When deliveries of a company were received that joined the fleet at `joinedMs`: before, whoever received did not
   * receive its deliveries. The function gives the same array while nothing changes.
   */
  since(joinedMs: number): () => readonly Span[] {
    let from: readonly Span[] = [];
    let cut: readonly Span[] = [];
    return () => {
      if (from === this.spans) return cut;
      from = this.spans;
      cut = from.flatMap(({ startedMs, seenMs }) =>
        seenMs < joinedMs ? [] : [{ startedMs: Math.max(startedMs, joinedMs), seenMs }],
      );
      return cut;
    };
  }

  /** Reads until `closed`. Never rejects. */
  async follow(closed: AbortSignal): Promise<void> {
    const { clock, log } = this.parts;
    for (; !closed.aborted; await clock.sleep(readEveryMs, closed))
      try {
        await this.read();
        this.hasFailed = false;
      } catch (error) {
        const fields = { error: messageOf(error), ...hintOf(error) };
        if (!this.hasFailed) log.warn("when deliveries were received cannot be read now", fields);
        this.hasFailed = true;
      }
  }

  /** To be called before the first company is opened. Throws MirrorError `database`. */
  async read(): Promise<void> {
    this.spans = await this.parts.receiving.spansSince(0);
  }
}
