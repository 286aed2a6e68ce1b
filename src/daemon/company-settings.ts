import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import type { CompanyConfig, Config } from "../config/config.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import type { Resource } from "../connector/resource.ts";
import type { CompanyReport } from "../sync/context/run-report.ts";
import type { EndedRun } from "./runs/run-queue.ts";
import type { Totals } from "./counters.ts";
import type { Turns } from "./runs/run-semaphore.ts";

/** What stays the same for a station, however often its mirror is opened anew. */
export interface SupervisorParts {
  readonly manifest: Manifest;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Of this program. */
  readonly version: string;
  /** Of runs, over all companies. */
  readonly turns: Turns;
  readonly afterRun: readonly AfterRun[];
  /** Publishes, where the config has a pattern for it; never rejects. */
  readonly publish: (settings: Settings) => Promise<void>;
  /** Told every webhook secret the moment it is known. */
  readonly onSecrets: (secrets: readonly string[]) => void;
}

/** What is done after each run, whoever asked for it: publishing, exports. */
export type AfterRun = (run: {
  readonly config: Config;
  readonly company: CompanyConfig;
  readonly report: CompanyReport;
}) => Promise<void>;

export interface Settings {
  readonly config: Config;
  readonly company: CompanyConfig;
  /** That the config asks for. */
  readonly resources: readonly Resource[];
}

export interface RuntimeParts extends SupervisorParts {
  readonly settings: Settings;
  readonly totals: Totals;
  readonly onRunEnd: (ended: EndedRun) => void;
  /** Ends it: what is in flight may finish. */
  readonly closed: AbortSignal;
  /** Ends it at once. */
  readonly signal: AbortSignal;
}
