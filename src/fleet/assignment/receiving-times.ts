import type { Span } from "../../state/uptime-log.ts";
import type { ReceivingTable } from "../postgres/tables/receiving-table.ts";

/**
 * When the fleet received deliveries, as this node read it last: one query for all companies that it holds. A mirror's
 * uptime log takes it over, whoever held the company meanwhile.
 *
 * Guarantee: what is read late is a gap that becomes shorter, never a time of receiving that was none.
 * Source of truth: table `receiving`; times are of Postgres' clock.
 * Worst outcome of a crash: none; everything is read again.
 */
export function createReceivingTimes(receiving: Pick<ReceivingTable, "spansSince">) {
  let spans: readonly Span[] = [];
  return {
    /**
     * When deliveries of a company were received that joined the fleet at `joinedMs`: before, whoever received did not
     * receive its deliveries. The function gives the same array while nothing changes.
     */
    since(joinedMs: number): () => readonly Span[] {
      let from: readonly Span[] = [];
      let cut: readonly Span[] = [];
      return () => {
        if (from === spans) return cut;
        from = spans;
        cut = from.flatMap(({ startedMs, seenMs }) =>
          seenMs < joinedMs ? [] : [{ startedMs: Math.max(startedMs, joinedMs), seenMs }],
        );
        return cut;
      };
    },
    /** To be called before the first company is opened, and now and then. Throws MirrorError `database`. */
    async read(): Promise<void> {
      spans = await receiving.spansSince(0);
    },
  };
}
