import type { RecordId } from "../../base/ids.ts";
import type { LastChange } from "../../state/checks/last-changes.ts";
import { differencesOf, rowsOf, type HeldRecord } from "../../store/apply/held-record.ts";
import type { DecodedRecord, Fence } from "../../store/apply/merge-rules.ts";
import type { RepairStep } from "../../store/apply/repair-record.ts";
import type { Overrides, Source } from "../../store/apply/read-stamp.ts";
import { OddValue, type Cell, type Row } from "../../store/tables/row-decoder.ts";
import type { TablePlan } from "../../store/tables/table-plan.ts";
import { mostNewColumns } from "../../store/tables/unknown-columns.ts";
import type { Found } from "./local-check.ts";

/** What is wrong with one record, and what puts it right. */
export interface RecordJudgement {
  readonly found: readonly Found[];
  readonly steps: readonly RepairStep[];
}

/** What is known of one record. */
export interface RecordFacts {
  readonly id: RecordId;
  readonly plan: TablePlan;
  /** Can a record of the resource be known by a preview alone? */
  readonly hasPreviews: boolean;
  readonly held: HeldRecord;
  /** By the change log; null: it names no change. */
  readonly last: LastChange | null;
  /** The first change that a prune has left. */
  readonly logBegin: number;
  /** Has the JSON the SHA-1 of the fence? */
  readonly isShaRight: boolean;
  /** Is it known that the JSON cannot become rows? */
  readonly isQuarantined: boolean;
  /** The JSON of a deleted record before its deletion, by the change log; null: unknown. */
  readonly jsonBefore: () => string | null;
  readonly decode: (json: string, source: Source) => DecodedRecord | OddValue;
  /** Cells that the JSON does not name. */
  readonly overrides: Overrides;
}

const sound: RecordJudgement = { found: [], steps: [] };

/**
 * Judges what the mirror holds of one record: row, child rows, JSON, fence and change log against each other. Pure.
 *
 * Where two of fence, row and change log say that a record lives or is deleted, the third is wrong. A deletion that is
 * not certain is never made by a repair: the record is asked for (I5).
 */
export function judgeRecord(facts: RecordFacts): RecordJudgement {
  const { held } = facts;
  const { fence, json } = held;
  if (!fence && json === undefined) return withoutRecord(facts);
  const known = fence ? fence.gone : Number(held.deletedAt !== null || facts.last?.op === "delete");
  const gone = livenessOf(facts) ?? (known === 1 ? 1 : 0);
  const source = sourceOf(facts);
  const right = { ...(fence ?? newFence), gone, source };
  return joined([
    fenceJudgement(facts, right),
    logJudgement(facts, gone),
    gone === 1 ? deletedJudgement(facts, right) : liveJudgement(facts, right),
  ]);
}

const newFence: Fence = {
  sha: null,
  listed_sha: null,
  source: "detail",
  received_seq: 0,
  read_at: 0,
  last_change: null,
  gone: 0,
};

function joined(parts: readonly RecordJudgement[]): RecordJudgement {
  return { found: parts.flatMap(({ found }) => found), steps: parts.flatMap(({ steps }) => steps) };
}

/** Rows alone: nothing says that they are of a record. */
function withoutRecord(facts: RecordFacts): RecordJudgement {
  const { held, last, plan } = facts;
  const wasRead = last !== null && last.op !== "delete";
  const more: RepairStep[] = wasRead ? [{ kind: "refetch" }] : [];
  if (held.cells) return { found: [listed("extra", facts)], steps: [{ kind: "derive" }, ...more] };
  const children = plan.children.flatMap(({ table }, i) =>
    (held.children[i] ?? []).map(([at = null]) => different(facts, `${table}[${at}]`, "{}", null)),
  );
  return children.length === 0 ? sound : { found: children, steps: [{ kind: "derive" }, ...more] };
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
  if (
    !hasPreviews ||
    json === undefined ||
    (fence && (!cells || (source === "preview") === (detailAt === null)))
  )
    return source;
  const whole = decode(json, "detail");
  if (whole instanceof OddValue) return source;
  const isWhole = whole.row.missing.length === 0;
  if (isWhole) return source === "preview" ? "detail" : source;
  return cells && detailAt !== null ? source : "preview";
}

