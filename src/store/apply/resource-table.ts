import { hash } from "node:crypto";
import { isoTime } from "../../base/clock.ts";
import { canonicalId, type RecordId } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import { isObject } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import { quoted } from "../sql-text.ts";
import { nullIfOdd, OddValue, toRow, type Cell, type Row, type UnknownKey } from "../tables/row-decoder.ts";
import { dataColumns, fenceTable, rawTable } from "../tables/table-layout.ts";
import { planRow, planTable, type NewColumn, type RowPlan, type TablePlan } from "../tables/table-plan.ts";
import { prepareStatements, type TableStatements } from "../tables/table-statements.ts";
import { addUnknownColumns, isKnown } from "../tables/unknown-columns.ts";
import {
  coveredSha,
  covers,
  dataCells,
  isLive,
  isSameSha,
  judgeBytes,
  listedAs,
  previewCells,
  saysTheSame,
  type DecodedRecord,
  type Fence,
  type PreviewCells,
} from "./merge-rules.ts";
import type { NewChange } from "./change-log.ts";
import { decodeStored, deriveRecord, type DerivableRows, type DeriveResult } from "./derive-rows.ts";
import type { ApplyResult, IncomingRecord, ListedAs, ReadStamp, Removal } from "./read-stamp.ts";
import type { TableContext } from "./table-context.ts";

/** Which row is written, and when. */
type RowTarget = Pick<IncomingRecord, "stamp" | "id" | "overrides">;

/**
 * The rows of one resource.
 *
 * Guarantee: every method runs in the transaction of `Mirror.apply`, so that a record's row, children, JSON, fence
 * and change commit together (I1, I2). What an answer may change is decided in merge-rules.ts (I3).
 * Source of truth: the fence says which read was applied last, `_raw_<resource>` what it said.
 * Worst outcome of a crash: the transaction is rolled back, and its answer is read again.
 */
export class ResourceTable implements DerivableRows {
  readonly resource: Resource;
  readonly plan: TablePlan;
  private readonly previewPlan: RowPlan;
  readonly context: TableContext;
  statements: TableStatements;
  private at = { ms: Number.NaN, text: "" };

  constructor(context: TableContext, resource: Resource, plan: TablePlan = planTable(resource)) {
    this.context = context;
    this.resource = resource;
    this.plan = plan;
    this.previewPlan = planRow(resource.previewFields ?? resource.fields);
    this.statements = prepareStatements(context.db, plan);
  }

  /** Applies a full record where it differs from the mirror and was sent after the last applied read came. */
  put(incoming: IncomingRecord): ApplyResult {
    const { stamp, id, slice, source, overrides } = incoming;
    const fence = this.fence(id);
    const sha = sha1(slice);
    const isStale = this.isStale(stamp, id, fence);
    const verdict = judgeBytes(fence, { sha, source, isStale });
    if (verdict === "stale") return "stale";
    if (isLive(fence) && verdict === "same") {
      if (!isStale) this.context.quarantine.release(this.resource.name, id);
      return this.confirm(incoming, fence, null);
    }
    const decoded = this.decode(incoming);
    if (!decoded) {
      this.remember(stamp, id);
      return "quarantined";
    }
    const stored = isLive(fence) && verdict === "compare" ? this.stored(id) : null;
    if (isLive(fence) && stored && saysTheSame(this.plan, stored, decoded, overrides)) {
      if (source === "list") this.statements.setListedSha.run(sha, id);
      return this.confirm(incoming, fence, decoded);
    }
    this.write(incoming, sha, decoded, fence);
    return isLive(fence) ? "updated" : "inserted";
  }

  /**
   * Compares a preview with the row as the last detail left it, never with the last preview: the list may change
   * from A to B and back while a detail is read in between. Returns null where there is nothing to read.
   */
  comparePreview(id: RecordId, slice: Buffer): { reason: "new" | "changed"; listed: ListedAs } | null {
    const fence = this.fence(id);
    const sha = sha1(slice);
    if (isLive(fence) && isSameSha(fence.listed_sha, sha)) return null;
    const preview = this.decodePreview(slice);
    const listed = listedAs(sha, preview);
    if (!isLive(fence)) return { reason: "new", listed };
    if (!preview || !covers(this.storedCells(id), preview)) return { reason: "changed", listed };
    this.statements.setListedSha.run(sha, id);
    return null;
  }

