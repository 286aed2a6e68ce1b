import { hash } from "node:crypto";
import { isoTime } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import { jsonEquals } from "../../json/equality.ts";
import type { JsonObject, JsonValue } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import type { ChangeLog } from "./change-log.ts";
import { planRow, planTable, type Column, type RowPlan, type TablePlan } from "../tables/table-plan.ts";
import { isKnown } from "../tables/unknown-columns.ts";
import type { Fences } from "./fences.ts";
import type { ApplyResult, ReadStamp } from "./read-stamp.ts";
import {
  cellsOf,
  isObject,
  isPresent,
  OddValue,
  toRow,
  type Cell,
  type Row,
  type UnknownKey,
} from "../tables/row-decoder.ts";
import type { Db } from "../database.ts";
import { dataColumns, prepareStatements, type TableStatements } from "../tables/table-statements.ts";

/** What a list showed of a record before its detail was read: proof that the preview is already covered. */
export interface ListedAs {
  readonly sha: string;
  /** Of the values the preview shows. */
  readonly key: string;
}

export type Source = "list" | "detail";

/** `absent`: there was nothing to remove. `stale`: the 404 overlapped with an applied read; ask again. */
export type Removal = "removed" | "absent" | "stale";

/** Cells the answer's surroundings know better than the record: a payment's document. */
export type Overrides = Readonly<Record<string, Cell>>;

const nothingOver: Overrides = Object.freeze({});

/** A record on its way into the tables. */
interface Arrival {
  readonly reading: ReadStamp;
  readonly id: RecordId;
  readonly slice: Buffer;
  readonly sha: Buffer;
  readonly row: Row;
  readonly source: Source;
  readonly over: Overrides;
}

interface Fence {
  readonly sha: Buffer | null;
  readonly listed_sha: Buffer | null;
  readonly source: Source;
  readonly received_seq: number;
  readonly last_change: number | null;
  readonly gone: number;
}

/** Keeps records that cannot become rows (I12); the same record again writes nothing. */
export interface QuarantineStore {
  add(stamp: ReadStamp, resource: string, id: RecordId, reason: string, json: string): void;
  release(resource: string, id: RecordId): void;
}

/** What one resource's table needs of the mirror around it. */
export interface TableContext {
  readonly db: Db;
  readonly log: ChangeLog;
  readonly fences: Fences;
  /** Called within the transaction when it stores a sequence number. */
  readonly onStamped: () => void;
  readonly quarantine: QuarantineStore;
  /** Grows the tables by fields nobody knew; afterwards the statements are prepared anew. */
  readonly onUnknown: (table: ResourceTable, unknown: readonly UnknownKey[], reading: ReadStamp) => void;
  readonly onMissing: (resource: string, paths: readonly string[]) => void;
  /** Only previews show these: they have no place in the record, nor in `_raw`. */
  readonly onUnkept: (resource: string, paths: readonly string[]) => void;
}

/** The rows of one resource. Every method runs inside the door's transaction. */
export class ResourceTable {
  readonly resource: Resource;
  readonly plan: TablePlan;
  private readonly previewPlan: RowPlan;
  private readonly context: TableContext;
  private statements: TableStatements;
  private at = { ms: Number.NaN, text: "" };

  constructor(context: TableContext, resource: Resource, plan: TablePlan = planTable(resource)) {
    this.context = context;
    this.resource = resource;
    this.plan = plan;
    this.previewPlan = planRow(resource.previewFields ?? resource.fields);
    this.statements = prepareStatements(context.db, plan);
  }

  /** After a column was added. */
  prepareAnew(): void {
    this.statements = prepareStatements(this.context.db, this.plan);
  }

