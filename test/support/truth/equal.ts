import { expect } from "vitest";
import { differences, falseTombstones, look, unreplayable } from "./compare.ts";
import { sync, type Company, type SyncOptions } from "../company/open-company.ts";
import { truthOf, type Truth } from "./truth.ts";

export { count, dump, look } from "./compare.ts";

export interface EqualOptions {
  /** The sandbox's company, by index. */
  readonly of?: number;
  readonly tables?: readonly string[];
}

export function serviceIds({ sandbox }: Company, table: string): number[] {
  return [...(truthOf(sandbox).get(table)?.keys() ?? [])].map(Number);
}

export const lastId = (company: Company, table: string): number => serviceIds(company, table).at(-1) ?? 0;

/** Every record, every column and every part of the service stands in the mirror, and nothing else (I11). */
export function expectEqual(company: Company, options: EqualOptions = {}): Truth {
  const truth = truthOf(company.sandbox, options.of);
  expect(look(company.file, (db) => differences(db, truth, options.tables))).toEqual([]);
  return truth;
}

/** I5: whatever the mirror calls deleted is really absent from the service. */
export function expectTombstonesTrue(company: Company): void {
  expect(falseTombstones(company.file, truthOf(company.sandbox))).toEqual([]);
}

/** I2: the change log from 0 gives exactly the live records, and each `before` is what stood there. */
export function expectReplayable(company: Company): void {
  expect(unreplayable(company.file).slice(0, 20)).toEqual([]);
}

/** Nothing is in the way any more: the next run is complete, and the mirror equal. */
export async function expectHealed(company: Company, options: SyncOptions & EqualOptions = {}) {
  company.recover();
  expect((await sync(company, options)).outcome).toBe("complete");
  expectEqual(company, options);
}
