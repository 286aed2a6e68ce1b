import { createHash } from "node:crypto";
import path from "node:path";
import { selectResources } from "../config/companies.ts";
import type { CompanyConfig, Config } from "../config/config.ts";
import type { ConnectorDeclaration } from "../connector/connector-declaration.ts";
import type { Resource } from "../connector/resource.ts";

/** A company of a config: what whatever is done for it depends on. */
export interface CompanySettings {
  readonly config: Config;
  readonly company: CompanyConfig;
  readonly declaration: ConnectorDeclaration;
  /** Those that the config asks for. */
  readonly resources: readonly Resource[];
  readonly files: MirrorFiles;
}

export function settingsOf(
  config: Config,
  company: CompanyConfig,
  declaration: ConnectorDeclaration,
): CompanySettings {
  const resources = selectResources(declaration, config.resources);
  return { config, company, declaration, resources, files: mirrorFiles(config, company.name) };
}

export type MirrorFiles = Readonly<ReturnType<typeof mirrorFiles>>;

/** In the place of a company's name in the combined report's: no company of it can have this name. */
export const combinedName = "combined";

/** The access token of `id|secret`, for all companies that have the same. */
export function accessTokenFile({ dataDir, baseUrl }: Config, credentials: string): string {
  const of = `${baseUrl} ${credentials.split("|")[0]}`;
  return path.join(dataDir, `.${createHash("sha256").update(of).digest("hex").slice(0, 16)}.access.json`);
}

interface FilePlaces extends Pick<Config, "dataDir"> {
  readonly report: Pick<Config["report"], "out">;
  readonly files?: Pick<Config["files"], "store">;
}

/** The paths of one company's files, absolute. */
export function mirrorFiles({ dataDir, report, files }: FilePlaces, company: string) {
  const unstoredFiles = path.join(dataDir, ".files", company);
  const named = (ending: string) => path.join(dataDir, `${company}${ending}`);
  return {
    mirror: named(".db"),
    report: path.join(report.out ?? dataDir, `${company}.report.db`),
    // The report over several companies.
    combinedReport: path.join(report.out ?? dataDir, `${combinedName}.report.db`),
    // What is known of the request budget, shared by all processes that ask the service.
    budget: named(".budget.db"),
    // Locked by the one process that writes the mirror, which takes commands of others at the socket.
    lock: named(".lock"),
    socket: named(".sock"),
    // Webhook secrets that were replaced and are still accepted.
    secrets: named(".secrets.json"),
    verified: named(".verified.json"),
    // How what follows runs went last: report and exports.
    afterRun: named(".after-run.json"),
    // Incidents, and alerts about them that are not delivered yet; and those that concern all companies: no company has a
    // name that begins with a dot.
    alerts: named(".alerts.json"),
    folderAlerts: path.join(dataDir, ".alerts.json"),
    // What a `verify` that is not complete has compared, and what the service shows to it.
    compared: named(".compared.jsonl"),
    shown: named(".shown.db"),
    // Locked by the one process that makes a backup.
    backupLock: named(".backup.lock"),
    // Folders of what `backup`, `restore` and a snapshot of the fleet work on before it is where it belongs.
    backupStaging: path.join(dataDir, `.${company}.backup`),
    restoreStaging: path.join(dataDir, `.${company}.restore`),
    snapshotStaging: path.join(dataDir, `.${company}.snapshot`),
    // Parquet files of all tables, on their way to the reports of the fleet.
    parquetFolder: path.join(dataDir, ".parquet", company),
    // Exports of a company of the fleet, a folder for each entry, on their way to where its owner sends them.
    unsentExports: path.join(dataDir, ".exports", company),
    // PDFs and attachments; the lock is of the one process that writes them. In a fleet they are in its store, but for
    // those that no snapshot has yet, and their manifest.
    folder: typeof files?.store === "string" ? unstoredFiles : named(".files"),
    unstoredFiles,
    folderLock: named(".files.lock"),
  };
}
