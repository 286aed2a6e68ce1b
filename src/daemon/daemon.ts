import type { Log } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import type { Resource } from "../connector/resource.ts";
import type { CompanyStatusView } from "../status/company-status.ts";
import type { Ingest } from "../webhook/ingest/ingest.ts";
import type { Settings, SupervisorParts } from "./company-settings.ts";
import { CompanySupervisor } from "./company-supervisor.ts";
import { createTurns } from "./runs/run-semaphore.ts";

export interface DaemonParts extends Omit<SupervisorParts, "turns"> {
  /** That a config asks for. */
  readonly resourcesOf: (config: Config) => readonly Resource[];
}

/** So many companies run at once; each has a budget of its own. */
const runsAtOnce = 4;

/** All companies of a config in one process: none waits for another, except for its turn to run. */
export class Daemon {
  private readonly parts: DaemonParts;
  private readonly turns = createTurns(runsAtOnce);
  private readonly stations = new Map<string, CompanySupervisor>();
  /** Of companies that the config has no more. */
  private readonly leaving = new Set<Promise<void>>();

  constructor(parts: DaemonParts, config: Config) {
    this.parts = parts;
    this.apply(config);
  }

  /** Null: there is no such company. */
  mailbox(company: string): Ingest | "closed" | null {
    return this.stations.get(company)?.mailbox() ?? null;
  }

  views(): CompanyStatusView[] {
    return [...this.stations.values()].map((station) => station.view());
  }

  stored(company: string): void {
    this.stations.get(company)?.stored();
  }

  answered(company: string, result: string): void {
    this.stations.get(company)?.answered(result);
  }

  /** From now on with this config: companies come and go, and those that stay change what they must. */
  apply(config: Config): void {
    const resources = this.parts.resourcesOf(config);
    const names = new Set(config.companies.map(({ name }) => name));
    for (const [name, station] of this.stations) if (!names.has(name)) this.dismiss(station);
    for (const company of config.companies) {
      const settings: Settings = { config, company, resources };
      const station = this.stations.get(company.name);
      if (station) station.change(settings);
      else this.stations.set(company.name, this.newStation(settings));
    }
  }

  /** Every run ends where it can be gone on with, every mirror is closed and every lock released. */
  async stop(): Promise<void> {
    for (const station of this.stations.values()) this.leaving.add(station.stop());
    await Promise.all(this.leaving);
  }

  private newStation(settings: Settings): CompanySupervisor {
    const log = logOf(this.parts.log, settings.company.name);
    return new CompanySupervisor({ ...this.parts, log, turns: this.turns }, settings);
  }

  private dismiss(station: CompanySupervisor): void {
    this.stations.delete(station.name);
    const gone = station.stop();
    this.leaving.add(gone);
    void gone.finally(() => this.leaving.delete(gone));
  }
}

/** Every line says whose it is. */
function logOf(log: Log, company: string): Log {
  const speak =
    (level: keyof Log): Log[keyof Log] =>
    (message, fields) =>
      log[level](message, { company, ...fields });
  return { debug: speak("debug"), info: speak("info"), warn: speak("warn"), error: speak("error") };
}
