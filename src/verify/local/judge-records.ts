import { yieldToLoop } from "../../base/cancellation.ts";
import { assert } from "../../base/errors.ts";
import { firstId, recordId, type RecordId, type RecordRef } from "../../base/ids.ts";
import { integerOf, isObject, type JsonObject } from "../../json/literal.ts";
import type { LastChange, LastChanges } from "../../state/checks/state-check.ts";
import {
  decodeStored,
  differencesOf,
  idsHeld,
  isAsReceived,
  ownerCells,
  readEachHeld,
  readHeld,
  rowsOf,
} from "../../store/apply/held-record.ts";
import type { CellDifference, HeldRecord } from "../../store/apply/held-record.ts";
import { dataCells, type DecodedRecord, type Fence } from "../../store/apply/merge-rules.ts";
import type { Overrides, Source } from "../../store/apply/read-stamp.ts";
import type { ResourceTable } from "../../store/apply/resource-table.ts";
import { prepared } from "../../store/database.ts";
import { quoted } from "../../store/sql-text.ts";
import { OddValue, type Cell, type Row } from "../../store/tables/row-decoder.ts";
import { dataColumns } from "../../store/tables/table-layout.ts";
import { mostNewColumns } from "../../store/tables/unknown-columns.ts";
import { ownerColumns } from "../../sync/deletion/deletion.ts";

export interface NamedRecord {
  readonly id: RecordId;
}

/** A field that differs from the received JSON; `_raw`, `_fence` or `_changes` for what is kept beside the row. */
export type LocalDifference = NamedRecord & CellDifference;

export type Found =
  ({ readonly list: "missing" | "extra" } & NamedRecord) | ({ readonly list: "different" } & LocalDifference);

/** What puts a record right, all of it in one transaction. */
interface Repair {
  /** As its fence is to be; absent: it is of no record. */
  readonly fence?: Pick<Fence, "gone" | "source">;
  /** Its last change by the log, and what must follow there; null: nothing. */
  readonly last?: LastChange | null;
  readonly op?: "insert" | "delete" | null;
  readonly json?: string | undefined;
  /** Are its rows made of the JSON? Else the next read is stored whatever it says. */
  readonly isTrusted: boolean;
  /** Only the service knows how it is: it is to be read. */
  readonly isAsked: boolean;
  /** Cells that the JSON does not name. */
  readonly overrides?: Overrides;
}

/** Records that are read at once, about 10 ms of work: few statements, and what is read does not outlive a collection. */
const recordsAtOnce = 100;

export interface JudgedRecord extends RecordRef {
  readonly found: readonly Found[];
  readonly repair: Repair;
}

type RecordJudgement = Omit<JudgedRecord, keyof RecordRef>;

export interface JudgeOptions {
  /** Called about a hundred times a second, with the records of the resource judged so far. */
  readonly onProgress?: (progress: { readonly resource: string; readonly records: number }) => void;
  readonly signal?: AbortSignal;
}

/**
 * Judges what a mirror holds of one of its resources, some records at a time; between them requests and timers get their
 * turn. Writes nothing but a temporary table.
 *
 * @param what is done to the records, for messages
 * @throws MirrorError `stopped` when the signal aborted
 */
export async function* judgedParts(
  /** Of the connector's resources; a repair adds columns. */
  tables: () => readonly ResourceTable[],
  last: LastChanges,
  name: string,
  what: "compared" | "repaired",
  { onProgress, signal }: JudgeOptions,
) {
  let records = 0;
  let quarantined: ReadonlySet<RecordId> | undefined;
  for (let from: bigint | null = firstId; from !== null;) {
    const table = tables().find(({ resource }) => resource.name === name);
    assert(table, `${name} has a table`);
    // Once: all records of a resource may be in quarantine.
    quarantined ??= new Set(table.context.quarantine.idsBefore(name));
    const part = judgePart(table, tables(), last, quarantined, from);
    yield part;
    records += part.records;
    from = part.next;
    onProgress?.({ resource: name, records });
    await yieldToLoop(signal, `stopped while ${name} were ${what}`);
  }
}

