import type { OwnershipSpan } from "./ownership-spans.ts";
import type { SeenRequest } from "./request-watch.ts";

/** A time in which a process did not run, by the wall clock, ms. */
export interface Stop {
  readonly process: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * A process that is stopped between its last look at the lease and the bytes on the wire sends what it began after it
 * goes on. So much of it is in flight: this long after the stop, so many requests of one company.
 */
const inFlight = { withinMs: 1_000, most: 1 };

export interface RequestsVerdict {
  readonly broken: readonly string[];
  /** Requests in flight when their process was stopped, which arrived after its ownership. */
  readonly tolerated: number;
}

/** Requests that a process sent for a company that it did not own, and answers with 429. */
export function judgeRequests(
  requests: readonly SeenRequest[],
  spans: ReadonlyMap<string, readonly OwnershipSpan[]>,
  stops: readonly Stop[],
): RequestsVerdict {
  const refused = requests.filter(({ status }) => status === 429);
  const strange = requests.filter((one) => !isOwned(one, spans.get(one.company) ?? []));
  const ofStop = new Map<string, number>();
  const late = strange.filter((one) => {
    const stop = stops.find(
      ({ process, untilMs }) =>
        process === one.process && one.atMs >= untilMs && one.atMs <= untilMs + inFlight.withinMs,
    );
    if (!stop) return true;
    const key = `${one.company} ${stop.process} ${stop.untilMs}`;
    const count = (ofStop.get(key) ?? 0) + 1;
    ofStop.set(key, count);
    return count > inFlight.most;
  });
  return {
    broken: [
      ...refused.map((one) => `${textOf(one)} was answered with 429`),
      ...late.map((one) => `${textOf(one)} was sent without owning the company`),
    ],
    tolerated: strange.length - late.length,
  };
}

function isOwned({ process, atMs }: SeenRequest, spans: readonly OwnershipSpan[]): boolean {
  return spans.some((one) => one.process === process && one.fromMs <= atMs && atMs <= one.untilMs);
}

function textOf({ company, method, path, process, atMs }: SeenRequest): string {
  return `${company}: ${method} ${path} of ${process} at ${new Date(atMs).toISOString()}`;
}
