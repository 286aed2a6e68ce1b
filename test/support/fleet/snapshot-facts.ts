import { isoTime } from "../../../src/base/clock.ts";

/** What a snapshot says of a mirror without troubles that was read whole then, an hour ago if nothing is said. */
export function healthyFacts(
  more: Readonly<Record<string, unknown>> = {},
  wholeAtMs: number = Date.now() - 3_600_000,
) {
  const at = isoTime(wholeAtMs);
  return {
    last_run: { id: 1, outcome: "complete", finished_at: at },
    failed_start: null,
    summary: {
      whole_at: at,
      problem: null,
      troubles: 0,
      reads_waiting: 0,
      set_aside: 0,
      quarantined: 0,
      day_requests: 40,
      ...more,
    },
  };
}
