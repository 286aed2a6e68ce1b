import { isoTime } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import { isObject } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import { OddValue, toRow, type UnknownKey } from "../tables/row-decoder.ts";
import { dataColumns } from "../tables/table-layout.ts";
import type { TablePlan } from "../tables/table-plan.ts";
import type { TableStatements } from "../tables/table-statements.ts";
import { differencesOf, readHeld, rowsOf, type DerivedRows, type HeldRecord } from "./held-record.ts";
import type { DecodedRecord } from "./merge-rules.ts";
import type { Previews } from "./previews.ts";
import type { Overrides, ReadStamp, Source } from "./read-stamp.ts";
import type { TableContext } from "./table-context.ts";

/** The rows of one resource, as deriving needs them. */
export interface DerivableRows {
  readonly context: TableContext;
  readonly resource: Resource;
  readonly plan: TablePlan;
  readonly previews: Previews;
  readonly statements: TableStatements;
  /** Adds columns for unknown fields, without values. */
  addColumns(unknown: readonly UnknownKey[], stamp: ReadStamp, id: RecordId): unknown;
}

/**
 * What deriving a record's rows found. `written`: they differed and are right now. `unusable`: the record has no JSON,
 * or its JSON cannot become rows any more: its rows stay as they are, and its next read is decoded whatever it says.
 */
export type DeriveResult = "same" | "written" | "unusable";

/**
 * Compares the rows of a record with its JSON, and makes them anew where they differ: with a change in the log, if the
 * record shows (I2). The JSON itself is the same before and after.
 *
 * Guarantee: runs in the transaction of `Mirror.apply`. Rows that do not differ are not written.
 * Source of truth: `_raw_<resource>`; the fence says whether the record is deleted. Cells that the JSON does not name
 * stay, the owner of an owned record, unless `overrides` names them.
 * Worst outcome of a crash: the record is compared again.
 */
export function deriveRecord(
  rows: DerivableRows,
  id: RecordId,
  stamp: ReadStamp,
  overrides?: Overrides,
): DeriveResult {
  const held = readHeld(rows.statements, id);
  const { fence, json, cells, deletedAt } = held;
  if (json === undefined && !fence) return removeExtra(rows, id, held, stamp);
  const isGone = fence ? fence.gone === 1 : deletedAt !== null;
  const decoded = json === undefined ? null : decode(rows, id, json, fence?.source ?? "detail", stamp);
  if (!decoded || decoded instanceof OddValue) {
    if (isGone) return "same";
    const odd = { resource: rows.resource.name, id, json: json ?? "", reason: decoded?.message ?? "" };
    if (decoded) rows.context.quarantine.add(stamp, odd);
    rows.statements.of("forgetSha").run(id);
    return "unusable";
  }
  const derived = rowsOf(rows.plan, held, decoded.row, {
    overrides: overrides ?? ownerCells(rows, held),
    nowMs: stamp.receivedAtMs,
  });
  if (cells && differencesOf(rows.plan, held, derived).length === 0) return "same";
  write(rows, id, derived, stamp);
  if (!isGone) logChange(rows, id, held, stamp, "update");
  else if (isShown(held)) logChange(rows, id, held, stamp, "delete");
  return "written";
}

function decode(rows: DerivableRows, id: RecordId, json: string, source: Source, stamp: ReadStamp) {
  const decoded = decodeStored(rows, json, source);
  if (decoded instanceof OddValue || decoded.row.unknown.length === 0) return decoded;
  rows.addColumns(decoded.row.unknown, stamp, id);
  return decodeStored(rows, json, source);
}

/**
 * The row that follows from JSON, or why there is none: of stored JSON because an earlier version took it, or because it
 * is damaged.
 */
export function decodeStored(
  { plan, previews }: Pick<DerivableRows, "plan" | "previews">,
  json: string | Buffer,
  source: Source,
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

/** Rows without JSON, of a record that was never read: they show something that the service never said. */
function removeExtra(rows: DerivableRows, id: RecordId, held: HeldRecord, stamp: ReadStamp): DeriveResult {
  rows.statements.of("removeRow").run(id);
  for (const child of rows.statements.children) child.clear(id);
  logChange(rows, id, held, stamp, "delete");
  return "written";
}

/** The cells of the columns that name an owned record's owner. */
export function ownerCells(
  { resource, plan }: Pick<DerivableRows, "resource" | "plan">,
  { cells }: HeldRecord,
): Overrides {
  const links = resource.list.kind === "owned" ? resource.list.by : [];
  const names = new Set(
    links.flatMap(({ typeField, idField }) => [snakeCase(typeField), snakeCase(idField)]),
  );
  if (names.size === 0) return {};
  const named = dataColumns(plan).map(({ name }, i) => [name, cells?.[i] ?? null] as const);
  return Object.fromEntries(named.filter(([name]) => names.has(name)));
}

function isShown({ cells, deletedAt, children }: HeldRecord): boolean {
  return (cells !== undefined && deletedAt === null) || children.some((rows) => rows.length > 0);
}

function write({ statements }: DerivableRows, id: RecordId, derived: DerivedRows, stamp: ReadStamp): void {
  const { cells, deletedAt, detailAt } = derived;
  statements.of("upsertRow").run([id, ...cells, deletedAt, isoTime(stamp.receivedAtMs), detailAt]);
  for (const [i, child] of statements.children.entries()) {
    child.clear(id);
    child.insert(id, derived.children[i] ?? []);
  }
}

/** Call after the rows were written. */
function logChange(
  { context, resource, statements }: DerivableRows,
  id: RecordId,
  { fence, json }: HeldRecord,
  stamp: ReadStamp,
  op: "update" | "delete",
): void {
  const before = op === "update" ? (json ?? null) : null;
  const change = { stamp, resource: resource.name, id, op, before };
  statements.of("setLastChange").run(context.log.add(change, fence?.last_change ?? null), id);
}