/** Some records with ids from `from` on; `next` is where the next part begins, null after the last. */
function judgePart(
  table: ResourceTable,
  tables: readonly ResourceTable[],
  last: LastChanges,
  quarantined: ReadonlySet<RecordId>,
  from: bigint,
) {
  const { plan, resource, context } = table;
  const { ids, next } = idsHeld(context.db, plan, from, recordsAtOnce);
  const changes = last.between(resource.name, ids[0] ?? 0, ids.at(-1) ?? 0);
  const wrong: JudgedRecord[] = [];
  let live = 0;
  for (const [id, held] of readEachHeld(table, ids)) {
    if (held.fence?.gone === 0) live += 1;
    const facts = factsOf(table, id, held, last, changes.get(id) ?? null, quarantined);
    const judgement = judgeRecord(facts);
    if (judgement.found.length > 0) wrong.push({ resource: resource.name, id, ...judgement });
    wrong.push(...ownedJudgements(tables, table, facts));
  }
  return { wrong, records: ids.length, live, next };
}

function factsOf(
  table: ResourceTable,
  id: RecordId,
  held: HeldRecord,
  log: LastChanges,
  /** By the change log; null: it names no change. */
  last: LastChange | null,
  quarantined: ReadonlySet<RecordId>,
) {
  const { plan, resource } = table;
  return {
    id,
    plan,
    held,
    last,
    hasPreviews: resource.gives === "preview" || resource.fullWhen !== undefined,
    /** The first change that a prune has left. */
    logBegin: log.begin,
    isShaRight: isAsReceived(held) === true,
    isQuarantined: quarantined.has(id),
    /** The JSON of a deleted record before its deletion, by the change log; null: unknown. */
    jsonBefore: () => (last?.op === "delete" ? log.before(last.seq) : null),
    decode: decoderOf(table),
    /** Cells that the JSON does not name. */
    overrides: ownerCells(table, held),
  };
}

/** Decodes a record's JSON; what was asked last is answered again. */
function decoderOf(table: ResourceTable): (json: string, source: Source) => DecodedRecord | OddValue {
  let last: { json: string; source: Source; decoded: DecodedRecord | OddValue } | undefined;
  return (json, source) => {
    if (last?.json !== json || last.source !== source)
      last = { json, source, decoded: decodeStored(table, json, source) };
    return last.decoded;
  };
}

/** Records inside this one that name another owner. */
function ownedJudgements(
  tables: readonly ResourceTable[],
  owner: ResourceTable,
  { id, plan: { owned: lists }, held: { fence, json }, decode }: RecordFacts,
): JudgedRecord[] {
  if (lists.length === 0 || json === undefined || fence?.gone !== 0 || fence.source === "preview") return [];
  const decoded = decode(json, fence.source);
  if (decoded instanceof OddValue) return [];
  return lists.flatMap(({ field, resource }) => {
    const parts = Object.hasOwn(decoded.record, field) ? decoded.record[field] : null;
    const records = Array.isArray(parts) ? parts.filter(isObject) : [];
    const owned = tables.find((table) => table.resource.name === resource);
    const overrides = owned && records.length > 0 && ownerColumns(owned.resource, owner.resource, id);
    if (!owned || !overrides) return [];
    return records.flatMap((part) => ownerJudgement(owned, part, overrides));
  });
}

/**
 * Compares the cells that name the owner where the record's own JSON does not; what else is wrong with the record is
 * found with the record itself.
 */
function ownerJudgement(owned: ResourceTable, part: JsonObject, overrides: Overrides): JudgedRecord[] {
  const integer = integerOf(part["id"]);
  const id = integer === null ? null : recordId(String(integer));
  if (id === null || namesOwner(owned, id, overrides)) return [];
  const { plan } = owned;
  const held = readHeld(owned.statements, id);
  const decoded = held.json === undefined ? null : decodeStored(owned, held.json, "detail");
  if (!held.cells || held.deletedAt !== null || !decoded || decoded instanceof OddValue) return [];
  const own = dataCells(plan, decoded.row, undefined);
  const unnamed = new Set(
    dataColumns(plan).flatMap(({ name }, i) => ((own[i] ?? null) === null ? [name] : [])),
  );
  const derived = rowsOf(plan, held, decoded.row, { overrides, nowMs: 0 });
  const found = differencesOf(plan, held, derived)
    .filter(({ field }) => Object.hasOwn(overrides, field) && unnamed.has(field))
    .map((one): Found => ({ list: "different", id, ...one }));
  const { name: resource } = owned.resource;
  const repair = { isTrusted: true, isAsked: false, overrides };
  return found.length === 0 ? [] : [{ resource, id, found, repair }];
}

