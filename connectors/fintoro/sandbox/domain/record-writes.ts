import type { Stamped } from "../model/contact-records.ts";
import type { TableName } from "../model/catalogue.ts";
import { emit, type Company, type RecordOf } from "./company-state.ts";

/** How requests write the records of one table. */
export interface Writes<T> {
  readonly create: (company: Company, input: unknown) => T;
  /** Null for records that never change. */
  readonly update: ((company: Company, own: T, input: unknown) => T) | null;
  readonly remove: (company: Company, own: T) => void;
}

/** Reads the facts of a record from a request; `own` is the record that the request changes. */
type FactsFrom<T> = (company: Company, input: unknown, own: T | null) => Omit<T, "id">;

/** The usual writes: the facts of a request make or replace the whole record. */
export function recordWrites<K extends TableName>(
  table: K,
  factsFrom: FactsFrom<RecordOf<K>>,
  beforeRemove: Writes<RecordOf<K>>["remove"] = () => undefined,
): Writes<RecordOf<K>> {
  return {
    create: (company, input) => addRecord(company, table, factsFrom(company, input, null)),
    update: (company, own, input) =>
      saveRecord(company, table, { ...own, ...factsFrom(company, input, own) }),
    remove: (company, own) => {
      beforeRemove(company, own);
      deleteRecord(company, table, own);
    },
  };
}

/** Adds a record and emits `created`. */
export function addRecord<K extends TableName>(company: Company, table: K, facts: Omit<RecordOf<K>, "id">) {
  const record = company.tables[table].add((id) => ({ id, ...facts }) as RecordOf<K>);
  emit(company, table, "created", record.id);
  return record;
}

/** Replaces a record and emits `updated`. */
export function saveRecord<K extends TableName>(company: Company, table: K, record: RecordOf<K>) {
  company.tables[table].replace(record);
  emit(company, table, "updated", record.id);
  return record;
}

/** Removes a record and emits `deleted`. */
export function deleteRecord(company: Company, table: TableName, { id }: { readonly id: number }): void {
  company.tables[table].remove(id);
  emit(company, table, "deleted", id);
}

/** The times of a record that is made or changed now. */
export function stampsOf({ clock }: Company, own: Stamped | null = null): Stamped {
  const now = clock.nowMs();
  return { createdAtMs: own?.createdAtMs ?? now, updatedAtMs: now };
}
