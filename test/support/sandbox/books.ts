import { beforeAll } from "vitest";
import type { Snapshot } from "../../../connectors/fintoro/sandbox/control.ts";
import { startSandbox } from "../../../connectors/fintoro/sandbox/sandbox.ts";
import { testDay, type Dict } from "./sandbox.ts";

/** One seeded company, read once for all tests of a file: nobody changes it. */
export function seededBooks(records: number) {
  let books: Snapshot;
  beforeAll(async () => {
    const sandbox = await startSandbox({ today: testDay, records, seed: 5 });
    books = sandbox.control.snapshot();
    await sandbox.close();
  });
  return {
    /** By table, then by id. */
    books: () => books,
    table: (name: string) => [...(books.get(name)?.values() ?? [])] as Dict[],
  };
}

/** The records inside a record. */
export function partsOf(record: Dict, key: string): Dict[] {
  return record[key] as Dict[];
}

export function centsOf(value: unknown): number {
  return Math.round(Number(value) * 100);
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
