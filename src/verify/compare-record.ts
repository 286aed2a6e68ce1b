import { MirrorError } from "../base/errors.ts";
import { firstId, type RecordId } from "../base/ids.ts";
import { snakeCase } from "../base/names.ts";
import type { ConnectorDeclaration } from "../connector/connector-declaration.ts";
import type { Resource } from "../connector/resource.ts";
import { isShownWhole, type CellsByName } from "../store/apply/previews.ts";
import { jsonEquals } from "../json/literal.ts";
import { openTables } from "../state/checks/state-check.ts";
import { Parents } from "../state/parents.ts";
import {
  decodeStored,
  differencesOf,
  idsHeld,
  isAsReceived,
  ownerCells,
  readHeld,
  rowsOf,
  type HeldRecord,
} from "../store/apply/held-record.ts";
import type { RecordRows } from "../store/tables/table-statements.ts";
import { isProvisional, textOf, type DecodedRecord } from "../store/apply/merge-rules.ts";
import type { ResourceTable } from "../store/apply/resource-table.ts";
import type { Db } from "../store/database.ts";
import { OddValue, type Cell, type UnknownKey } from "../store/tables/row-decoder.ts";
import { Records } from "../store/tables/stored-records.ts";

/** Records of one step of a walk: short enough that requests and timers get their turn. */
const idsAtOnce = 500;

type LiveRecord = HeldRecord & { readonly cells: readonly Cell[] };

/** The mirror as `verify` reads it, also beside its writer and on a read-only connection. Writes nothing. */
export class MirrorView {
  readonly db: Db;
  readonly declaration: ConnectorDeclaration;
  readonly records: Records;
  readonly parents: Parents;
  private tables: ReadonlyMap<string, ResourceTable> = new Map();

  /** Throws MirrorError `database` where the tables are not those of this version. */
  constructor(db: Db, declaration: ConnectorDeclaration) {
    this.db = db;
    this.declaration = declaration;
    this.records = new Records(db);
    this.parents = new Parents(db);
    this.reopen();
  }

  /** Finds columns that the writer has added since. Throws as the constructor. */
  reopen(): void {
    const { tables, unreadable } = openTables(this.db, this.declaration);
    const [first] = unreadable;
    if (first)
      throw new MirrorError("database", `${first.resource} cannot be compared: ${first.why}`, {
        hint: "Run `fintoro-mirror sync` once: it brings the tables up to date.",
      });
    this.tables = new Map(tables.map((table) => [table.resource.name, table]));
  }

  /** The plan and the statements of a resource; only those that read are used. */
  table(resource: string): ResourceTable {
    const table = this.tables.get(resource);
    if (!table) throw new Error(`broken promise: ${resource} has a table`);
    return table;
  }

  /** All that is held of a record, of one moment. */
  held(resource: string, id: RecordId): HeldRecord {
    const { statements } = this.table(resource);
    return this.db.transaction(() => readHeld(statements, id))();
  }

  raw(resource: string, { json, fence }: HeldRecord): DecodedRecord | OddValue {
    if (json === undefined) return new OddValue("there is no JSON");
    return decodeStored(this.table(resource), json, fence?.source);
  }

  *ids(resource: string): Generator<readonly RecordId[]> {
    const { plan } = this.table(resource);
    for (let from: bigint | null = firstId; from !== null;) {
      const { ids, next } = idsHeld(this.db, plan, from, idsAtOnce);
      yield ids;
      from = next;
    }
  }
}

export function isLiveRow(held: HeldRecord): held is LiveRecord {
  return held.cells !== undefined && held.deletedAt === null;
}

/** Changes with everything that a read writes, also where the read found nothing new. */
export function versionOf({ cells, children, json, deletedAt, detailAt, fence }: HeldRecord): string {
  const { received_seq: seq = null, gone = null } = fence ?? {};
  return textOf([cells ?? null, children, json ?? null, deletedAt, detailAt, seq, gone]);
}