  /**
   * A full record. Applies it if it differs and was sent after the last applied read came (I2, I3, I7).
   * `stale`: it differs and overlapped with that read, so nobody knows which is newer: ask again.
   */
  put(
    reading: ReadStamp,
    id: RecordId,
    slice: Buffer,
    source: Source,
    listed?: ListedAs,
    over: Overrides = nothingOver,
  ): ApplyResult {
    const fence = this.fence(id);
    const sha = sha1(slice);
    const stale = this.isStale(reading, id, fence);
    if (fence?.gone === 0 && isSame(fence, sha, source)) {
      if (!stale) this.context.quarantine.release(this.resource.name, id);
      return this.confirm(reading, id, source, listed, fence, null);
    }
    if (stale) return "stale";
    const text = slice.toString("utf8");
    const row = this.rowOf(reading, id, text);
    if (!row) {
      this.remember(reading, id);
      return "quarantined";
    }
    if (fence && fence.gone === 0 && fence.source !== source && this.holds(id, row, text, over)) {
      if (source === "list") this.statements.setListedSha.run(sha, id);
      return this.confirm(reading, id, source, listed, fence, row);
    }
    this.write({ reading, id, slice, sha, row, source, over }, fence, this.coveredSha(listed, row));
    return !fence || fence.gone === 1 ? "inserted" : "updated";
  }

  /**
   * A preview. Compares with the row as the last detail left it, never with the last preview: the list
   * may go from A to B and back while a detail was read in between. Null: nothing to read.
   */
  differs(id: RecordId, slice: Buffer): { reason: "new" | "changed"; listed: ListedAs } | null {
    const fence = this.fence(id);
    const sha = sha1(slice);
    if (fence && fence.gone === 0 && equalBytes(fence.listed_sha, sha)) return null;
    const preview = this.previewCells(parseLossless(slice));
    const listed = { sha: sha.toString("hex"), key: preview ? keyOf([...preview.values()]) : "" };
    if (!fence || fence.gone === 1) return { reason: "new", listed };
    if (!preview || !this.covers(id, preview)) return { reason: "changed", listed };
    this.statements.setListedSha.run(sha, id);
    return null;
  }

  /** The service says 404 on the record's own route: a tombstone (I5). */
  remove(reading: ReadStamp, id: RecordId): Removal {
    const fence = this.fence(id);
    if (!fence || fence.gone === 1) {
      this.remember(reading, id);
      this.context.quarantine.release(this.resource.name, id);
      return "absent";
    }
    if (this.isStale(reading, id, fence)) return "stale";
    const before = this.statements.selectRaw.get(id) as string;
    const seq = this.context.log.add(reading, this.resource.name, id, "delete", before, fence.last_change);
    const at = isoTime(reading.receivedAtMs);
    for (const child of this.statements.children) child.clear.run(id);
    this.statements.markDeleted.run(at, at, id);
    this.context.onStamped();
    this.statements.markGone.run(reading.receivedSeq, reading.receivedAtMs, seq, id);
    this.context.quarantine.release(this.resource.name, id);
    return "removed";
  }

  /** Writes the row again from its own JSON where that fills one of the columns just added (I2). */
  refill(reading: ReadStamp, id: RecordId, text: string, added: ReadonlySet<Column>): void {
    const fence = this.fence(id);
    const row = fence?.gone === 0 ? this.storedRow(id) : null;
    if (!fence || !row || !fillsAny(this.plan, row, added)) return;
    this.writeCells(id, row, this.atOf(reading), true, Object.fromEntries(this.storedCells(id)));
    const seq = this.context.log.add(reading, this.resource.name, id, "update", text, fence.last_change);
    this.statements.setLastChange.run(seq, id);
  }

  /** The moment of a reading, formatted once for all its records. */
  private atOf(reading: ReadStamp): string {
    if (this.at.ms !== reading.receivedAtMs)
      this.at = { ms: reading.receivedAtMs, text: isoTime(reading.receivedAtMs) };
    return this.at.text;
  }

  private fence(id: RecordId): Fence | undefined {
    return this.statements.selectFence.get(id) as Fence | undefined;
  }

