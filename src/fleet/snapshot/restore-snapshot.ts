import { rm } from "node:fs/promises";
import path from "node:path";
import { makeFolders } from "../../base/atomic-file.ts";
import { MirrorError } from "../../base/errors.ts";
import type { MirrorFiles } from "../../config/mirror-files.ts";
import { fetchChecked, type FileStore } from "../../file-store/file-store.ts";
import { takeWriterLock } from "../../store/writer-lock.ts";
import type { SnapshotPointer } from "../postgres/tables/snapshots-table.ts";
import type { MirrorThreads } from "./mirror-threads.ts";
import { mirrorKey, unpackedOf } from "./snapshot-manifest.ts";

export interface RestoreSnapshotParts {
  readonly company: string;
  readonly pointer: SnapshotPointer;
  readonly store: FileStore;
  readonly files: MirrorFiles;
  readonly threads: MirrorThreads;
  readonly signal: AbortSignal;
}

/**
 * Puts the published snapshot where the company's mirror belongs on this node, in place of what is there. The mirror
 * is then what the disk of a process would show that was killed when the snapshot was taken.
 *
 * Guarantee: everything is checked before anything is touched; then the mirror is replaced by one rename. One of
 * another company is never replaced (I10).
 * Source of truth: the pointer in Postgres, which names the content.
 * Worst outcome of a crash: the earlier mirror or the new one, and a folder that the next restore removes.
 *
 * @throws MirrorError `locked` while a process writes the mirror, `identity`, `database` where the snapshot is lost or
 *   damaged, `stopped`, and those of the store
 */
export async function restoreSnapshot(parts: RestoreSnapshotParts): Promise<void> {
  const { company, pointer, store, files, threads, signal } = parts;
  const { restoreStaging: staging } = files;
  if (pointer.company !== company)
    throw new MirrorError("identity", `the snapshot is of ${pointer.company}, and not of ${company}`);
  const expected = unpackedOf(pointer);
  makeFolders(path.dirname(files.mirror));
  const lock = takeWriterLock(files.lock, "worker");
  try {
    await rm(staging, { recursive: true, force: true });
    const packed = path.join(staging, "mirror.db.zst");
    const key = mirrorKey(pointer);
    const stored = { size_bytes: pointer.sizeBytes, sha256: pointer.sha256 };
    await fetchChecked(store, key, stored, packed, signal, (cause) => damaged(company, store, key, cause));
    const about = [files.verified, files.compared];
    const unpacked = path.join(staging, "mirror.db");
    await threads.place({ packed, unpacked, expected, mirror: files.mirror, about }, signal);
  } finally {
    await rm(staging, { recursive: true, force: true });
    lock.release();
  }
}

function damaged(company: string, { address }: FileStore, key: string, cause?: unknown): MirrorError {
  return new MirrorError("database", `the published snapshot is lost or damaged: ${key} in ${address}`, {
    hint: `Bring this file back as it was, from an earlier version of the bucket or a backup of the folder. Without one, \`fleet remove ${company} --forget\` and then \`fleet add ${company}\` read the company anew.`,
    cause,
  });
}
