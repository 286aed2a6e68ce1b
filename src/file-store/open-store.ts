import path from "node:path";
import type { Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import { ownRight, putChecked, type FileStore } from "./file-store.ts";
import { folderStore } from "./folder-store.ts";
import { readAccess, readTarget } from "./s3-address.ts";
import { s3Store } from "./s3-store.ts";

/** What a store needs of the process. */
export interface StoreSurroundings {
  readonly clock: Clock;
  /** Of the process: keys of an object store, as S3 tools share them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with each secret that is read. */
  readonly keepSecret: (secrets: readonly string[]) => void;
}

/**
 * Opens the store at `s3://bucket/prefix`, or in a folder with this mode of its files. Throws as `openObjectStore`.
 */
export function openStore(address: string, surroundings: StoreSurroundings, mode?: number): FileStore {
  return address.startsWith("s3://")
    ? openObjectStore(address, surroundings)
    : folderStore(path.resolve(address), mode);
}

/** @throws MirrorError `usage` for an address that cannot be used, and without the keys of an object store */
export function openObjectStore(address: string, { clock, env, keepSecret }: StoreSurroundings): FileStore {
  const target = readTarget(address);
  const access = readAccess(env, target);
  keepSecret([access.secretAccessKey]);
  return s3Store(address, access, target.prefix, clock);
}

/**
 * Proves that this node may write, read and remove there: otherwise its first snapshot would fail, after hours of work.
 *
 * @param configKey names the store
 * @throws MirrorError as the store's methods do, `unavailable` of a folder, with that key and the store's address
 */
export async function proveStore(
  store: FileStore,
  configKey: string,
  node: string,
  signal: AbortSignal,
): Promise<void> {
  const key = `.nodes/${node}`;
  try {
    await putChecked(store, key, Buffer.from(node), ownRight(signal));
    await store.remove(key, ownRight(signal));
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    const { hint = "", retryable, message } = error;
    const kind = error.kind === "database" ? "unavailable" : error.kind;
    const options = { hint, retryable, cause: error };
    throw new MirrorError(kind, `${configKey} (${store.address}): ${message}`, options);
  }
}
