import { hashOf, writeNewFile, type ContentFacts } from "../base/files/hashed-file.ts";
import { MirrorError } from "../base/errors.ts";

/** The right to write for as long as a piece of work may take. */
export interface WriteRight {
  /** Aborts when the work is to end: the right is lost, or the process stops. */
  readonly signal: AbortSignal;
  /** Throws MirrorError `locked` where somebody else may write now. Called directly before each write. */
  readonly assertHeld: () => void;
}

/** Of who shares what is written with nobody. */
export function ownRight(signal: AbortSignal): WriteRight {
  return { signal, assertHeld: () => undefined };
}

/**
 * Where files are kept beyond this process: a folder, or a prefix in an object store.
 *
 * Keys have slashes between their parts. All methods reject with a MirrorError: of a folder `database`, of an object store
 * `unavailable`, `forbidden` or `network`; of both `not_found` or `stopped`.
 */
export interface FileStore {
  /** As people write it. */
  readonly address: string;
  /**
   * Stores a file of this machine, by its path, or bytes, in place of what was there: at no moment is a part of it to be
   * read. Gives what was sent.
   */
  put(key: string, content: string | Uint8Array, right: WriteRight): Promise<ContentFacts>;
  /** What is stored, in parts. */
  read(key: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Every key below a folder, which ends with a slash; also those of unfinished files. */
  list(folder: string, signal: AbortSignal): Promise<string[]>;
  /** Names of what is directly in a folder and holds, or may hold, files. */
  folders(folder: string, signal: AbortSignal): Promise<string[]>;
  /** Removes a file, or everything below a folder, which ends with a slash. Does nothing where it is not there. */
  remove(key: string, right: WriteRight): Promise<void>;
}

export type ReadableStore = Pick<FileStore, "address" | "folders" | "read">;

/** A small text that is stored; null: it is not there. */
export async function readText(
  store: ReadableStore,
  key: string,
  signal: AbortSignal,
): Promise<string | null> {
  const parts: Uint8Array[] = [];
  try {
    for await (const part of store.read(key, signal)) parts.push(part);
  } catch (error) {
    if (error instanceof MirrorError && error.kind === "not_found") return null;
    throw error;
  }
  return Buffer.concat(parts).toString();
}

/** Stores content and reads it back. @throws MirrorError `unavailable` where that gives other bytes than `expected` */
export async function putChecked(
  store: FileStore,
  key: string,
  content: string | Uint8Array,
  right: WriteRight,
  expected?: ContentFacts,
): Promise<ContentFacts> {
  const sent = await store.put(key, content, right);
  if (isSame(expected ?? sent, await hashOf(store.read(key, right.signal)))) return sent;
  throw new MirrorError("unavailable", `${store.address} gave back other bytes than it was given: ${key}`, {
    retryable: true,
    hint: "What was stored before it stays. Check the store, and the disk and memory of this machine.",
  });
}

/** Fetches what was stored to a new file, and reads that again. Throws `damaged` where it is lost or has other bytes. */
export async function fetchChecked(
  store: ReadableStore,
  key: string,
  expected: ContentFacts,
  target: string,
  signal: AbortSignal,
  damaged: (cause?: unknown) => MirrorError,
): Promise<void> {
  const came = await writeNewFile(target, store.read(key, signal), 0o600).catch((error: unknown) => {
    throw error instanceof MirrorError && error.kind === "not_found" ? damaged(error) : error;
  });
  if (!isSame(came, expected) || !isSame(await hashOf(target), expected)) throw damaged();
}

function isSame(one: ContentFacts, other: ContentFacts): boolean {
  return one.sha256 === other.sha256 && one.size_bytes === other.size_bytes;
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