/** Does the row name this owner? Then nothing else of the record needs to be read. */
function namesOwner(owned: ResourceTable, id: RecordId, overrides: Overrides): boolean {
  const names = Object.keys(overrides);
  const { plan, context } = owned;
  const text = () => {
    const same = names.map((name) => `${quoted(name)} IS +?`);
    return `SELECT 1 FROM ${quoted(plan.table)} WHERE ${["id = +?", ...same].join(" AND ")}`;
  };
  const row = prepared(context.db, plan, `owner ${names.join()}`, "column", text);
  return row.get(id, ...Object.values(overrides)) !== undefined;
}

type RecordFacts = ReturnType<typeof factsOf>;

/**
 * Judges what the mirror holds of one record: row, child rows, JSON, fence and change log against each other. Pure.
 *
 * Where two of fence, row and change log say that a record lives or is deleted, the third is wrong. A deletion that is
 * not certain is never made by a repair: the record is asked for (I5).
 */
function judgeRecord(facts: RecordFacts): RecordJudgement {
  const { held, last, isShaRight } = facts;
  if (!held.fence && held.json === undefined) return judgeRows(facts);
  const known = held.fence ? held.fence.gone : Number(held.deletedAt !== null || last?.op === "delete");
  const gone = livenessOf(facts) ?? (known === 1 ? 1 : 0);
  const fence = { ...(held.fence ?? newFence), gone, source: sourceOf(facts) };
  const json = (gone === 1 ? facts.jsonBefore() : null) ?? held.json;
  const isTrusted = gone === 1 || (json !== undefined && (!held.fence || isShaRight));
  const op = lostChange(facts, gone);
  const inFence = fenceDifferences(facts, fence);
  const inContent = contentDifferences(facts, fence, json);
  // Of a live record that the log calls deleted, the service decides.
  const isUnsure =
    inFence.length > 0 || (op !== null && last !== null) || (!isTrusted && inContent.length > 0);
  return {
    found: [...inFence, ...logDifferences(facts, op), ...inContent],
    repair: { fence, last, op, json, isTrusted, isAsked: gone === 0 && isUnsure },
  };
}

const unread = { sha: null, listed_sha: null, received_seq: 0, read_at: 0, last_change: null };
const newFence: Fence = { ...unread, source: "detail", gone: 0 };

/** Rows alone: nothing says that they are of a record. */
function judgeRows(facts: RecordFacts): RecordJudgement {
  const { held, last, plan } = facts;
  const children = plan.children.flatMap(({ table }, i) =>
    (held.children[i] ?? []).map(([at = null]) => different(facts, `${table}[${at}]`, "{}", null)),
  );
  const isAsked = last !== null && last.op !== "delete";
  return {
    found: held.cells ? [listed("extra", facts)] : children,
    repair: { isTrusted: true, isAsked },
  };
}

/** 1: deleted, 0: live; null: fence and change log agree, or one of them is not there. */
function livenessOf({ held, last }: RecordFacts): 0 | 1 | null {
  if (!held.fence || !last) return null;
  const byLog = last.op === "delete" ? 1 : 0;
  if (held.fence.gone === byLog) return null;
  if (!held.cells) return byLog;
  return held.deletedAt === null ? 0 : 1;
}