  private isStale(reading: ReadStamp, id: RecordId, fence: Fence | undefined): boolean {
    return this.context.fences.isStale(this.resource.name, id, reading.sentSeq, fence?.received_seq ?? 0);
  }

  /** What this read said wrote no fence; reads sent before it came must not undo it. */
  private remember(reading: ReadStamp, id: RecordId): void {
    this.context.fences.confirm(this.resource.name, id, reading.sentSeq, reading.receivedSeq);
  }

  /** A detail always leaves its mark (the scrub asks who was read longest ago); a list only in memory. */
  private confirm(
    reading: ReadStamp,
    id: RecordId,
    source: Source,
    listed: ListedAs | undefined,
    fence: Fence,
    row: Row | null,
  ): ApplyResult {
    this.remember(reading, id);
    if (source === "list") return "unchanged";
    const covered =
      listed && fence.source === "detail" ? this.coveredSha(listed, row ?? this.storedRow(id)) : null;
    this.context.onStamped();
    this.statements.touchFence.run(reading.receivedSeq, reading.receivedAtMs, covered, id);
    return "unchanged";
  }

  private rowOf(reading: ReadStamp, id: RecordId, text: string): Row | null {
    const { quarantine, onUnknown, onMissing } = this.context;
    try {
      const record = parseLossless(text);
      if (!isObject(record)) throw new OddValue("the record is not an object");
      let row = toRow(this.plan, record);
      if (row.unknown.length > 0) {
        onUnknown(this, row.unknown, reading);
        row = toRow(this.plan, record);
      }
      if (row.missing.length > 0) onMissing(this.resource.name, row.missing);
      quarantine.release(this.resource.name, id);
      return row;
    } catch (error) {
      if (!(error instanceof OddValue)) throw error;
      quarantine.add(reading, this.resource.name, id, error.message, text);
      return null;
    }
  }

  private write(arrival: Arrival, fence: Fence | undefined, listedSha: Buffer | null): void {
    const { reading, id, slice, sha, row, source, over } = arrival;
    const isNew = !fence || fence.gone === 1;
    const before = isNew ? null : (this.statements.selectRaw.get(id) as string);
    const op = isNew ? "insert" : "update";
    this.writeCells(id, row, this.atOf(reading), fence !== undefined, over);
    this.statements.upsertRaw.run(id, slice);
    const previous = fence?.last_change ?? null;
    this.context.onStamped();
    const seq = this.context.log.add(reading, this.resource.name, id, op, before, previous);
    const { receivedSeq, receivedAtMs } = reading;
    this.statements.upsertFence.run([id, sha, listedSha, source, receivedSeq, receivedAtMs, seq, 0]);
  }

  private writeCells(id: RecordId, row: Row, at: string, existed: boolean, over: Overrides): void {
    this.statements.upsertRow.run([id, ...this.dataCells(row, over), null, at]);
    for (const [i, rows] of row.children.entries()) {
      const child = this.statements.children[i];
      if (existed) child?.clear.run(id);
      child?.insert(id, rows);
    }
  }

  /** Cells in the order of `dataColumns`. */
  private dataCells(row: Row, over: Overrides): Cell[] {
    const idAt = this.statements.idAt;
    const cells = idAt < 0 ? [...row.cells] : row.cells.toSpliced(idAt, 1);
    if (over === nothingOver) return cells;
    return dataColumns(this.plan).map(
      ({ name }, i) => cells[i] ?? (Object.hasOwn(over, name) ? (over[name] ?? null) : null),
    );
  }

  /**
   * Does the mirror already hold exactly this? For answers written otherwise by another route. What no column
   * shows counts, too: the label of something nested.
   */
  private holds(id: RecordId, row: Row, text: string, over: Overrides): boolean {
    const stored = this.storedRow(id);
    if (!stored) return false;
    const sameCells = keyOf(this.dataCells(stored, over)) === keyOf(this.dataCells(row, over));
    if (!sameCells || keyOf(stored.children) !== keyOf(row.children)) return false;
    return jsonEquals(parseLossless(this.statements.selectRaw.get(id) as string), parseLossless(text));
  }

