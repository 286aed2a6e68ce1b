import { hash } from "node:crypto";
import { recordId, type RecordId } from "../../base/ids.ts";
import { integerOf, isObject, type JsonObject } from "../../json/literal.ts";
import type { LastChanges } from "../../state/checks/last-changes.ts";
import { decodeStored, ownerCells } from "../../store/apply/derive-rows.ts";
import {
  differencesOf,
  idsHeld,
  isAsReceived,
  readHeld,
  rowsOf,
  type HeldRecord,
} from "../../store/apply/held-record.ts";
import { dataCells } from "../../store/apply/merge-rules.ts";
import type { Overrides } from "../../store/apply/read-stamp.ts";
import type { ResourceTable } from "../../store/apply/resource-table.ts";
import { OddValue } from "../../store/tables/row-decoder.ts";
import { dataColumns } from "../../store/tables/table-layout.ts";
import { ownerColumns } from "../../sync/deletion/removal.ts";
import { judgeRecord, type RecordJudgement } from "./judge-record.ts";
import type { Found } from "./local-check.ts";

/** Records that are judged at once: about 0.1 s of work. */
const recordsAtOnce = 1_000;
const farFuture = "9999";

/** A record in which something is wrong. */
export interface JudgedRecord extends RecordJudgement {
  readonly resource: string;
  readonly id: RecordId;
}

/** Some records of one resource. */
export interface JudgedPart {
  readonly wrong: readonly JudgedRecord[];
  readonly records: number;
  readonly live: number;
  /** Where the next part begins; null: this was the last. */
  readonly next: bigint | null;
}

/** Judges all that a mirror holds of its resources, some records at a time. Writes nothing but a temporary table. */
export class RecordJudge {
  private readonly tables: ReadonlyMap<string, ResourceTable>;
  private readonly last: LastChanges;

  constructor(tables: readonly ResourceTable[], last: LastChanges) {
    this.tables = new Map(tables.map((table) => [table.resource.name, table]));
    this.last = last;
  }

  /** Records with ids from `from` on. */
  part(table: ResourceTable, from: bigint): JudgedPart {
    const { plan, resource, context } = table;
    const { ids, next } = idsHeld(context.db, plan, from, recordsAtOnce);
    const last = this.last.between(resource.name, ids[0] ?? 0, ids.at(-1) ?? 0);
    const quarantined = new Set(context.quarantine.idsBefore(resource.name, farFuture));
    const wrong: JudgedRecord[] = [];
    let live = 0;
    for (const id of ids) {
      const held = readHeld(table.statements, id);
      if (held.fence?.gone === 0) live += 1;
      const judgement = judgeRecord({
        id,
        plan,
        hasPreviews: resource.gives === "preview" || resource.fullWhen !== undefined,
        held,
        last: last.get(id) ?? null,
        logBegin: this.last.begin,
        isShaRight: isShaRight(table, id, held),
        isQuarantined: quarantined.has(id),
        jsonBefore: () => this.jsonBefore(last.get(id)),
        decode: (json, source) => decodeStored(table, json, source),
        overrides: ownerCells(table, held),
      });
      if (judgement.found.length > 0) wrong.push({ resource: resource.name, id, ...judgement });
      wrong.push(...this.ownedBy(table, id, held));
    }
    return { wrong, records: ids.length, live, next };
  }

  private jsonBefore(last: { readonly seq: number; readonly op: string } | undefined): string | null {
    return last?.op === "delete" ? this.last.before(last.seq) : null;
  }

  /** Records inside this one that name another owner. */
  private ownedBy(owner: ResourceTable, id: RecordId, { fence, json }: HeldRecord): JudgedRecord[] {
    if (
      owner.plan.owned.length === 0 ||
      json === undefined ||
      fence?.gone !== 0 ||
      fence.source === "preview"
    )
      return [];
    const decoded = decodeStored(owner, json, fence.source);
    if (decoded instanceof OddValue) return [];
    return owner.plan.owned.flatMap(({ field, resource }) => {
      const owned = this.tables.get(resource);
      const overrides = owned && ownerColumns(owned.resource, owner.resource, id);
      if (!owned || !overrides) return [];
      return partsOf(decoded.record, field).flatMap((part) => ownerJudgement(owned, part, overrides));
    });
  }
}

function isShaRight({ statements }: ResourceTable, id: RecordId, held: HeldRecord): boolean {
  if (isAsReceived(held) !== false) return isAsReceived(held) === true;
  // Bytes that are no UTF-8 are others as a string.
  const bytes = statements.selectRawBytes.get(id) as Buffer;
  return held.fence?.sha?.equals(hash("sha1", bytes, "buffer")) === true;
}

function partsOf(record: JsonObject, field: string): JsonObject[] {
  const value = Object.hasOwn(record, field) ? record[field] : null;
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/**
 * Compares the cells that name the owner where the record's own JSON does not; what else is wrong with the record is
 * found with the record itself.
 */
function ownerJudgement(owned: ResourceTable, part: JsonObject, overrides: Overrides): JudgedRecord[] {
  const integer = integerOf(part["id"]);
  const id = integer === null ? null : recordId(String(integer));
  if (id === null) return [];
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
  return found.length === 0 ? [] : [{ resource, id, found, steps: [{ kind: "derive", overrides }] }];
}
