import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeFolders } from "../../base/atomic-file.ts";
import { MirrorError } from "../../base/errors.ts";
import type { TimelineMark } from "../postgres/tables/timeline-table.ts";
import { readText, type FleetStore } from "../store/fleet-store.ts";

/** How far the database was, as the store remembers it: a restored database does not know. */
export interface StoredMark {
  /** Null: nothing is stored yet. */
  read(signal: AbortSignal): Promise<TimelineMark | null>;
  write(mark: TimelineMark, signal: AbortSignal): Promise<void>;
}

const folder = ".fleet/";
const key = `${folder}timeline.json`;
/** More than a mark has. */
const mostBytes = 4_096;

/**
 * The mark in a fleet's store, beside the snapshots.
 *
 * @param draftFolder of this node, for a moment
 * @returns methods that throw as the store's do, and MirrorError `config` where something else stands there
 */
export function storedMark(store: FleetStore, draftFolder: string): StoredMark {
  return {
    read: async (signal) => {
      const keys = await store.list(folder, signal);
      return keys.includes(key) ? parseMark(await readText(store, key, mostBytes, signal), store) : null;
    },
    write: async ({ number, id, beats }, signal) => {
      const file = path.join(draftFolder, ".timeline-mark");
      makeFolders(draftFolder);
      writeFileSync(file, `${JSON.stringify({ number, id, beats })}\n`, { mode: 0o600 });
      try {
        await store.put(key, file, { signal, assertHeld: () => undefined });
      } finally {
        rmSync(file, { force: true });
      }
    },
  };
}

function parseMark(text: string, { address }: FleetStore): TimelineMark {
  try {
    const { number, id, beats } = JSON.parse(text) as Partial<TimelineMark>;
    if (typeof number === "number" && typeof id === "string" && typeof beats === "number")
      return { number, id, beats };
  } catch {
    // As with any other text.
  }
  throw new MirrorError("config", `${key} in ${address} is not what a worker wrote there`, {
    hint: "It shows whether Postgres was restored from a backup. If that is not so, remove it.",
  });
}
