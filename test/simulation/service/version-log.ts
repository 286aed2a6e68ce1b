import type { Shown, TableName, Version } from "./service-types.ts";

/** Every version of every record, with the time from which reads show it. Nothing is ever removed. */
export class VersionLog {
  private readonly tables = new Map<TableName, Map<number, Version[]>>();

  /** Adds a version, unless the record shows the same already. */
  write(table: TableName, id: number, shown: Shown | null, fromMs: number): void {
    const records = this.recordsOf(table);
    const versions = records.get(id) ?? [];
    const last = versions.at(-1)?.shown ?? null;
    if (last?.detail === shown?.detail && last?.listed === shown?.listed) return;
    records.set(id, [...versions, { fromMs, shown }]);
  }

  /** Oldest first; none for a record that never was. */
  history(table: TableName, id: number): readonly Version[] {
    return this.recordsOf(table).get(id) ?? [];
  }

  ids(table: TableName): Iterable<number> {
    return this.recordsOf(table).keys();
  }

  /** What the record shows at a moment; null: it is not there. */
  at(table: TableName, id: number, atMs: number): Shown | null {
    return versionAt(this.history(table, id), atMs)?.shown ?? null;
  }

  live(table: TableName, atMs: number): [id: number, shown: Shown][] {
    const found: [number, Shown][] = [];
    for (const [id, versions] of this.recordsOf(table)) {
      const shown = versionAt(versions, atMs)?.shown;
      if (shown) found.push([id, shown]);
    }
    return found;
  }

  private recordsOf(table: TableName): Map<number, Version[]> {
    let records = this.tables.get(table);
    if (!records) this.tables.set(table, (records = new Map()));
    return records;
  }
}

function versionAt(versions: readonly Version[], atMs: number): Version | undefined {
  return versions.findLast(({ fromMs }) => fromMs <= atMs);
}
