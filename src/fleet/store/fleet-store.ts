/** The right to write one company outside of this process, for as long as a piece of work may take. */
export interface WriteRight {
  /** Aborts when the work is to end: the ownership is lost, or the process stops. */
  readonly signal: AbortSignal;
  /** Throws MirrorError `locked` where the company is not certainly owned now. Called directly before each write. */
  readonly assertHeld: () => void;
}

/** A small text that is stored, up to so many bytes. Throws as `FleetStore.read`. */
export async function readText(
  store: Pick<FleetStore, "read">,
  key: string,
  mostBytes: number,
  signal: AbortSignal,
): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of store.read(key, mostBytes, signal)) parts.push(part);
  return Buffer.concat(parts).toString();
}

/**
 * What all nodes read and write besides Postgres: a folder that they share, or a prefix in an object store.
 *
 * Keys have slashes between their parts. All methods reject with a MirrorError: `unavailable`, `forbidden`, `network`
 * or `stopped`.
 */
export interface FleetStore {
  /** As people write it. */
  readonly address: string;
  /** Stores a file under a key, in place of what was there: at no moment is a part of it to be read. */
  put(key: string, file: string, right: WriteRight): Promise<void>;
  /** So many bytes of what is stored, in parts. */
  read(key: string, sizeBytes: number, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Every key below a folder, which ends with a slash; also those of unfinished files. */
  list(folder: string, signal: AbortSignal): Promise<string[]>;
  /** Does nothing where it is not there. */
  remove(key: string, right: WriteRight): Promise<void>;
}
