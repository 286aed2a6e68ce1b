import type { TableName } from "../service/service-types.ts";
import type { Witness } from "../service/service-truth.ts";
import type { MirrorContents } from "./mirror-contents.ts";

/** All rows of a mirror's tables, as text. */
export type Content = ReadonlyMap<string, ReadonlySet<string>>;

/** What stands in these tables of a mirror; in those of records without the time of the last read. */
export function contentOf({ db }: MirrorContents, isWanted: (table: string) => boolean): Content {
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all() as string[];
  const kept = tables.filter((name) => isWanted(name) && !name.startsWith("sqlite_"));
  return new Map(
    kept.map((name) => {
      const columns = db.prepare(`SELECT name FROM pragma_table_info(?)`).pluck().all(name) as string[];
      const lasting = columns.filter(
        (column) => !name.startsWith("_fence_") || !/^(received_seq|read_at)$/.test(column),
      );
      const rows = db
        .prepare(`SELECT ${lasting.map((one) => `"${one}"`).join()} FROM "${name}"`)
        .raw()
        .all();
      return [name, new Set((rows as unknown[][]).map((row) => JSON.stringify(row)))];
    }),
  );
}

/** I10: what a refused token did. */
export function changedContent(before: Content, after: Content): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const old = before.get(name) ?? new Set<string>();
    const fresh = after.get(name) ?? new Set<string>();
    const gone = [...old].filter((row) => !fresh.has(row)).map((row) => `${name}: ${row} is gone`);
    return [...gone, ...[...fresh].filter((row) => !old.has(row)).map((row) => `${name}: ${row} is new`)];
  });
}

/** I10: records that are another company's. */
export function foreignRecords(mirror: MirrorContents, own: Witness, foreign: Witness): string[] {
  return [...mirror.everyRecord()]
    .filter(({ table, id, json }) => showed(foreign, table, id, json) && !showed(own, table, id, json))
    .map(({ table, id }) => `I10 ${table} ${id}: of another company`);
}

function showed({ company }: Witness, table: TableName, id: number, json: string | null): boolean {
  return company.log.history(table, id).some(({ shown }) => shown?.detail === json || shown?.listed === json);
}
