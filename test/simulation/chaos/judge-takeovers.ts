import type { OwnershipSpan } from "./ownership-spans.ts";

/** By the wall clock, ms. */
export interface Moment {
  readonly process: string;
  readonly atMs: number;
}

export interface TimeSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** From the end of an owner to the next claim. */
export interface Takeover {
  readonly company: string;
  readonly from: string;
  readonly reason: "killed" | "lease lost";
  readonly tookMs: number;
}

/** A company without an owner waits at most this long, ms. */
const longestTakeoverMs = 30_000;

interface TakeoverFacts {
  readonly spans: ReadonlyMap<string, readonly OwnershipSpan[]>;
  readonly kills: readonly Moment[];
  /** When Postgres gave no answer: nobody can claim then. */
  readonly away: readonly TimeSpan[];
  /** When the fleet was last looked at; what had no owner then waited until then. */
  readonly endMs: number;
}

/** Every ownership that was not released, and how long its company waited; time without Postgres does not count. */
export function takeoversOf({ spans, kills, away, endMs }: TakeoverFacts): readonly Takeover[] {
  return [...spans.values()].flatMap((ofCompany) =>
    ofCompany.flatMap((span, i) => {
      const nextMs = ofCompany[i + 1]?.fromMs ?? endMs;
      const kill = kills.find(
        ({ process, atMs }) => process === span.process && atMs >= span.fromMs && atMs <= span.untilMs,
      );
      const lostMs = kill?.atMs ?? span.untilMs;
      if (span.released || lostMs > endMs) return [];
      const waitedMs = nextMs - lostMs - overlapMs({ fromMs: lostMs, untilMs: nextMs }, away);
      const { company, process: from } = span;
      return [{ company, from, reason: kill ? "killed" : "lease lost", tookMs: waitedMs } as const];
    }),
  );
}

function overlapMs({ fromMs, untilMs }: TimeSpan, others: readonly TimeSpan[]): number {
  return others.reduce(
    (sum, other) => sum + Math.max(0, Math.min(untilMs, other.untilMs) - Math.max(fromMs, other.fromMs)),
    0,
  );
}

export function judgeTakeovers(takeovers: readonly Takeover[]): string[] {
  return takeovers
    .filter(({ tookMs }) => tookMs > longestTakeoverMs)
    .map(
      ({ company, from, reason, tookMs }) =>
        `${company}: ${(tookMs / 1_000).toFixed(1)} s without an owner after ${from} (${reason})`,
    );
}

/** One line: how many, the middle one and the longest. */
export function takeoversText(takeovers: readonly Takeover[]): string {
  const of = (reason: Takeover["reason"]) => {
    const times = takeovers.filter((one) => one.reason === reason).map(({ tookMs }) => tookMs / 1_000);
    const sorted = times.toSorted((a, b) => a - b);
    const middle = sorted[Math.floor(sorted.length / 2)] ?? 0;
    return `${sorted.length} ${reason} (median ${middle.toFixed(1)} s, longest ${(sorted.at(-1) ?? 0).toFixed(1)} s)`;
  };
  return `takeovers: ${of("killed")}, ${of("lease lost")}`;
}
