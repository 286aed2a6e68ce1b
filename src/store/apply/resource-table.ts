import { hash } from "node:crypto";
import { isoTime } from "../../base/clock.ts";
import { canonicalId, type RecordId } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import { isObject } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import { quoted } from "../sql-text.ts";
import { OddValue, toRow, type Cell, type UnknownKey } from "../tables/row-decoder.ts";
import { dataColumns, rawTable } from "../tables/table-layout.ts";
import { knownPlan, type NewColumn, type TablePlan } from "../tables/table-plan.ts";
import { TableStatements } from "../tables/table-statements.ts";
import { addUnknownColumns, noteOddType, unsharedPlan } from "../tables/unknown-columns.ts";
import {
  assertOnlyIdMissing,
  dataCells,
  isLive,
  isProvisional,
  judgeBytes,
  saysTheSame,
  type DecodedRecord,
  type Fence,
} from "./merge-rules.ts";
import { Previews, type CellsByName } from "./previews.ts";
import { decodeStored, differencesOf, ownerCells, readHeld, rowsOf, type HeldRecord } from "./held-record.ts";
import type { NewChange } from "./change-log.ts";
import type {
  IncomingPreview,
  IncomingRecord,
  Overrides,
  ReadStamp,
  Source,
  ApplyResult,
  PreviewResult,
  Removal,
} from "./read-stamp.ts";
import type { TableContext } from "./table-context.ts";

/**
 * What deriving a record's rows found. `written`: they differed and are right now. `unusable`: the record has no JSON,
 * or its JSON cannot become rows any more: its rows stay as they are, and its next read is decoded whatever it says.
 */
export type DeriveResult = "same" | "written" | "unusable";

type IncomingRow = IncomingPreview &
  Pick<Partial<IncomingRecord>, "listed" | "overrides"> & { readonly source: Source };

/**
 * The rows of one resource.
 *
 * Guarantee: every method runs in the transaction of `Mirror.apply`, so that a record's row, children, JSON, fence
 * and change commit together (I1, I2). What an answer may change is decided in merge-rules.ts (I3).
 * Source of truth: the fence says which read was applied last, `_raw_<resource>` what it said.
 * Worst outcome of a crash: the transaction is rolled back, and its answer is read again.
 */
export class ResourceTable {
  readonly resource: Resource;
  readonly context: TableContext;
  plan: TablePlan;
  previews: Previews;
  statements: TableStatements;
  private readonly fencesAhead = new Map<RecordId, Fence | undefined>();

  constructor(context: TableContext, resource: Resource, plan: TablePlan = knownPlan(resource)) {
    this.context = context;
    this.resource = resource;
    this.plan = plan;
    this.previews = new Previews(context, resource, plan);
    this.statements = new TableStatements(context.db, plan);
  }

  /** Runs a step that applies these records, in a transaction. One statement reads their fences: 1 µs each in place of 7. */
  withFencesOf(ids: readonly RecordId[], step: () => void): void {
    try {
      for (const id of ids) this.fencesAhead.set(id, undefined);
      const found = this.statements.of("selectFencesOf").all(`[${ids.join()}]`);
      for (const { at, ...fence } of found as (Fence & { at: number })[])
        this.fencesAhead.set(ids[at] as RecordId, fence);
      step();
    } finally {
      this.fencesAhead.clear();
    }
  }

  /** Applies a full record where it differs from the mirror and was sent after the last applied read came. */
  put(incoming: IncomingRecord): ApplyResult {
    const { stamp, id, slice, source, overrides } = incoming;
    const fence = this.fence(id);
    const sha = hash("sha1", slice);
    const isStale = this.isStale(stamp, id, fence);
    const verdict = judgeBytes(fence, { sha, source, isStale });
    if (verdict === "stale") return "stale";
    if (isLive(fence) && verdict === "same") {
      if (!isStale) this.context.quarantine.release(this.resource.name, id);
      this.noteDifferences(incoming, fence, null);
      return this.confirm(incoming, fence, null);
    }
    const decoded = this.decode(incoming);
    if (!decoded) {
      // An answer without its id may be of another record: it says nothing of this one.
      if (!incoming.withoutId) this.remember(stamp, id);
      return "quarantined";
    }
    this.noteDifferences(incoming, fence, decoded);
    const stored = isLive(fence) && verdict === "compare" ? this.stored(id, fence) : null;
    if (isLive(fence) && stored && saysTheSame(this.plan, stored, decoded, overrides)) {
      if (source === "list") this.statements.of("setListedSha").run(bytesOf(sha), id);
      return this.confirm(incoming, fence, decoded);
    }
    this.write(incoming, sha, decoded, fence);
    if (isProvisional(fence)) return "hydrated";
    return isLive(fence) ? "updated" : "inserted";
  }

