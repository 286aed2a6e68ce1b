import path from "node:path";
import { makeBackup, type BackupResult } from "../../backup/make-backup.ts";
import { idOfBackup, isBackupId } from "../../backup/content/backup-manifest.ts";
import { isoTime } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import { someOf } from "../../base/names.ts";
import type { ReadableStore } from "../../file-store/file-store.ts";
import { openStore } from "../../file-store/open-store.ts";
import { backupStep } from "../../status/after-run-record.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import { recorded } from "./recorded-step.ts";

/** Where backups are, and how many of them stay. */
export interface BackupRequest {
  /** A folder, or `s3://bucket/prefix`. */
  readonly to: string;
  /** null: all. */
  readonly keep: number | null;
  /** Are webhook keys in it? */
  readonly withKeys: boolean;
}

/**
 * Where the command line or else the config says that backups are. Relative to the working folder.
 * @throws MirrorError `usage` where neither does
 */
export function addressOfBackups({ context, config }: CompanyScope, given: string | undefined): string {
  const address = given ?? config.backup.to;
  if (address === null || address === "")
    throw new MirrorError("usage", "nobody says where backups are", {
      hint: "Name a folder or s3://BUCKET/PREFIX, here or as `backup: { to: … }` in the config.",
    });
  return address.startsWith("s3://") ? address : path.resolve(context.cwd, address);
}

/** Warns of backups whose names are times in the future. */
export async function warnOfFuture({ context, company }: CompanyScope, store: ReadableStore): Promise<void> {
  const now = idOfBackup(isoTime(context.clock.nowMs()));
  const names = await store.folders(`${company.name}/`, context.signal);
  const ahead = names.filter((name) => isBackupId(name) && name > now);
  if (ahead.length === 0) return;
  context.log.warn(`${company.name}: backups with a name in the future: ${someOf(ahead, 3)}`, {
    hint: "The clock was ahead when they were made, or is behind now. Which backup is the newest is decided by their manifests.",
  });
}

/** Makes a backup of one company, and records how it went for `status`. */
export function backupCompany(scope: CompanyScope, { to, ...request }: BackupRequest): Promise<BackupResult> {
  const { context, company, files } = scope;
  const { clock, version, signal } = context;
  const keyPlaces = company.webhook.places;
  const work = async () => {
    const store = openStore(to, context, 0o600);
    await warnOfFuture(scope, store);
    return makeBackup({ company: company.name, files, keyPlaces, store, ...request, clock, version, signal });
  };
  return recorded(scope, backupStep, work, ({ manifest }) => ({ unchanged: false, seq: manifest.seq }));
}