  /** The record's own route answered 404: stores a tombstone (I5). */
  remove(stamp: ReadStamp, id: RecordId): Removal {
    const { name } = this.resource;
    const fence = this.fence(id);
    if (isLive(fence) && this.isStale(stamp, id, fence)) return "stale";
    this.context.quarantine.release(name, id);
    if (!isLive(fence)) {
      this.remember(stamp, id);
      return "absent";
    }
    const seq = this.logChange({ stamp, id }, "delete", fence);
    const at = isoTime(stamp.receivedAtMs);
    for (const child of this.statements.children) child.clear.run(id);
    this.statements.markDeleted.run(at, at, id);
    this.context.sequence.markStored();
    this.statements.markGone.run(stamp.receivedSeq, stamp.receivedAtMs, seq, id);
    return "removed";
  }

  /** Compares the rows of a record with its JSON, and makes them anew where they differ. */
  derive(id: RecordId, stamp: ReadStamp): DeriveResult {
    return deriveRecord(this, id, stamp);
  }

  /** The ids of all that is held of the resource, from `from` on, in their order. */
  idsFrom(from: bigint, most: number): bigint[] {
    const tables = [
      ["id", this.plan.table],
      ["id", rawTable(this.plan.table)],
      ["id", fenceTable(this.plan.table)],
      ...this.plan.children.map(({ parentKey, table }) => [parentKey, table]),
    ] as const;
    const arms = tables.map(
      ([key = "", table = ""]) =>
        `SELECT ${quoted(key)} AS id FROM ${quoted(table)} WHERE ${quoted(key)} >= @from`,
    );
    const sql = `${arms.join(" UNION ")} ORDER BY 1 LIMIT @most`;
    return this.context.db.prepare(sql).pluck().safeIntegers().all({ from, most }) as bigint[];
  }

  /** Adds columns for unknown fields, without values. Rows derived afterwards have them. */
  addColumns(unknown: readonly UnknownKey[], stamp: ReadStamp): NewColumn[] {
    const { db, growth } = this.context;
    growth.tables.add(this.resource.name);
    const added = addUnknownColumns(db, this.plan, unknown, this.formatTime(stamp.receivedAtMs));
    if (added.length === 0) return [];
    growth.columns.push(...added);
    this.statements = prepareStatements(db, this.plan);
    return added;
  }

  /** Adds columns for unknown fields, in the transaction that brought them, and fills them for older rows. */
  private grow(unknown: readonly UnknownKey[], stamp: ReadStamp): void {
    const added = this.addColumns(unknown, stamp);
    if (added.length === 0) return;
    const raw = quoted(rawTable(this.resource.name));
    const having = this.context.db.prepare(`SELECT id FROM ${raw} WHERE instr(json, ?) > 0`).pluck();
    const keys = added.map(({ column }) => column.paths[0]?.at(-1) ?? "");
    // A key of other letters may be escaped in more than one way: then every record is a candidate.
    const texts = keys.map((key) => (/^[A-Za-z0-9_]+$/.test(key) ? JSON.stringify(key) : '"'));
    const ids = new Set([...new Set(texts)].flatMap((text) => having.safeIntegers().all(text) as bigint[]));
    const cause = { ...stamp, cause: "schema" } as const;
    for (const id of ids) this.derive(canonicalId(id), cause);
  }

  private fence(id: RecordId): Fence | undefined {
    return this.statements.selectFence.get(id) as Fence | undefined;
  }

  private isStale(stamp: ReadStamp, id: RecordId, fence: Fence | undefined): boolean {
    return this.context.fences.isStale(this.resource.name, id, stamp.sentSeq, fence?.received_seq ?? 0);
  }

  /** Nothing was stored. Remembers this read, so that an older read still in flight cannot overwrite its result. */
  private remember(stamp: ReadStamp, id: RecordId): void {
    this.context.fences.confirm(this.resource.name, id, stamp.sentSeq, stamp.receivedSeq);
  }

  /** The mirror holds this already. A detail updates its fence, for the scrub; a list writes nothing. */
  private confirm(incoming: IncomingRecord, fence: Fence, decoded: DecodedRecord | null): ApplyResult {
    const { stamp, id, source, listed } = incoming;
    this.remember(stamp, id);
    if (source === "list") return "unchanged";
    const row = listed && fence.source === "detail" ? (decoded ?? this.stored(id))?.row : undefined;
    const covered = coveredSha(this.plan, this.previewPlan, listed, row ?? null);
    this.context.sequence.markStored();
    this.statements.touchFence.run(stamp.receivedSeq, stamp.receivedAtMs, covered, id);
    return "unchanged";
  }

