import type { Db } from "../../support/truth/compare.ts";
import { rowDifferences } from "../../support/truth/compare.ts";
import { expectedRow, type Cells, type Dict, type ExpectedRow } from "../../support/truth/truth.ts";
import type { Shown, TableName } from "../service/service-types.ts";

type Row = Record<string, string | number | null>;

/** Tables of parts: of which records, and the column of their id. */
const partTables = [
  { table: "invoice_items", owner: "invoices", key: "invoice_id" },
  { table: "price_list_item_stocks", owner: "price_list_items", key: "price_list_item_id" },
  {
    table: "contact_activity_log_attachments",
    owner: "contact_activity_logs",
    key: "contact_activity_log_id",
  },
] as const;

/** Keys of amounts, which the service may write as text. */
const amounts = new Set(
  "totalWithVat toBePaid amount unitPrice stock stockQuantity currencyRate paidAmount".split(" "),
);

/** The row and the parts that a record's JSON must have become. */
function rowOf(table: TableName, json: string): ExpectedRow {
  const record = JSON.parse(json, readValue) as Dict;
  const { loyalty, ...known } = record;
  const { cells, children } = expectedRow(table, known);
  return loyalty === undefined
    ? { cells, children }
    : { cells: { ...cells, loyalty: JSON.stringify(loyalty) }, children };
}

/** Amounts as numbers; an empty map, which PHP writes as a list, as nothing. */
function readValue(key: string, value: unknown): unknown {
  if (typeof value === "string" && amounts.has(key)) return Number(value);
  return key === "metadata" && Array.isArray(value) && value.length === 0 ? {} : value;
}

/** Where live rows and their parts are not what the given records say; rows without a record are not judged. */
export function rowMistakes(db: Db, table: TableName, records: ReadonlyMap<number, string>): string[] {
  const rows = new Map(
    (db.prepare(`SELECT * FROM "${table}" WHERE _deleted_at IS NULL`).all() as Row[]).map((row) => [
      Number(row["id"]),
      row,
    ]),
  );
  const parts = new Map<string, Map<number, readonly Cells[]>>();
  const wrong = [...records].flatMap(([id, json]) => {
    const row = rows.get(id);
    const { cells, children } = rowOf(table, json);
    for (const [child, own] of children)
      parts.set(child, (parts.get(child) ?? new Map<number, readonly Cells[]>()).set(id, own));
    const what = row ? rowDifferences(row, cells) : ["missing"];
    return what.map((one) => `${table} ${id}: ${one}`);
  });
  const own = partTables.filter(({ owner }) => owner === table);
  return [...wrong, ...own.flatMap((one) => partMistakes(db, one, parts.get(one.table) ?? new Map()))];
}

/** Where live rows are not what lists show of the given records, in the columns that are judged. */
export function shownMistakes(
  db: Db,
  table: TableName,
  records: ReadonlyMap<number, Shown>,
  isJudged: (column: string) => boolean,
): string[] {
  const rows = db.prepare(`SELECT * FROM "${table}" WHERE _deleted_at IS NULL`).all() as Row[];
  const byId = new Map(rows.map((row) => [Number(row["id"]), row]));
  return [...records].flatMap(([id, { detail, listed }]) => {
    if (listed === null) return [];
    const row = byId.get(id);
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

/** Where a table of parts holds others than those of the records, of deleted records too. */
function partMistakes(
  db: Db,
  { table, key }: (typeof partTables)[number],
  expected: ReadonlyMap<number, readonly Cells[]>,
): string[] {
  const rows = db.prepare(`SELECT * FROM "${table}" ORDER BY "${key}", position`).all() as Row[];
  const present = new Map(rows.map((row) => [`${row[key]}[${row["position"]}]`, row]));
  const wrong: string[] = [];
  for (const cells of [...expected.values()].flat()) {
    const name = `${cells[key]}[${cells["position"]}]`;
    const row = present.get(name);
    present.delete(name);
    const what = row ? rowDifferences(row, cells) : ["missing"];
    wrong.push(...what.map((one) => `${table} ${name}: ${one}`));
  }
  return [...wrong, ...[...present.keys()].map((name) => `${table} ${name}: belongs to no record`)];
}
