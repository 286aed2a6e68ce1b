import { isoTime } from "../base/clock.ts";
import { counted } from "../base/units.ts";
import { skewText } from "../http/clock-skew.ts";
import type { RefusalCounts, Refusing, RefusalWatch } from "../webhook/delivery-gap/refusal-watch.ts";
import type { RefusalReason } from "../webhook/ingest/delivery.ts";

/** Where the daemon writes the note in `_meta`. */
export const receiverNoteKey = "receiver";

/** What the receiver counts, as the daemon wrote it last: valid only while it runs. */
export interface ReceiverNote {
  /** Since the start: deliveries that were refused, by reason. */
  readonly refused: RefusalCounts;
  /** Since the start: those for no company of the config. */
  readonly refused_elsewhere: RefusalCounts;
  /** Null: as far as known, the service's deliveries arrive. */
  readonly refusing: RefusingNote | null;
  /** Above 0 where this machine's clock is ahead of the service's. Null: not known. */
  readonly clock_skew_seconds: number | null;
  /** Since the start: connections that the daemon dropped. */
  readonly dropped_connections: number;
}

/** A time in which every delivery of the service was refused. */
interface RefusingNote {
  /** ISO. */
  readonly since: string;
  readonly last: string;
  /** The most frequent reason. */
  readonly reason: RefusalReason;
  /** Refusals in this time, by reason. */
  readonly counts: RefusalCounts;
  /** What is probably the cause, and what to do. */
  readonly hint: string;
}

/** A mirror without a daemon's note. */
export const emptyReceiverNote: ReceiverNote = {
  refused: {},
  refused_elsewhere: {},
  refusing: null,
  clock_skew_seconds: null,
  dropped_connections: 0,
};

/** The note as things stand. */
export function noteOf(
  refusals: Pick<RefusalWatch, "counts" | "refusing">,
  strayRefusals: RefusalCounts,
  dropped: number,
  skewMs: number | null,
): ReceiverNote {
  return {
    refused: { ...refusals.counts },
    refused_elsewhere: { ...strayRefusals },
    refusing: refusingNote(refusals.refusing(), skewMs),
    clock_skew_seconds: skewMs === null ? null : Math.round(skewMs / 1000),
    dropped_connections: dropped,
  };
}

function refusingNote(refusing: Refusing | null, skewMs: number | null): RefusingNote | null {
  if (refusing === null) return null;
  const { sinceMs, lastMs, reason, counts, blamesClock } = refusing;
  const clock = skewMs === null ? "" : skewText(skewMs);
  const hint =
    blamesClock && skewMs !== null
      ? `the probable cause is this machine's clock, ${clock}: set it (chrony, ntpd, systemd-timesyncd)`
      : (hints[reason] ?? otherHint);
  return { since: isoTime(sinceMs), last: isoTime(lastMs), reason, counts, hint };
}

const hints: Partial<Record<RefusalReason, string>> = {
  bad_signature: "compare the webhook secret with the subscription's, or rotate it with `webhooks rotate`",
  stale_timestamp:
    "compare this machine's clock with the service's (`check`); a proxy may hold deliveries back",
  not_stored: "the mirror cannot be written: look for a full disk, or a program that holds it",
  too_busy: "more deliveries come than can be stored: look for a slow disk",
};
const otherHint = "a proxy in between may change headers or bodies: compare with what the service sends";

/** `5 deliveries were refused and none was accepted since …: 5 bad_signature; compare …`. */
export function refusingText({ since, counts, hint }: RefusingNote): string {
  const byCount = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  const total = byCount.reduce((sum, [, count]) => sum + count, 0);
  const list = byCount.map(([reason, count]) => `${count} ${reason}`).join(", ");
  return `${counted(total, "delivery was", "deliveries were")} refused since ${since} and none was accepted: ${list}; ${hint}`;
}
