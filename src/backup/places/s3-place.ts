import { rm } from "node:fs/promises";
import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import { makeFolders } from "../../base/atomic-file.ts";
import { MirrorError } from "../../base/errors.ts";
import { partBytes, uploadFile, withRetries } from "../../export/s3/upload.ts";
import type { ObjectStore } from "../../export/s3/object-store.ts";
import { hashOf } from "../../base/files/hashed-file.ts";
import { assertSameFile, isBackupId, manifestName } from "../content/backup-manifest.ts";
import type { BackupPlace } from "./backup-place.ts";

export interface S3PlaceParts {
  /** `s3://bucket/prefix` */
  readonly address: string;
  readonly store: ObjectStore;
  readonly prefix: string;
  /** Where a backup is made before it is sent. */
  readonly staging: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Backups in an object store: `<prefix>/<company>/<id>/…`.
 *
 * Guarantee: a manifest is stored when all that it names was read back and found right, and removed first. Without
 * a manifest there is no backup.
 * Source of truth: the manifests in the store.
 * Worst outcome of a crash: objects without a manifest until the next backup of the company.
 */
export function s3Place({ address, store, prefix, staging, ...parts }: S3PlaceParts): BackupPlace {
  const upload = { store, prefix, ...parts };
  const below = (...names: string[]) => [prefix, ...names].filter((part) => part !== "").join("/");
  const retried = <T>(request: () => Promise<T>) => withRetries(upload, request);
  const keysBelow = (start: string) => retried(() => store.list(start));
  /** `<id>/<file>` */
  const objectsOf = async (company: string) => {
    const start = `${below(company)}/`;
    return (await keysBelow(start)).map((key) => key.slice(start.length));
  };
  const listOf = async (company: string) => {
    const ids = (await objectsOf(company)).filter((name) => name.endsWith(`/${manifestName}`));
    return ids.map((name) => path.posix.dirname(name)).filter(isBackupId);
  };
  const readManifest = async (company: string, id: string) => {
    const key = below(company, id, manifestName);
    const text = await retried(() => store.read(key));
    if (text !== null) return text;
    throw new MirrorError("database", `the backup is no longer there: ${key}`, { retryable: true });
  };
  /** Part by part, so that one that fails is asked for again. */
  const read: BackupPlace["read"] = async function* (company, id, { file, size_bytes: size }) {
    const key = below(company, id, file);
    for (let from = 0; from < size; from += partBytes)
      yield await retried(() => store.readPart(key, from, Math.min(size, from + partBytes)));
  };
  /** The manifest first. */
  const remove = async (company: string, id: string) => {
    const names = (await objectsOf(company)).filter((name) => name.startsWith(`${id}/`));
    const isManifest = (name: string) => Number(name !== `${id}/${manifestName}`);
    for (const name of names.toSorted((a, b) => isManifest(a) - isManifest(b)))
      await retried(() => store.remove(below(company, name)));
  };
  return {
    address,
    companies: async () => {
      const start = prefix === "" ? "" : `${prefix}/`;
      const names = (await keysBelow(start)).map((key) => key.slice(start.length).split("/")[0] ?? "");
      return [...new Set(names)];
    },
    list: async (company) => (await listOf(company)).toSorted(),
    prepare: async (company) => {
      const finished = new Set(await listOf(company));
      const present = (await objectsOf(company)).map((name) => name.split("/")[0] ?? "");
      const left = new Set(present.filter((name) => isBackupId(name) && !finished.has(name)));
      for (const id of left) await remove(company, id);
      await rm(staging, { recursive: true, force: true });
      makeFolders(staging);
      return staging;
    },
    commit: async (company, id, folder, { files }) => {
      for (const { file } of files)
        await uploadFile(upload, below(company, id, file), path.join(folder, file));
      for (const each of files) assertSameFile(each, await hashOf(read(company, id, each)), address);
      await uploadFile(upload, below(company, id, manifestName), path.join(folder, manifestName));
      await rm(folder, { recursive: true });
    },
    discard: (folder) => rm(folder, { recursive: true, force: true }),
    readManifest,
    read,
    remove,
  };
}