  /** From the record's JSON; null when an earlier version took values that are odd today. */
  private storedRow(id: RecordId): Row | null {
    const record = parseLossless(this.statements.selectRaw.get(id) as string);
    return orNullWhenOdd(() => toRow(this.plan, record as JsonObject));
  }

  /** The values of the preview by the name of the row's column, as far as it has them; null when it is odd. */
  private previewCells(record: JsonValue): Map<string, Cell> | null {
    const unknown: UnknownKey[] = [];
    const cells = isObject(record) ? orNullWhenOdd(() => cellsOf(this.previewPlan, record, unknown)) : null;
    if (!cells || !isObject(record)) return null;
    if (unknown.length > 0) this.noteUnkept(unknown);
    const values = new Map<string, Cell>();
    for (const [i, column] of this.previewPlan.columns.entries()) {
      const isShared = this.plan.columns.some((own) => own.name === column.name);
      if (isShared && isPresent(column, record)) values.set(column.name, cells[i] ?? null);
    }
    return values;
  }

  private noteUnkept(unknown: readonly UnknownKey[]): void {
    const paths = unknown.map(({ path }) => path).filter((path) => !isKnown(this.plan.root, path));
    if (paths.length > 0)
      this.context.onUnkept(
        this.resource.name,
        paths.map((path) => path.join(".")),
      );
  }

  private storedCells(id: RecordId): Map<string, Cell> {
    const values = (this.statements.selectRow.get(id) ?? []) as Cell[];
    return new Map(dataColumns(this.plan).map((column, i) => [column.name, values[i] ?? null]));
  }

  private covers(id: RecordId, preview: ReadonlyMap<string, Cell>): boolean {
    const stored = this.storedCells(id);
    return [...preview].every(([name, cell]) => name === "id" || sameCell(stored.get(name) ?? null, cell));
  }

  private coveredSha(listed: ListedAs | undefined, row: Row | null): Buffer | null {
    if (!listed || !row) return null;
    const byName = new Map(this.plan.columns.map((column, i) => [column.name, row.cells[i] ?? null]));
    const names = this.previewPlan.columns.map((column) => column.name).filter((name) => byName.has(name));
    const key = keyOf(names.map((name) => byName.get(name) ?? null));
    return key === listed.key ? Buffer.from(listed.sha, "hex") : null;
  }
}

function fillsAny(plan: TablePlan, row: Row, added: ReadonlySet<Column>): boolean {
  const fills = (rows: RowPlan, cells: readonly Cell[]) =>
    rows.columns.some((column, i) => added.has(column) && (cells[i] ?? null) !== null);
  if (fills(plan, row.cells)) return true;
  return plan.children.some((child, i) => row.children[i]?.some((cells) => fills(child, cells)));
}

function orNullWhenOdd<T>(step: () => T): T | null {
  try {
    return step();
  } catch (error) {
    if (error instanceof OddValue) return null;
    throw error;
  }
}

function sha1(slice: Buffer): Buffer {
  return hash("sha1", slice, "buffer");
}

function equalBytes(a: Buffer | null, b: Buffer): boolean {
  return a !== null && b.equals(a);
}

function isSame(fence: Fence, sha: Buffer, source: Source): boolean {
  return equalBytes(fence.sha, sha) || (source === "list" && equalBytes(fence.listed_sha, sha));
}

/** Integers read back from SQLite are bigints; 5 and 5n are the same cell. */
function sameCell(a: Cell, b: Cell): boolean {
  if (a === b) return true;
  return (
    typeof a !== "string" && typeof b !== "string" && a !== null && b !== null && String(a) === String(b)
  );
}

function keyOf(cells: unknown): string {
  const text = JSON.stringify(cells, (_key, value: unknown) =>
    typeof value === "bigint" ? `${value}n` : value,
  );
  return hash("sha1", text, "hex");
}
