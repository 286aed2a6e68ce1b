import { recordId, type RecordId } from "../../base/ids.ts";
import type { InvalidationRule } from "../../connector/connector-declaration.ts";
import type { Resource } from "../../connector/resource.ts";
import { integerOf, isObject, type JsonValue } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import type { EventOutcome } from "../../state/inbox/inbox.ts";
import type { IncomingRecord } from "../../store/apply/read-stamp.ts";
import type { AnswerContext, RunContext } from "../context/run-context.ts";
import { queueRecord } from "./read-reasons.ts";

interface ReadFinding {
  readonly id: RecordId;
  readonly outcome: EventOutcome;
  /** Dependents follow whatever the outcome (`isNews`). Otherwise only a change counts. */
  readonly isNews: boolean;
}

/**
 * Queues the records that change with this one: its owner, and those of the connector's invalidation rules. A credit
 * note changes what is left to pay of its invoice, also when a list or the scrub found it and no event.
 *
 * After an event, owners are read at once like an event's own record; the rest is due from now on and so comes after
 * events.
 * Guard after an event: the caller asks for news only; the read of a dependent is no news, so it ends there.
 * Guard in a sweep: only a change counts, and only for dependents whose last read came before the change was known.
 * A first run reads details after the lists, so it queues nothing here; an unchanged dependent ends the chain.
 */
export function queueDependents(read: AnswerContext, finding: ReadFinding): void {
  const { run, stamp } = read;
  const { outcome, isNews } = finding;
  const isChange = outcome === "inserted" || outcome === "updated" || outcome === "deleted";
  if (!isNews && (!isChange || stamp.cause === "webhook")) return;
  const owners = run.mirror.records.ownersOf(read.resource, finding.id);
  const dependents = [...owners.map((owner) => ({ ...owner, dueAtMs: 0 })), ...dependentsOf(read, finding)];
  if (dependents.length === 0) return;
  const knownSeq = changeKnownSeq(read, finding);
  for (const { resource, id, dueAtMs } of dependents) {
    const mirrored = run.mirrored.get(resource);
    if (mirrored && (isNews || isOutdated(run, mirrored, id, knownSeq)))
      queueRecord(read, "changed with another", { resource, id }, { dueAtMs });
  }
}

/** Reasons of reads that a list led to: what they find was there when the list came, unless it showed something else. */
const listReasons = new Set(["new", "changed", "absent"]);

/**
 * When the mirror knew of the change, as a number of its sequence: with the list that showed it, or did not show the record.
 * What differs from the list, or a list did not lead to, is known by this read.
 */
function changeKnownSeq({ run, resource, item, stamp }: AnswerContext, { id, outcome }: ReadFinding): number {
  const { listed } = (item.payload ?? {}) as Pick<IncomingRecord, "listed">;
  const isListed = listed ? run.mirror.records.isAsListed(resource.name, id) : outcome === "deleted";
  return isListed && listReasons.has(item.reason) ? item.dirtySeq : stamp.receivedSeq;
}

/** Was it last read before that, and does nothing else read it again? A provisional row's detail is queued anyway. */
function isOutdated(run: RunContext, resource: Resource, id: RecordId, seq: number): boolean {
  const last = run.mirror.records.lastRead(resource.name, id);
  if (!last || last.source === "preview" || last.receivedSeq >= seq) return false;
  // A list that shows full records proves them in every run; where it shows some as previews, what was last read from it.
  return !isListedWhole(run, resource) || (resource.fullWhen !== undefined && last.source !== "list");
}

/** Does each run read a list of all its records, which shows them full? A quick run reads a part of it. */
function isListedWhole({ share }: RunContext, { list, gives }: Resource): boolean {
  return gives === "full" && (list.kind === "whole" || (list.kind === "paged" && share !== "quick"));
}

/** Those of the connector's rules. Nothing is searched where no read could follow. */
function dependentsOf({ run, resource, stamp }: AnswerContext, finding: ReadFinding) {
  const { isNews } = finding;
  const dueAtMs = isNews ? stamp.receivedAtMs : 0;
  const rules = run.mirror.declaration.invalidationRules ?? [];
  return rules.flatMap((rule) => {
    if (rule.resource !== resource.name || (isNews && rule.announced)) return [];
    const dependent = run.mirrored.get(rule.dependent);
    if (!dependent || (!isNews && dependent.fullWhen === undefined && isListedWhole(run, dependent)))
      return [];
    return dependentIds(run, rule, finding).map((id) => ({ resource: rule.dependent, id, dueAtMs }));
  });
}

function dependentIds(run: RunContext, rule: InvalidationRule, { id, outcome }: ReadFinding): RecordId[] {
  const { records } = run.mirror;
  const { resource, dependent, by } = rule;
  if (by.kind === "column") return idsIn(records.texts(resource, id, [by.column]));
  if (by.kind === "parts") {
    const versions = records.versions(resource, id).map((json) => partsOf(json, by.field));
    // Something else of the record changed: a receipt shows its warehouse as it is now.
    const isKnown = outcome === "updated" && versions.length > 1;
    const isSame = isKnown && new Set(versions.map((parts) => JSON.stringify(parts))).size === 1;
    return isSame ? [] : idsIn(versions.flat().map((part) => idText(part, by.key)));
  }
  if (by.kind === "counting") {
    const isOneMoreOrLess = outcome === "inserted" || outcome === "deleted";
    return isOneMoreOrLess ? records.liveIdsWhere(dependent, { [by.column]: by.is }) : [];
  }
  const values = { [by.column]: by.is, [by.idColumn]: id };
  if (outcome === "deleted" || !by.shows) return records.liveIdsWhere(dependent, values);
  return records.liveIdsWhere(dependent, values, { table: resource, id, columns: by.shows });
}

function partsOf(json: string, field: string): JsonValue[] {
  const record = parseLossless(json);
  const parts = isObject(record) ? record[field] : null;
  return Array.isArray(parts) ? parts : [];
}

function idText(part: JsonValue, key: string): string | null {
  const value = isObject(part) ? part[key] : undefined;
  return typeof value === "string" ? value : (integerOf(value)?.toString() ?? null);
}

function idsIn(texts: readonly (string | null | undefined)[]): RecordId[] {
  return [...new Set(texts.flatMap((text) => recordId(String(text)) ?? []))];
}
