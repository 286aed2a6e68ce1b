import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import { readAccess, readTarget } from "../../export/s3/target.ts";
import { hashOf } from "../../base/files/hashed-file.ts";
import type { FleetStore } from "./fleet-store.ts";
import { folderStore } from "./folder-store.ts";
import { s3Store } from "./s3-store.ts";

/** What a store needs of the process. */
export interface FleetStoreParts {
  readonly clock: Clock;
  /** Of the process: keys of an object store, as S3 tools share them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with each secret that is read. */
  readonly keepSecret: (secrets: readonly string[]) => void;
}

/**
 * Opens the store at `s3://bucket/prefix` or in a folder.
 * @throws MirrorError `usage` for an address that cannot be used, and without the keys of an object store
 */
export function openFleetStore(address: string, { clock, env, keepSecret }: FleetStoreParts): FleetStore {
  if (!address.startsWith("s3://")) return folderStore(path.resolve(address));
  const target = readTarget(address);
  const access = readAccess(env, target);
  keepSecret([access.secretAccessKey]);
  return s3Store({ address, access, prefix: target.prefix, clock });
}

/**
 * Proves that this node may write, read and remove there: otherwise its first snapshot would fail, after hours of work.
 *
 * @param at which key of the config names the store, the node, and a folder of it for a moment
 * @throws MirrorError as the store's methods do, with the key and the address of the store
 */
export async function proveStore(
  store: FleetStore,
  at: {
    readonly key: "snapshots" | "reports";
    readonly node: string;
    readonly folder: string;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { node, folder, signal } = at;
  const key = `.nodes/${node}`;
  const file = path.join(folder, ".store-proof");
  const right = { signal, assertHeld: () => undefined };
  writeFileSync(file, node, { mode: 0o600 });
  try {
    await store.put(key, file, right);
    await hashOf(store.read(key, Buffer.byteLength(node), signal));
    await store.remove(key, right);
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    const { kind, hint = "", retryable, message } = error;
    const options = { hint, retryable, cause: error };
    throw new MirrorError(kind, `fleet.${at.key} (${store.address}): ${message}`, options);
  } finally {
    rmSync(file, { force: true });
  }
}
