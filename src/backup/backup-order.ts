import { MirrorError } from "../base/errors.ts";
import type { BackupSource } from "./places/backup-place.ts";
import { parseBackupManifest } from "./content/backup-manifest.ts";

/** A company's finished backups in one place. */
export interface BackupOrder {
  /** In the order in which they were made. */
  readonly ids: readonly string[];
  /** Of the last one; 0: there is none. */
  readonly lastNumber: number;
}

/**
 * Reads in which order backups were made, from the numbers in their manifests: names are times, and a clock may be wrong.
 * One whose manifest cannot be read counts as the newest, so that it is neither removed nor passed over unseen.
 *
 * @throws MirrorError of the place
 */
export async function readBackupOrder(place: BackupSource, company: string): Promise<BackupOrder> {
  const found: { id: string; number: number }[] = [];
  for (const id of await place.list(company)) found.push({ id, number: await numberOf(place, company, id) });
  const ids = found.toSorted((a, b) => a.number - b.number || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
  const numbers = found.map(({ number }) => number).filter((number) => number < Infinity);
  return { ids, lastNumber: Math.max(0, ...numbers) };
}

async function numberOf(place: BackupSource, company: string, id: string): Promise<number> {
  const text = await place.readManifest(company, id).catch((error: unknown) => {
    if (error instanceof MirrorError) throw error;
    return "";
  });
  try {
    return parseBackupManifest(text, id).number;
  } catch {
    return Infinity;
  }
}