/** One field that the mirror and the service show differently. null: there is no value. */
export interface FieldDifference {
  /** A column; `invoice_items[2].title` of a child row, `invoice_items[2]` for the whole row; `_raw.total` of the JSON. */
  readonly field: string;
  readonly mirror: unknown;
  readonly service: unknown;
}

export type ShownRecord =
  | { readonly kind: "shown"; readonly slice: Buffer }
  | { readonly kind: "absent" }
  | { readonly kind: "unreadable"; readonly why: string };

/** How the mirror's record compares. `extra`: the mirror shows what the service does not, or never said. */
export type RecordVerdict =
  | { readonly kind: "equal" }
  | { readonly kind: "missing" | "tombstoned" }
  | { readonly kind: "extra"; readonly why: string }
  | { readonly kind: "different"; readonly fields: readonly FieldDifference[] }
  | { readonly kind: "unreadable"; readonly why: string };

/** Why a live row is extra; each other reason is about a record that the service may have, or that no row shows. */
export const notAtService = "the service does not have it";

const equal = { kind: "equal" } as const;
type Raw = DecodedRecord | OddValue;

/** Compares a record with what its own route, or a list of full records, shows. Reads nothing. */
export function compareRecord(
  view: MirrorView,
  resource: Resource,
  held: HeldRecord,
  shown: ShownRecord,
): RecordVerdict {
  if (shown.kind === "unreadable") return shown;
  if (shown.kind === "absent") return judgeAbsent(view, resource, held);
  if (!isLiveRow(held))
    return { kind: held.deletedAt !== null || held.fence?.gone === 1 ? "tombstoned" : "missing" };
  if (held.json === undefined) return { kind: "extra", why: "a row without the record that it was made of" };
  const service = decodeStored(view.table(resource.name), shown.slice, "detail");
  if (service instanceof OddValue)
    return { kind: "unreadable", why: `the service's record cannot become a row: ${service.message}` };
  const raw = view.raw(resource.name, held);
  const table = view.table(resource.name);
  // A provisional row is compared in what its preview showed.
  const ofPreview = () =>
    raw instanceof OddValue
      ? [{ field: "_raw", mirror: raw.message, service: "a preview" }]
      : shownDifferences(view, resource.name, held, service, table.previews.cells(raw.record));
  const fields = isProvisional(held.fence) ? ofPreview() : recordDifferences(table, held, raw, service);
  if (fields.length === 0) return equal;
  // Of a row that is as it was received.
  const isOld = isSound(view, resource, held);
  // What the service changes all the time says nothing about the mirror.
  const volatile = new Set(resource.volatile?.map(snakeCase));
  const lasting = fields.filter(({ field }) => !isOld || !volatile.has(field.replace(/^_raw\./, "")));
  return lasting.length === 0 ? equal : { kind: "different", fields: lasting };
}

function judgeAbsent(view: MirrorView, { name }: Resource, held: HeldRecord): RecordVerdict {
  if (isLiveRow(held)) return { kind: "extra", why: notAtService };
  const { children } = view.table(name).plan;
  const table = children.find((_, i) => (held.children[i]?.length ?? 0) > 0)?.table;
  if (table !== undefined) return { kind: "extra", why: `rows of ${table} without their record` };
  const isClaimed = held.fence?.gone === 0;
  return isClaimed ? { kind: "extra", why: "the mirror takes it for live, without a row" } : equal;
}

/** Of these columns those that differ, unless previews show them differently from details. */
function shownDifferences(
  view: MirrorView,
  name: string,
  held: HeldRecord,
  service: DecodedRecord,
  shown: CellsByName,
): FieldDifference[] {
  const table = view.table(name);
  const uncompared = table.context.differences.uncompared(name);
  return rowDifferences(table, held, service).filter(
    ({ field }) => shown.has(field) && !uncompared.has(field),
  );
}

