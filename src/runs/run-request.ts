import { isoTime, type Clock } from "../base/clock.ts";
import { messageOf, MirrorError } from "../base/errors.ts";
import type { CompanyReport, Outcome } from "../sync/context/run-report.ts";
import { Tally } from "../sync/context/tally.ts";
import type { AskedRun } from "../sync/run/begin-run.ts";

export interface RunRequest extends AskedRun {
  readonly quick: boolean;
  /** Reads again what lists do not show, as the config says. */
  readonly scrub: boolean;
  /** Per company, retries included. */
  readonly mostRequests: number | undefined;
}

/** What a run that no person asked for does. */
export const usualRun = {
  full: false,
  quick: false,
  allowMassDelete: false,
  acceptIdentity: false,
  scrub: false,
  mostRequests: undefined,
};

type WallClock = Pick<Clock, "nowMs">;

export function emptyReport(clock: WallClock, startedAt: string, outcome: Outcome): CompanyReport {
  const times = { started_at: startedAt, finished_at: isoTime(clock.nowMs()) };
  const phases = { listed_at: null, resumed: false, scrub: null };
  const work = { ...phases, requests: new Tally().requests, resources: {}, swept: {}, troubles: [] };
  const fields = { new_columns: [], missing_fields: [], unkept_fields: [], uncompared_fields: [] };
  return { outcome, ...times, ...work, ...fields };
}

/** Kinds of errors that are an outcome of a run as well. */
const outcomes = ["locked", "database", "identity", "unauthenticated", "stopped"] as const;

/** The report of a run that could not begin, with the error and the outcome that stands for it. */
export function notBegun(clock: WallClock, startedAt: string, error: unknown): CompanyReport {
  const { kind, hint } = error instanceof MirrorError ? error : { kind: "bug", hint: undefined };
  const outcome = outcomes.find((one) => one === kind) ?? "failed";
  return {
    ...emptyReport(clock, startedAt, outcome),
    error: { kind, message: messageOf(error), ...(hint === undefined ? {} : { hint }) },
  };
}
