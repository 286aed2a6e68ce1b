import { liveRows, rowDifferences, rowMistakes, type Db } from "../../support/truth/compare.ts";
import { expectedRow, type Dict, type ExpectedRow } from "../../support/truth/truth.ts";
import { amounts } from "../service/record-texts.ts";
import { recordsNow } from "../service/service-truth.ts";
import { tableNames, type Shown, type TableName } from "../service/service-types.ts";
import type { Check } from "./mirror-contents.ts";

/**
 * I11: every record of the service is here, in every column, part and byte, and nothing else. A record that no list
 * shows may be absent; of what is here of it, only the existence is compared.
 */
export const unequal: Check = (mirror, { service }) =>
  tableNames.flatMap((table) => {
    const records = recordsNow(service, table);
    const held = mirror.records(table);
    const expected = new Map<number, string>();
    for (const [id, { detail, listed }] of records) {
      const here = held.get(id);
      if (listed !== null) expected.set(id, detail);
      else if (here && !here.isDeleted) expected.set(id, here.json ?? detail);
    }
    const wrong = [...expected].flatMap(([id, text]) => {
      const here = held.get(id);
      if (!here) return [];
      if (here.isDeleted) return [`${table} ${id}: deleted here, live at the service`];
      return here.json === text || here.json === records.get(id)?.reordered
        ? []
        : [`${table} ${id}: ${here.isProvisional ? "provisional" : "another version"}`];
    });
    const extra = [...held.values()]
      .filter(({ id, isDeleted }) => !isDeleted && !records.has(id))
      .map(({ id }) => `${table} ${id}: live here, not at the service`);
    const rows = new Map([...expected].map(([id, text]) => [String(id), rowOf(table, text)]));
    return [...extra, ...wrong, ...rowMistakes(mirror.db, table, rows)].map((what) => `I11 ${what}`);
  });

/** The row and the parts that a record's JSON must have become. */
function rowOf(table: TableName, json: string): ExpectedRow {
  return expectedRow(table, JSON.parse(json, readValue) as Dict);
}

/** Amounts as numbers; an empty map, which PHP writes as a list, as nothing. */
function readValue(key: string, value: unknown): unknown {
  if (typeof value === "string" && amounts.has(key)) return Number(value);
  return key === "metadata" && Array.isArray(value) && value.length === 0 ? {} : value;
}

/** Where live rows are not what lists show of the given records, in the columns that are judged. */
export function shownMistakes(
  db: Db,
  table: TableName,
  records: ReadonlyMap<number, Shown>,
  isJudged: (column: string) => boolean,
): string[] {
  const live = liveRows(db, table);
  return [...records].flatMap(([id, { detail, listed }]) => {
    if (listed === null) return [];
    const row = live.get(String(id));
    if (!row) return [`${table} ${id}: missing`];
    const { cells } = rowOf(table, listed);
    const isShown = (name: string) => Object.hasOwn(cells, name) || cells[name.replace(/_id$/, "")] === null;
    const only = <T>(values: Readonly<Record<string, T>>) =>
      Object.fromEntries(
        Object.entries(values).filter(([name]) => isJudged(name) && (detail === listed || isShown(name))),
      );
    return rowDifferences(only(row), only(rowOf(table, detail).cells)).map((one) => `${table} ${id}: ${one}`);
  });
}
