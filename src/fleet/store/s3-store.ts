import type { Clock } from "../../base/clock.ts";
import { connectStore } from "../../export/s3/object-store.ts";
import type { S3Access } from "../../export/s3/target.ts";
import { partBytes, uploadFile, withRetries, type RequestParts } from "../../export/s3/upload.ts";
import type { FleetStore, WriteRight } from "./fleet-store.ts";

interface S3StoreParts {
  /** `s3://bucket/prefix` */
  readonly address: string;
  readonly access: S3Access;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
  readonly clock: Clock;
}

/**
 * The fleet's files below a prefix of an object store.
 *
 * Guarantee: an object is replaced at once. Nothing is sent once the right to write is lost, and what is under way is
 * broken off.
 * Source of truth: the object store.
 * Worst outcome of a crash: parts of a large object that was never finished; a rule of the bucket removes those.
 */
export function s3Store({ address, access, prefix, clock }: S3StoreParts): FleetStore {
  const below = prefix === "" ? "" : `${prefix}/`;
  const reading = (signal: AbortSignal): RequestParts => ({
    store: connectStore(access, signal),
    clock,
    signal,
  });
  const writing = ({ signal, assertHeld }: WriteRight): RequestParts => ({
    ...reading(signal),
    beforeRequest: assertHeld,
  });
  return {
    address,
    put: (key, file, right) => uploadFile(writing(right), below + key, file),
    read: async function* (key, sizeBytes, signal) {
      const parts = reading(signal);
      // Part by part, so that one that fails is asked for again.
      for (let from = 0; from < sizeBytes; from += partBytes) {
        const to = Math.min(sizeBytes, from + partBytes);
        yield await withRetries(parts, () => parts.store.readPart(below + key, from, to));
      }
    },
    list: async (folder, signal) => {
      const parts = reading(signal);
      const keys = await withRetries(parts, () => parts.store.list(below + folder));
      return keys.map((key) => key.slice(below.length));
    },
    remove: async (key, right) => {
      const parts = writing(right);
      await withRetries(parts, () => parts.store.remove(below + key));
    },
  };
}
