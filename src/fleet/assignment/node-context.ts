import type { Semaphore } from "../../base/semaphore.ts";
import type { HostProcess } from "../../host/host-context.ts";
import type { RequestGuard } from "../../runs/service-connection.ts";
import type { JobEngine } from "../jobs/job-engine.ts";
import type { LeaseKeeper } from "../ownership/lease-keeper.ts";
import type { Ownership } from "../ownership/ownership.ts";
import type { StoredPackage } from "../postgres/fleet-database.ts";
import type { AskedPackage } from "../postgres/tables/packages-table.ts";
import type { CompanyRow } from "../postgres/tables/companies-table.ts";
import type { FleetTables } from "../postgres/tables/fleet-tables.ts";
import type { Timeline } from "../postgres/tables/timeline-table.ts";
import type { CompanySettings } from "../../store/mirror-files.ts";
import type { Span } from "../../state/uptime-log.ts";
import type { MirrorSnapshots } from "../snapshot/mirror-snapshots.ts";
import type { FileStore } from "../../file-store/file-store.ts";
import type { InboxWatch } from "./drain.ts";

export interface NodeParts {
  readonly host: HostProcess;
  readonly node: NodeSettings;
  readonly tables: FleetTables;
  readonly engine: JobEngine;
  readonly snapshots: MirrorSnapshots;
  /** Where the snapshots are. */
  readonly store: FileStore;
  /** What a company is held with on this node, by its row. Throws MirrorError `config`. */
  readonly load: (row: CompanyRow) => Promise<CompanySettings>;
  readonly publish: NodePublishing;
}

export interface NodePublishing {
  /**
   * What follows a run was made. Gives why it could not be published; null: it is, or the company is lost. Rejects where the
   * process ends meanwhile.
   */
  readonly report: (company: CompanySettings, owner: Ownership) => Promise<string | null>;
  /** As `sendExports`. */
  readonly exports: (company: CompanySettings, owner: Ownership, refused: string | null) => Promise<boolean>;
  /** Makes the package of a month, and stores it under the key; or gives why the month is not proved. Throws MirrorError. */
  readonly month: (
    company: CompanySettings,
    asked: AskedPackage,
    owner: Ownership,
    guard: RequestGuard,
    signal: AbortSignal,
    key: string,
  ) => Promise<StoredPackage | string>;
  /** Fetches files that are missing for a minute, and records how it went. True: none is missing, and a report shows them. */
  readonly files: (company: CompanySettings, guard: RequestGuard, signal: AbortSignal) => Promise<boolean>;
}

export interface NodeSettings {
  readonly name: string;
  readonly role: "all" | "work";
  /** Where the mirrors are that it holds, and those that it has released. */
  readonly dataDir: string;
  readonly capacity: number;
  readonly snapshotEveryMs: number;
}

export interface NodeContext extends NodeParts {
  readonly times: NodeTimes;
  readonly keeper: LeaseKeeper;
  readonly inboxWatch: InboxWatch;
  /**
   * When the fleet received deliveries, as this node read it last, for all companies that it holds: what is read late is a
   * gap that becomes shorter. The same array until the next time.
   */
  readonly receivedSpans: () => readonly Span[];
  readonly timeline: { readonly current: () => Timeline };
  readonly packagePlaces: Semaphore;
  /** Aborts when there is no more time for snapshots: the node stops. */
  readonly cutOff: AbortSignal;
}

export const usualTimes = {
  /** Between two looks for jobs: while there are some, and otherwise. */
  fetchMs: 1_000,
  quietFetchMs: 2_000,
  inboxMs: 1_000,
  /** A gap that is noticed late does little harm: an event is lost after hours only. */
  receivingMs: 15_000,
  beatMs: 5_000,
  /** Between two looks for companies that nobody looks after. */
  unattendedMs: 5_000,
  configMs: 10_000,
  pruneMs: 600_000,
  /** Of mirrors on the disk. */
  cacheMs: 60_000,
  markMs: 5_000,
  /** A company without work is released after that; and after that where no place is free. */
  idleMs: 90_000,
  fullIdleMs: 5_000,
  /** A company is looked at again after that whose account is owned through another one. */
  rivalMs: 15_000,
  /** A company whose mirror cannot be used here is given back after that. */
  openMs: 120_000,
  /** A company that failed is looked at again after that; after twice that the second time, and so on. */
  failedMs: 30_000,
};

export type NodeTimes = Readonly<typeof usualTimes>;
