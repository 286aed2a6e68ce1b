import { createHash } from "node:crypto";
import path from "node:path";
import type { Config } from "./config.ts";

/** Everything that belongs to one company in the data folder. */
export interface MirrorFiles {
  readonly mirror: string;
  readonly report: string;
  /** The report over several companies. */
  readonly combinedReport: string;
  /** What is known of the request budget, shared by all processes that ask the service. */
  readonly budget: string;
  /** Locked by the one process that writes the mirror. */
  readonly lock: string;
  /** Where that process takes commands of others. */
  readonly socket: string;
  /** Webhook secrets that were replaced and are still accepted. */
  readonly secrets: string;
  /** What the last `verify` found. */
  readonly verified: string;
  /** How what follows runs went last: report and exports. */
  readonly afterRun: string;
  /** Incidents, and alerts about them that are not delivered yet. */
  readonly alerts: string;
  /** Those that concern all companies: no company has a name that begins with a dot. */
  readonly folderAlerts: string;
  /** What a `verify` that is not complete has compared. */
  readonly compared: string;
  /** What the service shows to a `verify`, while it compares. */
  readonly shown: string;
  /** Locked by the one process that makes a backup. */
  readonly backupLock: string;
  /** Folders of what `backup` and `restore` work on before it is where it belongs. */
  readonly backupStaging: string;
  readonly restoreStaging: string;
  /** Parquet files of all tables, on their way to the reports of the fleet. */
  readonly parquetFolder: string;
  /** Folder of a snapshot of the fleet before it is stored. */
  readonly snapshotStaging: string;
  /** PDFs and attachments. */
  readonly folder: string;
  /** Locked by the one process that writes them. */
  readonly folderLock: string;
}

/** In the place of a company's name in the combined report's: no company of it can have this name. */
export const combinedName = "combined";

/** The access token of `id|secret`, for all companies that have the same. */
export function accessTokenFile({ dataDir, baseUrl }: Config, credentials: string): string {
  const of = `${baseUrl} ${credentials.split("|")[0]}`;
  return path.join(dataDir, `.${createHash("sha256").update(of).digest("hex").slice(0, 16)}.access.json`);
}

/** What of a config says where files are. */
type FilePlaces = Pick<Config, "dataDir"> & { readonly report: Pick<Config["report"], "out"> };

/** The paths of one company's files, absolute. */
export function mirrorFiles({ dataDir, report }: FilePlaces, company: string): MirrorFiles {
  const named = (ending: string) => path.join(dataDir, `${company}${ending}`);
  return {
    mirror: named(".db"),
    report: path.join(report.out ?? dataDir, `${company}.report.db`),
    combinedReport: path.join(report.out ?? dataDir, `${combinedName}.report.db`),
    budget: named(".budget.db"),
    lock: named(".lock"),
    socket: named(".sock"),
    secrets: named(".secrets.json"),
    verified: named(".verified.json"),
    afterRun: named(".after-run.json"),
    alerts: named(".alerts.json"),
    folderAlerts: path.join(dataDir, ".alerts.json"),
    compared: named(".compared.jsonl"),
    shown: named(".shown.db"),
    backupLock: named(".backup.lock"),
    backupStaging: path.join(dataDir, `.${company}.backup`),
    restoreStaging: path.join(dataDir, `.${company}.restore`),
    parquetFolder: path.join(dataDir, ".parquet", company),
    snapshotStaging: path.join(dataDir, `.${company}.snapshot`),
    folder: named(".files"),
    folderLock: named(".files.lock"),
  };
}
