import type { ServiceAnswer } from "../../../src/connector/transport.ts";
import type { RunParts } from "../../../src/sync/context/run-context.ts";
import { Tally } from "../../../src/sync/context/tally.ts";
import type { RunOptions } from "../../../src/sync/run/begin-run.ts";
import { runSync } from "../../../src/sync/run/sync-run.ts";

/** What the service shows, as an answer of the transport; text as it is. */
export function answerOf(shown: unknown): ServiceAnswer {
  const body = Buffer.from(typeof shown === "string" ? shown : JSON.stringify(shown));
  return { status: 200, body, requestId: null };
}

/** What a run is asked for, where a test says nothing else. */
export const defaultRun = {
  full: false,
  allowMassDelete: false,
  acceptIdentity: false,
  parentsPerRun: "auto",
  scrub: null,
  concurrency: 6,
  patienceMs: 15 * 60_000,
  share: "all",
  signal: new AbortController().signal,
  closed: new AbortController().signal,
  graceMs: 30_000,
} as const;

type Parts = Omit<RunParts, "tally" | "rateLimited"> & Partial<Pick<RunParts, "rateLimited">>;
type Asked = Partial<RunOptions> & Pick<RunOptions, "resources">;

/** A whole run, as `sync` makes it, with a tally of its own. */
export function runOnce(parts: Parts, asked: Asked) {
  const counted = { tally: new Tally(), rateLimited: () => 0 };
  return runSync({ ...counted, ...parts }, { ...defaultRun, ...asked });
}
