import path from "node:path";
import { makeBackup, type BackupResult } from "../../backup/make-backup.ts";
import { idOfBackup } from "../../backup/content/backup-manifest.ts";
import type { BackupPlace, BackupSource } from "../../backup/places/backup-place.ts";
import { isoTime } from "../../base/clock.ts";
import { folderPlace } from "../../backup/places/folder-place.ts";
import { s3Place } from "../../backup/places/s3-place.ts";
import { MirrorError } from "../../base/errors.ts";
import { someOf } from "../../base/names.ts";
import { connectStore } from "../../export/s3/object-store.ts";
import { readAccess, readTarget } from "../../export/s3/target.ts";
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

/** Throws MirrorError `usage` for an address that cannot be used, and without the keys of an object store. */
export function openBackupPlace({ context, files }: CompanyScope, address: string): BackupPlace {
  if (!address.startsWith("s3://")) return folderPlace(address);
  const { env, keepSecret, clock, signal } = context;
  const target = readTarget(address);
  const access = readAccess(env, target);
  keepSecret([access.secretAccessKey]);
  const store = connectStore(access);
  return s3Place({ address, store, prefix: target.prefix, staging: files.backupStaging, clock, signal });
}

/** Warns of backups whose names are times in the future. */
export async function warnOfFuture({ context, company }: CompanyScope, place: BackupSource): Promise<void> {
  const now = idOfBackup(isoTime(context.clock.nowMs()));
  const ahead = (await place.list(company.name)).filter((id) => id > now);
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
    const place = openBackupPlace(scope, to);
    await warnOfFuture(scope, place);
    return makeBackup({ company: company.name, files, keyPlaces, place, ...request, clock, version, signal });
  };
  return recorded(scope, backupStep, work, ({ manifest }) => ({ unchanged: false, seq: manifest.seq }));
}