  /**
   * Applies a preview where nothing more is known of the record: the row is provisional until its detail comes.
   * A row that has its detail is compared only, and never written.
   */
  putPreview(incoming: IncomingPreview): PreviewResult {
    const { stamp, id, slice } = incoming;
    const fence = this.fence(id);
    const sha = hash("sha1", slice);
    if (isLive(fence) && !isProvisional(fence))
      return { result: "unchanged", read: this.comparePreview(id, slice, sha, fence) };
    const shown = this.previews.decode(slice);
    const read = { reason: "new", listed: this.previews.listedAs(sha, shown?.cells ?? null) } as const;
    if (!shown || (isLive(fence) && fence.sha === sha)) {
      this.remember(stamp, id);
      return { result: "unchanged", read };
    }
    if (this.isStale(stamp, id, fence)) return { result: "stale", read };
    const decoded = { record: shown.record, row: this.previews.row(shown.cells) };
    this.write({ ...incoming, source: "preview" }, sha, decoded, fence);
    return { result: isLive(fence) ? "updated" : "inserted", read };
  }

  /**
   * Compares a preview with the row as the last detail left it, never with the last preview: the list may change
   * from A to B and back while a detail is read in between. Returns null where there is nothing to read.
   */
  private comparePreview(id: RecordId, slice: Buffer, sha: string, fence: Fence): PreviewResult["read"] {
    if (fence.listed_sha === sha) return null;
    const read = this.previews.compare(id, this.storedCells(id), sha, slice);
    if (!read) this.statements.of("setListedSha").run(bytesOf(sha), id);
    return read;
  }

  /** Call before the row is written. */
  private noteDifferences(
    { id, listed, source }: IncomingRecord,
    fence: Fence | undefined,
    decoded: DecodedRecord | null,
  ): void {
    const columns = listed?.differing ?? [];
    if (columns.length === 0 || source !== "detail" || !isLive(fence) || isProvisional(fence)) return;
    this.previews.noteDifferences(id, columns, this.storedCells(id), decoded);
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
    const seq = this.logChange(stamp, id, "delete", this.storedJson(id), fence);
    this.markDeleted(id, isoTime(stamp.receivedAtMs));
    this.context.sequence.markStored();
    this.statements.of("markGone").run(stamp.receivedSeq, stamp.receivedAtMs, seq, id);
    return "removed";
  }

  private markDeleted(id: RecordId, at: string): void {
    this.statements.clearChildren(id);
    this.statements.of("markDeleted").run(at, at, id);
  }

  /**
   * Writes the rows of a record of an overlay as it was at the time of `stamp`, without a change. Where its JSON needs more
   * than cells, a column that is not there yet or a place in quarantine, its rows are derived.
   */
  putPast(
    { id, slice, source, isGone }: Pick<IncomingRow, "id" | "slice" | "source"> & { isGone: boolean },
    stamp: ReadStamp,
  ): void {
    const { statements, resource } = this;
    const decoded = decodeStored(this, slice, source);
    if (decoded instanceof OddValue || decoded.row.unknown.length > 0) {
      statements.of("upsertRaw").run(id, slice);
      statements.of("upsertFence").run([id, null, null, source, 0, stamp.receivedAtMs, null, isGone ? 1 : 0]);
      this.derive(id, stamp);
    } else {
      const overrides =
        resource.list.kind === "owned" ? ownerCells(this, readHeld(statements, id)) : undefined;
      this.writeCells({ stamp, id, slice, source, overrides }, decoded);
    }
    if (isGone) this.markDeleted(id, isoTime(stamp.receivedAtMs));
  }

