import type { Log } from "../base/logger.ts";
import type { CompanyConfig, Config } from "../config/config.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import type { Resource } from "../connector/resource.ts";
import type { RefusalCounts } from "../webhook/delivery-gap/refusal-watch.ts";
import type { ConnectionCounts } from "../server/connections.ts";
import type { AlertContext } from "./incident-watch.ts";
import type { AfterRunScope } from "./after-run-queue.ts";
import type { ProcessContext } from "../runs/process-context.ts";
import type { RequestGuard } from "../runs/service-connection.ts";
import type { Mirror } from "../state/mirror.ts";
import type { Span } from "../state/uptime-log.ts";

/** What every part of the daemon works with; below the daemon itself the log adds the company to each line. */
export interface DaemonContext extends ProcessContext, Pick<AlertContext, "targetsOf" | "freeBytes"> {
  readonly manifest: Manifest;
  /** Resources that a config asks for. */
  readonly resourcesOf: (config: Config) => readonly Resource[];
  /**
   * Makes what follows runs, whoever asked for them. Gives what went wrong where it is recorded nowhere, otherwise
   * null. A rejection is logged.
   */
  readonly afterRun: (settings: CompanySettings, scope: AfterRunScope) => Promise<string | null>;
  /** Of the server: every company's heartbeat writes them to its mirror, for `status`. */
  readonly connections: Readonly<ConnectionCounts>;
  /** Since the start: refused deliveries for no company of the config, by reason. */
  readonly strayRefusals: RefusalCounts;
  /** Gets every webhook key as soon as it is known. */
  readonly onSecrets: (secrets: readonly string[]) => void;
}

/** One company as the config has it now. */
export interface CompanySettings {
  readonly config: Config;
  readonly company: CompanyConfig;
  /** Resources that the config asks for. */
  readonly resources: readonly Resource[];
}

/** What a company adds that several processes share. In `serve` there is none of it. */
export interface CompanyHooks {
  /** Besides the writer lock's file: may this process still write the company? False stays false. */
  readonly isHeld: () => boolean;
  readonly requests: RequestGuard;
  /** When deliveries were received, by whatever process. The mirror has them already when it is open. */
  readonly receivedSpans: () => readonly Span[];
  /** The mirror is open, and nothing has been done with it yet. What it throws closes the mirror. */
  readonly onOpen: (mirror: Mirror) => void;
}

/** Adds the company to every line. */
export function companyLog(log: Log, company: string): Log {
  const at =
    (level: keyof Log): Log[keyof Log] =>
    (message, fields) =>
      log[level](message, { company, ...fields });
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Pure: does a change of the config concern what a company runtime was built from? */
export function needsRestart(before: CompanySettings, after: CompanySettings): boolean {
  return builtFrom(before) !== builtFrom(after);
}

function builtFrom({ config, company, resources }: CompanySettings): string {
  const { baseUrl, language, rateLimit, scrub, http, schedule, backup, retention } = config;
  const { parentsPerRun } = config.resources;
  const { places, secrets } = company.webhook;
  const keys = [company.token, ...secrets].map((secret) => (secret.known ? secret.reveal() : null));
  const names = resources.map(({ name }) => name);
  const sections = [baseUrl, language, rateLimit, scrub, http, schedule, backup, retention];
  return JSON.stringify([...sections, company.account, company.contact, keys, places, names, parentsPerRun]);
}
