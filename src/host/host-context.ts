import type { Log } from "../base/logger.ts";
import { sectionsFor, type Config } from "../config/config.ts";
import type { ProcessContext } from "../runs/process-context.ts";
import type { RunPlaces, RunQueue } from "../runs/run-queue.ts";
import type { RequestGuard } from "../runs/service-connection.ts";
import type { ConnectionCounts } from "../server/connections.ts";
import type { Mirror } from "../state/mirror.ts";
import type { UptimeLog } from "../state/uptime-log.ts";
import type { CompanySettings } from "../store/mirror-files.ts";
import type { LoopTurns } from "../store/transient-errors.ts";
import type { CompanyIngest } from "../webhook/ingest/ingest.ts";
import type { RefusalCounts } from "../webhook/delivery-gap/refusal-watch.ts";
import type { AfterRunQueue, AfterRunScope } from "./after-run-queue.ts";

export interface HostProcess extends ProcessContext {
  /** Makes what follows runs. Gives what went wrong where nothing records it, else null. A rejection is logged. */
  readonly afterRun: (settings: CompanySettings, scope: AfterRunScope) => Promise<string | null>;
  /** Of the server: every company's heartbeat writes them to its mirror, for `status`. */
  readonly connections: Readonly<ConnectionCounts>;
  /** Commands of alerts get a part of it. */
  readonly env: NodeJS.ProcessEnv;
  /** Gets every webhook key as soon as it is known. */
  readonly onSecrets: (secrets: readonly string[]) => void;
}

/** What companies are held with; the log adds the company to each line. */
export interface HostContext extends HostProcess {
  /** Since the start: refused deliveries for no company of the config, by reason. */
  readonly strayRefusals: RefusalCounts;
  readonly runPlaces: RunPlaces;
  readonly afterRuns: Pick<AfterRunQueue, "add" | "isPending">;
  /** Whatever writes a mirror, opens or closes one waits for a turn of its own. */
  readonly turns: LoopTurns;
}

/** A company whose mirror this process holds open: what works on it. */
export interface OpenCompany {
  readonly context: HostContext;
  readonly settings: CompanySettings;
  readonly mirror: Mirror;
  readonly runQueue: RunQueue;
  /** @default the company is this process's alone */
  readonly hooks?: CompanyHooks | undefined;
  /** Nothing begins any more; what is in flight may finish. */
  readonly closed: AbortSignal;
}

export interface ReceivingMirror {
  readonly mirror: Mirror;
  readonly ingest: CompanyIngest;
}

/** What a company adds that several processes share. In `serve` there is none of it. */
export interface CompanyHooks {
  /** Besides the writer lock's file: may this process still write the company? False stays false. */
  readonly isHeld: () => boolean;
  readonly requests: RequestGuard;
  /** Takes over when deliveries were received, by whatever process, as `UptimeLog.merge`. Done already when it is open. */
  readonly mergeReceived: (uptime: UptimeLog) => boolean;
  /** The mirror is open, and nothing has been done with it yet. What it throws closes the mirror. */
  readonly onOpen: (mirror: Mirror) => void;
  /** Stores what other processes received, until `closed`. Rejects where the mirror cannot be used any more. */
  readonly followInbox: (opened: ReceivingMirror, closed: AbortSignal) => Promise<void>;
  /** Receivers get changes up to this one: who takes the company over may give the numbers after it again. */
  readonly sharedSeq: () => number;
  /** How far a receiver of changes is was noted in the mirror. */
  readonly onPushed: () => void;
}

export function companyLog(log: Log, company: string): Log {
  const at =
    (level: keyof Log): Log[keyof Log] =>
    (message, fields) =>
      log[level](message, { company, ...fields });
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export function needsRestart(before: CompanySettings, after: CompanySettings): boolean {
  return builtFrom(before) !== builtFrom(after);
}

function builtFrom({ config, company, resources }: CompanySettings): string {
  const sections = sectionsFor("runtime").map((key) => config[key as keyof Config]);
  const { token, tokenPlace: _, webhook, ...own } = company;
  const ofReceivers = config.notify.flatMap(({ url, secret }) => [url.secret, secret.secret]);
  const keys = [token, ...webhook.secrets, ...ofReceivers].map((secret) =>
    secret.known ? secret.reveal() : null,
  );
  const names = resources.map(({ name }) => name);
  // What receivers of changes must not see.
  const redact = config.notify.length > 0 ? config.report.redact : [];
  return JSON.stringify([sections, redact, own, keys, webhook.places, names]);
}
