import { MirrorError } from "../../base/errors.ts";
import type { ContentFacts } from "../../base/files/hashed-file.ts";

export interface BackupFile extends ContentFacts {
  /** Relative to the manifest, with slashes. */
  readonly file: string;
}

/** `manifest.json` of a backup: everything that it holds besides. */
export interface BackupManifest {
  readonly format: 1;
  readonly company: string;
  /** Of the mirror, as the service calls the company; null: no run has read it yet. */
  readonly identity: { readonly name: string; readonly business_id: string | null } | null;
  /** Counts the company's backups in this place from 1: the later one has the higher number, whatever the clock shows. */
  readonly number: number;
  /** The moment that the mirror's copy shows, ISO. */
  readonly taken_at: string;
  /** Of this program. */
  readonly version: string;
  /** The identity of the change log. */
  readonly log: string;
  /** How far it is. */
  readonly seq: number;
  /** Rows of each table of the mirror. */
  readonly rows: Readonly<Record<string, number>>;
  readonly files: readonly BackupFile[];
}

/** Names within a backup. */
export const manifestName = "manifest.json";
export const mirrorName = "mirror.db";
/** Webhook keys that were replaced and are still accepted. */
export const retiredKeysName = "keys/retired.json";
/** The key file of the config's webhook secret at this place of its list. */
export const keyName = (index: number) => `keys/webhook-${index}`;
/** What PDFs and attachments begin with. */
export const documentsPrefix = "files/";

/** Writes the moment as the name of a backup: `2026-11-22T20-52-47-123Z`. */
export function idOfBackup(takenAt: string): string {
  return takenAt.replaceAll(/[:.]/g, "-");
}

/** Is it the name of a backup? Other files and folders are never touched. */
export function isBackupId(name: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/.test(name);
}

/** Throws MirrorError `database` for what is no manifest of a version that this program knows. */
export function parseBackupManifest(text: string, address: string): BackupManifest {
  const manifest = parsed(text);
  const { format, number, files } = manifest ?? {};
  const isKnown =
    format === 1 &&
    Number.isSafeInteger(number) &&
    Array.isArray(files) &&
    files.every(({ file }) => isWithin(String(file)));
  if (isKnown) return manifest as BackupManifest;
  throw new MirrorError("database", `the manifest of the backup cannot be used: ${address}`, {
    hint: "It is damaged, or a newer version wrote it. `restore --at` takes an older backup.",
  });
}

function parsed(text: string): Partial<BackupManifest> | null {
  try {
    return JSON.parse(text) as Partial<BackupManifest> | null;
  } catch {
    return null;
  }
}

/** A manifest from elsewhere names no file outside of its folder. */
function isWithin(file: string): boolean {
  return !file.startsWith("/") && !file.includes("\\") && !file.split("/").includes("..");
}