  /** Parses the record and cuts it to columns; null after it went into quarantine. */
  private decode({ stamp, id, slice, withoutId }: IncomingRecord): DecodedRecord | null {
    const { quarantine, notices } = this.context;
    const { name } = this.resource;
    try {
      const record = parseLossless(slice);
      if (!isObject(record)) throw new OddValue("the record is not an object");
      let row = toRow(this.plan, record);
      if (withoutId) assertOnlyIdMissing(row);
      if (row.unknown.length > 0) {
        this.grow(row.unknown, stamp);
        row = toRow(this.plan, record);
      }
      if (row.missing.length > 0) notices.onMissing?.(name, row.missing);
      quarantine.release(name, id);
      return { record, row };
    } catch (error) {
      if (!(error instanceof OddValue)) throw error;
      quarantine.add(stamp, { resource: name, id, reason: error.message, json: slice.toString() });
      return null;
    }
  }

  /** What the mirror holds of a record; null when an earlier version took values that are odd today. */
  private stored(id: RecordId): DecodedRecord | null {
    const json = this.statements.selectRaw.get(id) as string | undefined;
    const decoded = json === undefined ? null : decodeStored(this.plan, json);
    return decoded instanceof OddValue ? null : decoded;
  }

  private storedCells(id: RecordId): PreviewCells {
    const values = (this.statements.selectRow.get(id) ?? []) as Cell[];
    return new Map(dataColumns(this.plan).map(({ name }, i) => [name, values[i] ?? null]));
  }

  private decodePreview(slice: Buffer): PreviewCells | null {
    const record = parseLossless(slice);
    const unknown: UnknownKey[] = [];
    const cells = isObject(record)
      ? nullIfOdd(() => previewCells(this.plan, { plan: this.previewPlan, record }, unknown))
      : null;
    const unkept = unknown.filter(({ path }) => !isKnown(this.plan.root, path));
    const paths = unkept.map(({ path }) => path.join("."));
    if (cells && paths.length > 0) this.context.notices.onUnkept?.(this.resource.name, paths);
    return cells;
  }

  private write(incoming: IncomingRecord, sha: Buffer, decoded: DecodedRecord, fence?: Fence): void {
    const { stamp, id, slice, source, listed } = incoming;
    const seq = this.logChange(incoming, isLive(fence) ? "update" : "insert", fence);
    this.writeCells(incoming, decoded, fence !== undefined);
    this.statements.upsertRaw.run(id, slice);
    this.context.sequence.markStored();
    const covered = coveredSha(this.plan, this.previewPlan, listed, decoded.row);
    const { receivedSeq, receivedAtMs } = stamp;
    this.statements.upsertFence.run([id, sha, covered, source, receivedSeq, receivedAtMs, seq, 0]);
  }

  /** Call before the record's JSON is written. Returns the number of the change. */
  private logChange({ stamp, id }: RowTarget, op: NewChange["op"], fence: Fence | undefined): number {
    const before = isLive(fence) ? ((this.statements.selectRaw.get(id) as string | undefined) ?? null) : null;
    const change = { stamp, resource: this.resource.name, id, op, before };
    return this.context.log.add(change, fence?.last_change ?? null);
  }

  private writeCells({ stamp, id, overrides }: RowTarget, { row }: DecodedRecord, existed: boolean): void {
    const at = this.formatTime(stamp.receivedAtMs);
    this.statements.upsertRow.run([id, ...dataCells(this.plan, row, overrides), null, at]);
    for (const [i, rows] of row.children.entries()) {
      const child = this.statements.children[i];
      if (existed) child?.clear.run(id);
      child?.insert(id, rows);
    }
  }

  /** ISO; formatted once for all records of one answer. */
  private formatTime(ms: number): string {
    if (this.at.ms !== ms) this.at = { ms, text: isoTime(ms) };
    return this.at.text;
  }
}

function sha1(slice: Buffer): Buffer {
  return hash("sha1", slice, "buffer");
}

/** An answer without an id may be anything. It is the record that was asked for when nothing else is missing. */
function assertOnlyIdMissing({ missing }: Row): void {
  const others = missing.filter((path) => path !== "id");
  if (others.length === 0) return;
  const named = others.slice(0, 3).join(", ") + (others.length > 3 ? ` and ${others.length - 3} more` : "");
  throw new OddValue(`the record has no id and lacks ${named}`);
}