function fenceJudgement(facts: RecordFacts, right: Fence): RecordJudgement {
  const { fence } = facts.held;
  const step = { kind: "fence", gone: right.gone === 1 ? 1 : 0, source: right.source } as const;
  if (!fence) {
    // Nothing proves when this JSON was read, so the record is read again.
    const found = [different(facts, "_fence", null, "{}")];
    return { found, steps: right.gone === 1 ? [step] : [step, { kind: "refetch" }] };
  }
  if (fence.gone === right.gone && fence.source === right.source) return sound;
  const found = [
    ...(fence.gone === right.gone ? [] : [different(facts, "_fence.gone", fence.gone, right.gone)]),
    ...(fence.source === right.source ? [] : [different(facts, "_fence.source", fence.source, right.source)]),
  ];
  return { found, steps: right.gone === 1 ? [step] : [step, { kind: "refetch" }] };
}

function logJudgement(facts: RecordFacts, gone: number): RecordJudgement {
  const { held, last } = facts;
  const lastChange = held.fence?.last_change ?? null;
  // A prune has removed its changes.
  if (!last && lastChange !== null && lastChange < facts.logBegin) return sound;
  const isLinked = !last || lastChange === last.seq;
  const link: RepairStep[] = last && !isLinked ? [{ kind: "last change", seq: last.seq }] : [];
  const isGoneByLog = !last || last.op === "delete";
  if (isGoneByLog === (gone === 1)) {
    if (isLinked || !held.fence) return { found: [], steps: link };
    return { found: [different(facts, "_fence.last_change", lastChange, last?.seq ?? null)], steps: link };
  }
  const op = gone === 1 ? "delete" : "insert";
  const found = [different(facts, "_changes", last?.op ?? null, op)];
  // Of a live record that the log calls deleted, the service decides.
  const more: RepairStep[] = last && gone === 0 ? [{ kind: "refetch" }] : [];
  return { found, steps: [...link, { kind: "log", op, after: last?.seq ?? null }, ...more] };
}

function deletedJudgement(facts: RecordFacts, fence: Fence): RecordJudgement {
  const { held } = facts;
  const before = facts.jsonBefore();
  const json = before ?? held.json;
  if (json === undefined) return held.cells ? { found: [listed("extra", facts)], steps: [] } : sound;
  const isRight = json === held.json;
  const found = isRight ? [] : [different(facts, "_raw", shortened(held.json), shortened(json))];
  const steps: RepairStep[] = isRight ? [] : [{ kind: "json", json }];
  return joined([{ found, steps }, rowJudgement(facts, fence, json)]);
}

function liveJudgement(facts: RecordFacts, fence: Fence): RecordJudgement {
  const { held, isShaRight, isQuarantined } = facts;
  const again: RepairStep[] = [{ kind: "forget" }, { kind: "refetch" }];
  if (held.json === undefined)
    return { found: [listed(held.cells ? "extra" : "missing", facts)], steps: again };
  if (held.fence && !isShaRight) {
    if (isQuarantined && held.fence.sha === null) return sound;
    const found = [different(facts, "_raw", shortened(held.json), null)];
    return { found, steps: again };
  }
  return rowJudgement(facts, fence, held.json);
}

function rowJudgement(facts: RecordFacts, fence: Fence, json: string): RecordJudgement {
  const { held, plan, decode, overrides, isQuarantined } = facts;
  const derive: RepairStep[] = [{ kind: "derive" }];
  const decoded = decode(json, fence.source);
  if (decoded instanceof OddValue) {
    if (fence.gone === 1 || isQuarantined) return sound;
    return { found: [different(facts, "_raw", shortened(json), decoded.message)], steps: derive };
  }
  if (!held.cells) return { found: [listed("missing", facts)], steps: derive };
  const derived = rowsOf(plan, { ...held, fence }, decoded.row, { overrides, nowMs: 0 });
  const wrong = differencesOf(plan, held, derived).map(({ field, mirror, raw }) =>
    different(facts, field, mirror, raw),
  );
  const found = [...wrong, ...unknownFields(facts, decoded.row)];
  return found.length === 0 ? sound : { found, steps: derive };
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
