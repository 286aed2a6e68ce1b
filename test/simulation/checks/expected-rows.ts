import { liveRows, rowDifferences, type Db } from "../../support/truth/compare.ts";
import { expectedRow, type Dict, type ExpectedRow } from "../../support/truth/truth.ts";
import { amounts } from "../service/record-texts.ts";
import type { Shown, TableName } from "../service/service-types.ts";

/** The row and the parts that a record's JSON must have become. */
export function rowOf(table: TableName, json: string): ExpectedRow {
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