  /**
   * Compares the rows of a record with its JSON, and makes them anew where they differ: with a change in the log, if the
   * record shows (I2). Rows that do not differ are not written, and the JSON is the same before and after. The fence says
   * whether the record is deleted.
   *
   * @param overrides cells that the JSON does not name. @default they stay: the owner of an owned record
   * @param held what is held of it, in this transaction. @default it is read
   */
  derive(
    id: RecordId,
    stamp: ReadStamp,
    overrides?: Overrides,
    held = readHeld(this.statements, id),
  ): DeriveResult {
    const { statements, context, resource } = this;
    const { fence, json, cells, deletedAt } = held;
    if (json === undefined && !fence) return this.removeExtra(id, held, stamp);
    const isGone = fence ? fence.gone === 1 : deletedAt !== null;
    const decoded = json === undefined ? null : this.decodeAndGrow(id, json, fence?.source, stamp);
    if (!decoded || decoded instanceof OddValue) {
      if (isGone) return "same";
      // What was decoded was JSON.
      const odd = { resource: resource.name, id, json: json as string };
      if (decoded) context.quarantine.add(stamp, { ...odd, reason: decoded.message });
      statements.of("forgetSha").run(id);
      return "unusable";
    }
    const cellsOfOwner = overrides ?? ownerCells(this, held);
    const rows = rowsOf(this.plan, held, decoded.row, { overrides: cellsOfOwner, nowMs: stamp.receivedAtMs });
    if (cells && differencesOf(this.plan, held, rows).length === 0) return "same";
    this.statements.writeRows(id, rows, isoTime(stamp.receivedAtMs));
    if (!isGone) this.logDerived(id, held, stamp, "update");
    else if (isShown(held)) this.logDerived(id, held, stamp, "delete");
    return "written";
  }

  private decodeAndGrow(id: RecordId, json: string, source: Source | undefined, stamp: ReadStamp) {
    const decoded = decodeStored(this, json, source);
    if (decoded instanceof OddValue || decoded.row.unknown.length === 0) return decoded;
    this.addColumns(decoded.row.unknown, stamp, id);
    return decodeStored(this, json, source);
  }

  /** Rows without JSON, of a record that was never read: they show something that the service never said. */
  private removeExtra(id: RecordId, held: HeldRecord, stamp: ReadStamp): DeriveResult {
    this.statements.of("removeRow").run(id);
    this.statements.clearChildren(id);
    this.logDerived(id, held, stamp, "delete");
    return "written";
  }

  private logDerived(id: RecordId, { fence, json }: HeldRecord, stamp: ReadStamp, op: "update" | "delete") {
    const before = (op === "update" && json) || null;
    this.statements.of("setLastChange").run(this.logChange(stamp, id, op, before, fence), id);
  }

  /** Adds columns for unknown fields, without values. Rows derived afterwards have them. */
  addColumns(unknown: readonly UnknownKey[], stamp: ReadStamp, id: RecordId): NewColumn[] {
    const { db, growth } = this.context;
    growth.tables.add(this.resource.name);
    this.fencesAhead.clear();
    const { plan, keys } = unsharedPlan(this.resource, this.plan, unknown);
    const added = addUnknownColumns(db, plan, keys, { id, at: isoTime(stamp.receivedAtMs) });
    if (added.length === 0) return [];
    growth.columns.push(...added);
    this.plan = plan;
    this.previews = new Previews(this.context, this.resource, plan);
    this.statements = new TableStatements(db, this.plan);
    return added;
  }

  /** Adds columns for unknown fields, in the transaction that brought them, and fills them for older rows. */
  private grow(unknown: readonly UnknownKey[], stamp: ReadStamp, first: RecordId): void {
    const added = this.addColumns(unknown, stamp, first);
    if (added.length === 0) return;
    const raw = quoted(rawTable(this.resource.name));
    const having = this.context.db.prepare(`SELECT id FROM ${raw} WHERE instr(json, ?) > 0`).pluck();
    const keys = added.map(({ column }) => String(column.paths.flat().at(-1)));
    // A key of other letters may be escaped in more than one way: then every record is a candidate.
    const texts = keys.map((key) => (/^[A-Za-z0-9_]+$/.test(key) ? JSON.stringify(key) : '"'));
    const ids = new Set([...new Set(texts)].flatMap((text) => having.safeIntegers().all(text) as bigint[]));
    const cause = { ...stamp, cause: "schema" } as const;
    for (const id of ids) this.derive(canonicalId(id), cause);
  }

