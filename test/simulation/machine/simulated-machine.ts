import { seededChoice, seededRandom, type SeededChoice } from "../../support/seeded-random.ts";
import { calmDeliveries, calmNetwork } from "../scenarios/scenario.ts";
import type { DeliveryFaults, NetworkFaults } from "../scenarios/scenario.ts";
import type { SimulatedService } from "../service/simulated-service.ts";
import { leaks } from "../checks/secrecy.ts";
import { BudgetWatch } from "./budget-watch.ts";
import { CompanyTokens } from "./company-tokens.ts";
import type { SimulatedDisk } from "./simulated-disk.ts";
import type { SimulatedTime } from "../../support/virtual/simulated-time.ts";

/** A read of whole records, as a process sent and received it. */
export interface SeenRead {
  readonly requestId: string;
  /** Of each process another one. */
  readonly process: object;
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
  readonly isMissing: boolean;
  /** The records that it was about, by their tables and ids; null: it did not show this one. */
  readonly shown: ReadonlyMap<string, object | null>;
}

/** A request for one record; `requestId`: of its answer, once it came. */
export interface AskedRecord {
  readonly sentAtMs: number;
  readonly requestId: string | null;
}

/** The machine that the mirror is on, the service, and the network between them. Processes come and go. */
export class SimulatedMachine {
  readonly time: SimulatedTime;
  readonly service: SimulatedService;
  readonly disk: SimulatedDisk;
  /** How many CRM events a 404 denied. */
  denials = 0;
  readonly story: string[] = [];
  readonly broken: string[] = [];
  /** When each event first reached a receiver, by its id; before its commit. */
  readonly arrivals = new Map<string, number>();
  /** Bodies of deliveries that were answered 2xx, by event id. */
  readonly acknowledged = new Map<string, Buffer>();
  /** When a broken route last denied a record, by its table and id. */
  readonly deniedAtMs = new Map<string, number>();
  /** When answers came to the process that had asked, by their request ids. */
  readonly receivedAtMs = new Map<string, number>();
  /** When a route that is going to break last showed a record, by its name. */
  readonly workedAtMs = new Map<string, number>();
  /** Requests for each record, by its table and id, as they were sent. */
  readonly asked = new Map<string, readonly AskedRecord[]>();
  /** Answers as the processes received them, while nothing else held the database. */
  readonly reads: SeenRead[] = [];
  /** When the monotonic clock began anew, and when the wall clock was set. */
  readonly clockLosses = { reboots: [] as number[], settings: [] as number[] };
  /** How far the machine's wall clock is from the true time. */
  wallOffsetMs = 0;
  bootedAtMs = -1_000_000;
  boots = 1;
  /** Share of transactions that find the database held by another program. */
  busy = 0;
  network: NetworkFaults = calmNetwork;
  deliveries: DeliveryFaults = calmDeliveries;
  choice: SeededChoice = seededChoice(seededRandom(0));
  /** Was the mirror ever opened to its end? Before, its tables need not be there. */
  hasMirror: boolean;
  readonly budgetWatch = new BudgetWatch(this.broken);
  readonly tokens: CompanyTokens;
  /** Deliveries that wait for each other. */
  private gathering: Promise<void> | null = null;
  /** Also lines of the log that only say how things go. @default false */
  isVerbose = false;

  constructor(parts: Pick<SimulatedMachine, "time" | "service" | "disk" | "hasMirror">) {
    const { time, service, disk, hasMirror } = parts;
    this.time = time;
    this.service = service;
    this.tokens = new CompanyTokens(service);
    this.disk = disk;
    this.hasMirror = hasMirror;
  }

  /** Notes what happened, for the story of the seed; I1: statements fit the tables, also after a rollback. */
  note(happened: string): void {
    const what = happened.replaceAll(this.disk.root, "");
    if (/(?:has no|no such) (?:column|table)/.test(what)) this.broken.push(`I1 ${what}`);
    this.story.push(`${(this.time.passedMs / 1000).toFixed(3)} ${what}`);
  }

  log(level: string, message: string, fields: object): void {
    if (level === "debug" && !this.isVerbose) return;
    this.note(`${level}: ${message} ${JSON.stringify(fields)}`);
  }

  showError(text: string): void {
    this.broken.push(...leaks(this.tokens.secrets, new Map([[`an error: ${text.slice(0, 200)}`, text]])));
  }

  /** Resolves for all that wait at the same moment, within a few seconds. */
  gather(): Promise<void> {
    this.gathering ??= this.time.sleep(4_000).then(() => void (this.gathering = null));
    return this.gathering;
  }

  reboot(): void {
    this.clockLosses.reboots.push(this.time.passedMs);
    this.boots += 1;
    this.bootedAtMs = this.time.passedMs;
  }
}
