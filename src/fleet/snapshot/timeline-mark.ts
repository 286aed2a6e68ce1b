import { MirrorError } from "../../base/errors.ts";
import { ownRight, readText, type FileStore } from "../../file-store/file-store.ts";
import type { TimelineMark } from "../postgres/tables/timeline-table.ts";

const key = ".fleet/timeline.json";

export type StoredMark = ReturnType<typeof storedMark>;

/**
 * The mark in a fleet's store, beside the snapshots: how far the database was. A restored database does not know.
 *
 * @returns methods that throw as the store's do, and MirrorError `config` where something else stands there
 */
export function storedMark(store: FileStore) {
  return {
    /** Null: nothing is stored yet. */
    read: async (signal: AbortSignal): Promise<TimelineMark | null> => {
      const text = await readText(store, key, signal);
      return text === null ? null : parseMark(text, store);
    },
    write: async ({ number, id, beats }: TimelineMark, signal: AbortSignal): Promise<void> => {
      const text = `${JSON.stringify({ number, id, beats })}\n`;
      await store.put(key, Buffer.from(text), ownRight(signal));
    },
  };
}

function parseMark(text: string, { address }: FileStore): TimelineMark {
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