/** Of what the row was made: the fence says it, unless the row and its JSON both say otherwise. */
function sourceOf({ held, decode, hasPreviews }: RecordFacts): Source {
  const { fence, json, cells, detailAt } = held;
  const source = fence?.source ?? "detail";
  const isAgreed = fence && (!cells || (source === "preview") === (detailAt === null));
  if (!hasPreviews || json === undefined || isAgreed) return source;
  const whole = decode(json, "detail");
  if (whole instanceof OddValue) return source;
  const isWhole = whole.row.missing.length === 0;
  if (isWhole) return source === "preview" ? "detail" : source;
  return cells && detailAt !== null ? source : "preview";
}

/** Where there is no fence, nothing proves when the JSON was read. */
function fenceDifferences(facts: RecordFacts, right: Fence): Found[] {
  const { fence } = facts.held;
  if (!fence) return [different(facts, "_fence", null, "{}")];
  const wrong = (["gone", "source"] as const).filter((key) => fence[key] !== right[key]);
  return wrong.map((key) => different(facts, `_fence.${key}`, fence[key], right[key]));
}

/** The change that is not in the log; null: it says of the record what it should. */
function lostChange({ held, last, logBegin }: RecordFacts, gone: 0 | 1): "insert" | "delete" | null {
  const lastChange = held.fence?.last_change ?? null;
  // A prune has removed its changes.
  if (!last && lastChange !== null && lastChange < logBegin) return null;
  const isGoneByLog = !last || last.op === "delete";
  if (isGoneByLog === (gone === 1)) return null;
  return gone === 1 ? "delete" : "insert";
}

function logDifferences(facts: RecordFacts, lost: "insert" | "delete" | null): Found[] {
  const { last, held } = facts;
  if (lost) return [different(facts, "_changes", last?.op ?? null, lost)];
  if (!last || !held.fence || held.fence.last_change === last.seq) return [];
  return [different(facts, "_fence.last_change", held.fence.last_change, last.seq)];
}

/** @param json as it is right; undefined: nobody knows */
function contentDifferences(facts: RecordFacts, fence: Fence, json: string | undefined): Found[] {
  const { held, isShaRight, isQuarantined } = facts;
  const isGone = fence.gone === 1;
  if (json === undefined) {
    if (held.cells) return [listed("extra", facts)];
    return isGone ? [] : [listed("missing", facts)];
  }
  const raw = shortened(held.json);
  if (!isGone && held.fence && !isShaRight)
    return isQuarantined && held.fence.sha === null ? [] : [different(facts, "_raw", raw, null)];
  const inJson = json === held.json ? [] : [different(facts, "_raw", raw, shortened(json))];
  return [...inJson, ...rowDifferences(facts, fence, json)];
}

function rowDifferences(facts: RecordFacts, fence: Fence, json: string): Found[] {
  const { held, plan, decode, overrides, isQuarantined } = facts;
  const decoded = decode(json, fence.source);
  if (decoded instanceof OddValue) {
    const isKnown = fence.gone === 1 || isQuarantined;
    return isKnown ? [] : [different(facts, "_raw", shortened(json), decoded.message)];
  }
  if (!held.cells) return [listed("missing", facts)];
  const derived = rowsOf(plan, { ...held, fence }, decoded.row, { overrides, nowMs: 0 });
  const wrong = differencesOf(plan, held, derived).map(({ field, mirror, raw }) =>
    different(facts, field, mirror, raw),
  );
  return [...wrong, ...unknownFields(facts, decoded.row)];
}

/** Fields of the JSON that should have a column of their own, and have none. */
function unknownFields(facts: RecordFacts, { unknown }: Row): Found[] {
  const fields = unknown.filter(
    ({ plan }) => plan.columns.filter(({ scalar }) => scalar === "any").length < mostNewColumns,
  );
  return fields.map(({ path }) => different(facts, path.join("."), null, "{}"));
}

function listed(list: "missing" | "extra", { id }: RecordFacts): Found {
  return { list, id };
}

function different({ id }: RecordFacts, field: string, mirror: Cell, raw: Cell): Found {
  return { list: "different", id, field, mirror, raw };
}

const mostShown = 80;

function shortened(json: string | undefined): string | null {
  if (json === undefined) return null;
  return json.length > mostShown ? `${json.slice(0, mostShown)}…` : json;
}