  /** What was read ahead is true once: the record may change then. */
  private fence(id: RecordId): Fence | undefined {
    const ahead = this.fencesAhead.get(id);
    if (this.fencesAhead.delete(id)) return ahead;
    return this.statements.of("selectFence").get(id) as Fence | undefined;
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
    const row = listed && (decoded ?? this.stored(id, fence))?.row;
    const covered = bytesOf(this.previews.coveredSha(listed, row ?? null));
    this.context.sequence.markStored();
    this.statements.of("touchFence").run(stamp.receivedSeq, stamp.receivedAtMs, covered, id);
    return "unchanged";
  }

  /** Parses the record and cuts it to columns; null after it went into quarantine. */
  private decode({ stamp, id, slice, withoutId }: IncomingRecord): DecodedRecord | null {
    const { quarantine, notices, db } = this.context;
    const { name } = this.resource;
    try {
      const record = parseLossless(slice);
      if (!isObject(record)) throw new OddValue("the record is not an object");
      let row = toRow(this.plan, record);
      if (withoutId) assertOnlyIdMissing(row);
      if (row.unknown.length > 0) {
        this.grow(row.unknown, stamp, id);
        row = toRow(this.plan, record);
      }
      notices.missing(name, row.missing);
      quarantine.release(name, id);
      return { record, row };
    } catch (error) {
      if (!(error instanceof OddValue)) throw error;
      quarantine.add(stamp, { resource: name, id, reason: error.message, json: slice.toString() });
      const first = { id, at: isoTime(stamp.receivedAtMs) };
      if (error.odd !== null) noteOddType(db, this.plan, error.odd, first);
      return null;
    }
  }

  /** What the mirror holds of a record; null when an earlier version took values that are odd today. */
  private stored(id: RecordId, { source }: Fence): DecodedRecord | null {
    const json = this.storedJson(id);
    const decoded = json === null ? null : decodeStored(this, json, source);
    return decoded instanceof OddValue ? null : decoded;
  }

  private storedJson(id: RecordId): string | null {
    return (this.statements.of("selectRaw").get(id) as string | undefined) ?? null;
  }

  private storedCells(id: RecordId): CellsByName {
    const values = (this.statements.of("selectRows").get(id, id) ?? []) as Cell[];
    return new Map(dataColumns(this.plan).map(({ name }, i) => [name, values[i] ?? null]));
  }

  private write(incoming: IncomingRow, sha: string, decoded: DecodedRecord, fence?: Fence): void {
    const { stamp, id, slice, source, listed } = incoming;
    const before = isLive(fence) ? this.storedJson(id) : null;
    const seq = this.logChange(stamp, id, isLive(fence) ? "update" : "insert", before, fence);
    this.writeCells(incoming, decoded);
    this.statements.of("upsertRaw").run(id, slice);
    this.context.sequence.markStored();
    const shas = [sha, this.previews.coveredSha(listed, decoded.row)].map(bytesOf);
    const { receivedSeq, receivedAtMs } = stamp;
    this.statements.of("upsertFence").run([id, ...shas, source, receivedSeq, receivedAtMs, seq, 0]);
  }

  /** @param before the record's JSON before the change. Returns the number of the change. */
  private logChange(
    stamp: ReadStamp,
    id: RecordId,
    op: NewChange["op"],
    before: string | null,
    fence: Pick<Fence, "last_change"> | undefined,
  ): number {
    const change = { stamp, resource: this.resource.name, id, op, before };
    return this.context.log.add(change, fence?.last_change ?? null);
  }

  private writeCells(incoming: IncomingRow, { row }: DecodedRecord): void {
    const { stamp, id, source, overrides } = incoming;
    const at = isoTime(stamp.receivedAtMs);
    const detailAt = source === "preview" ? null : at;
    const cells = dataCells(this.plan, row, overrides);
    const rows = { cells, children: row.children, deletedAt: null, detailAt };
    this.statements.writeRows(id, rows, at);
  }
}

/** A SHA-1 as the mirror stores it. In memory its digits are compared: a buffer from SQLite takes longer than the search. */
function bytesOf(sha: string | null): Buffer | null {
  return sha === null ? null : Buffer.from(sha, "hex");
}

function isShown({ cells, deletedAt, children }: HeldRecord): boolean {
  return (cells !== undefined && deletedAt === null) || children.some((rows) => rows.length > 0);
}