/** Does what a list shows of a record differ from the mirror? Odd values, and no row at all, differ. */
export function differsFromListed(view: MirrorView, resource: Resource, held: HeldRecord, json?: string) {
  if (!isLiveRow(held) || json === undefined) return true;
  const { name } = resource;
  const slice = Buffer.from(json);
  if (isShownWhole(resource, slice))
    return compareRecord(view, resource, held, { kind: "shown", slice }).kind !== "equal";
  const { previews } = view.table(name);
  const shown = previews.decode(slice);
  if (!shown) return true;
  const service = { record: shown.record, row: previews.row(shown.cells) };
  return shownDifferences(view, name, held, service, shown.cells).length > 0;
}

/** Do a record's row, child rows, JSON and tombstone fit together? */
export function isSound(view: MirrorView, { name }: Resource, held: HeldRecord): boolean {
  const { fence, json, cells, children } = held;
  if (!isLiveRow(held)) {
    const hasParts = children.some((rows) => rows.length > 0);
    return !hasParts && fence?.gone !== 0 && (cells !== undefined || json === undefined);
  }
  const raw = view.raw(name, held);
  if (fence?.gone === 1 || raw instanceof OddValue || isAsReceived(held) === false) return false;
  return rowDifferences(view.table(name), held, raw).length === 0;
}

function recordDifferences(table: ResourceTable, held: HeldRecord, raw: Raw, service: DecodedRecord) {
  const inRows = rowDifferences(table, held, service);
  const fields = new Set(inRows.map(({ field }) => field));
  const inJson = rawDifferences(table, held, raw, service).filter(
    ({ field }) => !fields.has(field.replace(/^_raw\.?/, "")),
  );
  return [...inRows, ...unknownFields(raw, service), ...inJson];
}

function rowDifferences(table: ResourceTable, held: HeldRecord, record: DecodedRecord): FieldDifference[] {
  const found = differencesOf(table.plan, held, rowsLike(table, held, record));
  return found.map(({ field, mirror, raw }) => ({ field, mirror, service: raw }));
}

/** Cells that the record does not name are the mirror's: the owner of an owned record. */
function rowsLike(table: ResourceTable, held: HeldRecord, { row }: DecodedRecord): RecordRows {
  const fence = held.fence && { ...held.fence, gone: 0 };
  const overrides = ownerCells(table, held);
  return rowsOf(table.plan, { ...held, fence, deletedAt: null }, row, { overrides, nowMs: 0 });
}

function rawDifferences(table: ResourceTable, held: HeldRecord, raw: Raw, service: DecodedRecord) {
  if (raw instanceof OddValue) return [{ field: "_raw", mirror: raw.message, service: "a record" }];
  const { children, ...own } = rowsLike(table, held, raw);
  const numbered = children.map((rows) => rows.map((cells, at): Cell[] => [BigInt(at), ...cells]));
  const inCells = rowDifferences(table, { ...held, ...own, children: numbered }, service);
  if (inCells.length > 0) return inCells.map((one) => ({ ...one, field: `_raw.${one.field}` }));
  if (isAsReceived(held) !== false) return [];
  // What no column shows. In JSON as it was received that may be old: the name of a nested record that changed since.
  return Object.entries(service.record).flatMap(([key, value]) => {
    const mirror = raw.record[key];
    if (mirror === undefined || jsonEquals(mirror, value)) return [];
    return { field: `_raw.${key}`, mirror, service: value };
  });
}

/** Fields that the service shows and the mirror has neither in a column nor in its JSON. */
function unknownFields(raw: Raw, { row, record }: DecodedRecord): FieldDifference[] {
  const kept = new Set(raw instanceof OddValue ? [] : raw.row.unknown.map(nameOfUnknown));
  const names = new Set(row.unknown.map(nameOfUnknown).filter((name) => !kept.has(name)));
  return [...names].map((field) => ({ field, mirror: null, service: record[field] ?? "a value" }));
}

function nameOfUnknown({ plan, path }: UnknownKey): string {
  return [...("table" in plan ? [String(plan.table)] : []), ...path].join(".");
}
