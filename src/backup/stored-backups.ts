import { MirrorError, valueOr } from "../base/errors.ts";
import { isWithin, parseManifest, type ContentFacts } from "../base/files/hashed-file.ts";
import { readText, type ReadableStore } from "../file-store/file-store.ts";
import type { MirrorManifest } from "./copy-mirror.ts";

/** `manifest.json` of a backup: everything that it holds besides. */
export interface BackupManifest extends MirrorManifest {
  /** Counts the company's backups in this place from 1: the later one has the higher number, whatever the clock shows. */
  readonly number: number;
  readonly files: readonly BackupFile[];
}

export interface BackupFile extends ContentFacts {
  /** Relative to the manifest, with slashes. */
  readonly file: string;
}

export const backupNames = {
  manifest: "manifest.json",
  mirror: "mirror.db",
  /** Webhook keys that were replaced and are still accepted. */
  retiredKeys: "keys/retired.json",
  /** The key file of the config's webhook secret at this place of its list. */
  key: (index: number) => `keys/webhook-${index}`,
  /** What PDFs and attachments begin with. */
  documents: "files/",
};

/** Writes the moment as the name of a backup: `2026-11-22T20-52-47-123Z`. */
export function idOfBackup(takenAt: string): string {
  return takenAt.replaceAll(/[:.]/g, "-");
}

/** The name of a backup. Other files and folders are never touched. */
const backupId = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/;

/** Throws MirrorError `database` for what is no manifest of a version that this program knows. */
export function parseBackupManifest(text: string | null, address: string): BackupManifest {
  const manifest = parseManifest<BackupManifest>(text, ["file", "sha256"]);
  const { format, number, taken_at } = manifest ?? {};
  const isKnown = format === 1 && Number.isSafeInteger(number) && typeof taken_at === "string";
  if (isKnown && manifest?.files?.every(({ file }) => isWithin(file))) return manifest as BackupManifest;
  throw new MirrorError("database", `the manifest of the backup cannot be used: ${address}`, {
    hint: "It is damaged, or a newer version wrote it. `restore --at` takes an older backup.",
  });
}

/**
 * Reads in which order backups were made, from the numbers in their manifests: names are times, and a clock may be wrong.
 * One whose manifest cannot be used counts as the newest, so that it is neither removed nor passed over unseen.
 *
 * @throws MirrorError of the store
 */
export async function readBackups(store: ReadableStore, company: string, signal: AbortSignal) {
  const found: { id: string; number: number }[] = [];
  const unfinished: string[] = [];
  for (const id of (await store.folders(`${company}/`, signal)).filter((name) => backupId.test(name))) {
    const text = await readText(store, `${company}/${id}/${backupNames.manifest}`, signal);
    if (text === null) unfinished.push(id);
    else found.push({ id, number: valueOr(() => parseBackupManifest(text, "").number, Infinity) });
  }
  const ids = found.toSorted((a, b) => a.number - b.number || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
  const numbers = found.map(({ number }) => number).filter((number) => number < Infinity);
  return { ids, lastNumber: Math.max(0, ...numbers), unfinished };
}
