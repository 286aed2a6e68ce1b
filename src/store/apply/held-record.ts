import { hash } from "node:crypto";
import { isoTime } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import { canonicalId, type RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import { isObject } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import { prepared, type Db, type Statement } from "../database.ts";
import { onceFor } from "../../base/once-for.ts";
import { quoted } from "../sql-text.ts";
import { OddValue, toRow, type Cell, type Row } from "../tables/row-decoder.ts";
import { dataColumns, fenceTable, rawTable } from "../tables/table-layout.ts";
import { sqlTypes, type Column, type TablePlan } from "../tables/table-plan.ts";
import type { RecordRows, TableStatements } from "../tables/table-statements.ts";
import { dataCells, type DecodedRecord, type Fence } from "./merge-rules.ts";
import type { Previews } from "./previews.ts";
import type { Overrides, Source } from "./read-stamp.ts";

export interface HeldRecord {
  readonly fence: Fence | undefined;
  /** As it is stored, and the same as text: what is no UTF-8 is other bytes as text. */
  readonly bytes: Buffer | undefined;
  readonly json: string | undefined;
  /** The data columns; undefined: there is no row. */
  readonly cells: readonly Cell[] | undefined;
  readonly deletedAt: string | null;
  readonly detailAt: string | null;
  /** For each child table, `position` and data columns of each row. */
  readonly children: readonly (readonly (readonly Cell[])[])[];
}

/** A cell that is not what the JSON says. A row of a child table that one side lacks is `{}` on the other. */
export interface CellDifference {
  /** `total`, `order_lines[0].title`, or `order_lines[0]` for a whole row. */
  readonly field: string;
  readonly mirror: Cell;
  readonly raw: Cell;
}

export function readHeld(statements: TableStatements, id: RecordId): HeldRecord {
  return readHeldBetween(statements, id, id)(id);
}

/** So many records are in memory at a time, with their JSON and rows. */
const heldAtOnce = 100;

/** The same of each of these records, by ids in their order. */
export function* readEachHeld(
  table: { readonly statements: TableStatements },
  ids: readonly RecordId[],
): Generator<readonly [RecordId, HeldRecord]> {
  for (let at = 0; at < ids.length; at += heldAtOnce) {
    // One at least, so there are a first and a last.
    const some = ids.slice(at, at + heldAtOnce);
    const heldOf = readHeldBetween(table.statements, some[0] as RecordId, some.at(-1) as RecordId);
    for (const id of some) yield [id, heldOf(id)];
  }
}

/** All records with ids in this range, both ends included, with one statement for each table. */
function readHeldBetween(statements: TableStatements, from: RecordId, to: RecordId) {
  // Without the id: where a column is added afterwards, another cell in its place would be taken for its value.
  const byId = (select: Statement) =>
    Map.groupBy(select.all(from, to) as Cell[][], (cells) => canonicalId(cells.pop() as bigint));
  const rows = byId(statements.of("selectRows"));
  const found = statements.of("selectFences").all(from, to) as (Fence & { key: string })[];
  const fences = new Map(found.map(({ key, ...fence }) => [canonicalId(BigInt(key)), fence]));
  const raws = byId(statements.of("selectRaws"));
  const children = statements.selectChildren().map(byId);
  return (id: RecordId): HeldRecord => {
    const values = rows.get(id)?.[0];
    const bytes = raws.get(id)?.[0]?.[0] as Buffer | undefined;
    return {
      fence: fences.get(id),
      bytes,
      json: bytes?.toString(),
      cells: values?.slice(0, -2),
      deletedAt: (values?.at(-2) as string | null | undefined) ?? null,
      detailAt: (values?.at(-1) as string | null | undefined) ?? null,
      children: children.map((ofParent) => ofParent.get(id) ?? []),
    };
  };
}

/** Has the JSON the SHA-1 that it had when it was received? null: one of them is not there. */
export function isAsReceived({ fence, bytes }: HeldRecord): boolean | null {
  const sha = fence?.sha ?? null;
  return sha === null || bytes === undefined ? null : sha === hash("sha1", bytes, "hex");
}

/**
 * The ids of all that is held of a resource, rows, child rows, JSON and fences, in their order, `most` at a time; `next`:
 * where the next ones begin, null after the last.
 */
export function idsHeld(db: Db, plan: TablePlan, from: bigint, most: number) {
  const arms = () => [
    ...[plan.table, rawTable(plan.table), fenceTable(plan.table)].map((table) => idsIn(table)),
    ...plan.children.map(({ parentKey, table }) => idsIn(table, parentKey)),
  ];
  const sql = () => `${arms().join(" UNION ")} ORDER BY 1 LIMIT +@most + 1`;
  const ids = prepared(db, plan, "ids held", "ids", sql).all({ from, most }) as bigint[];
  return { ids: ids.slice(0, most).map(canonicalId), next: ids[most] ?? null };
}

function idsIn(table: string, key = "id"): string {
  return `SELECT ${quoted(key)} AS id FROM ${quoted(table)} WHERE ${quoted(key)} >= +@from`;
}

/** The row that follows from JSON, or why there is none: an earlier version took it, or it is damaged. */
export function decodeStored(
  { plan, previews }: { readonly plan: TablePlan; readonly previews: Previews },
  json: string | Buffer,
  source: Source | undefined,
): DecodedRecord | OddValue {
  try {
    const record = parseLossless(json);
    if (!isObject(record)) return new OddValue("the record is not an object");
    const isPreview = source === "preview";
    return { record, row: isPreview ? previews.row(previews.cells(record)) : toRow(plan, record) };
  } catch (error) {
    if (error instanceof OddValue) return error;
    if (error instanceof MirrorError && error.kind === "protocol") return new OddValue(error.message);
    throw error;
  }
}

/** The cells of the columns that name an owned record's owner. */
export function ownerCells(
  { resource, plan }: { readonly resource: Resource; readonly plan: TablePlan },
  { cells }: Pick<HeldRecord, "cells">,
): Overrides | undefined {
  const names = ownerColumnNames(resource);
  if (!names) return undefined;
  const named = dataColumns(plan).map(({ name }, i) => [name, cells?.[i] ?? null] as const);
  return Object.fromEntries(named.filter(([name]) => names.has(name)));
}

/** Null: no other record owns those of the resource. */
const ownerColumnNames = onceFor(({ list }: Resource) => {
  if (list.kind !== "owned") return null;
  return new Set(list.by.flatMap(({ typeField, idField }) => [typeField, idField]).map(snakeCase));
});

/**
 * The rows of a record as its decoded JSON makes them. Pure.
 *
 * @param nowMs when a deletion is dated that has no date, epoch ms
 */
export function rowsOf(
  plan: TablePlan,
  { fence, deletedAt, detailAt }: HeldRecord,
  row: Row,
  { overrides, nowMs }: { readonly overrides: Overrides | undefined; readonly nowMs: number },
): RecordRows {
  const isGone = fence ? fence.gone === 1 : deletedAt !== null;
  const isProvisional = fence?.source === "preview";
  return {
    cells: dataCells(plan, row, overrides),
    deletedAt: isGone ? (deletedAt ?? isoTime(nowMs)) : null,
    detailAt: isProvisional ? null : (detailAt ?? isoTime(fence?.read_at ?? nowMs)),
    children: isGone ? row.children.map(() => []) : row.children,
  };
}

/** Where the rows of a record are not those that follow from its JSON; of a row that is not there, nothing. Pure. */
export function differencesOf(plan: TablePlan, held: HeldRecord, derived: RecordRows): CellDifference[] {
  const { cells, deletedAt, detailAt } = held;
  const marks = [
    { field: "_deleted_at", mirror: deletedAt, raw: derived.deletedAt },
    { field: "_detail_at", mirror: detailAt, raw: derived.detailAt },
  ].filter(({ mirror, raw }) => (mirror === null) !== (raw === null));
  const own = cells ? [...cellDifferences(dataColumns(plan), derived.cells, cells, ""), ...marks] : [];
  const ofChildren = plan.children.flatMap((child, i) => {
    const [rows, others] = [derived.children[i] ?? [], held.children[i] ?? []];
    return rows.length === 0 && others.length === 0 ? [] : childDifferences(child, rows, others);
  });
  return [...own, ...ofChildren];
}

function childDifferences(
  { table, columns }: TablePlan["children"][number],
  rows: readonly (readonly Cell[])[],
  others: readonly (readonly Cell[])[],
): CellDifference[] {
  const stored = new Map(others.map(([at, ...cells]) => [Number(at), cells]));
  const found = rows.flatMap((cells, position) => {
    const name = `${table}[${position}]`;
    const other = stored.get(position);
    stored.delete(position);
    return other
      ? cellDifferences(columns, cells, other, `${name}.`)
      : [{ field: name, mirror: null, raw: "{}" }];
  });
  const more = [...stored.keys()].map((at) => ({ field: `${table}[${at}]`, mirror: "{}", raw: null }));
  return [...found, ...more];
}

function cellDifferences(
  columns: readonly Column[],
  derived: readonly Cell[],
  stored: readonly Cell[],
  prefix: string,
): CellDifference[] {
  const found: CellDifference[] = [];
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i] as Column;
    const raw = derived[i] ?? null;
    const mirror = stored[i] ?? null;
    if (!isSameCell(column, raw, mirror)) found.push({ field: prefix + column.name, mirror, raw });
  }
  return found;
}

/** Integers are read back as bigints; a whole number in a column of decimals is not. */
function isSameCell({ scalar }: Column, derived: Cell, stored: Cell): boolean {
  if (derived === stored) return true;
  return typeof derived === "number" && sqlTypes[scalar] === "INTEGER" && BigInt(derived) === stored;
}
