import type { Db } from "../../support/compare.ts";
import { tableNames, type TableName, type Version } from "../service/service-types.ts";
import type { Check, Observation } from "./observation.ts";
import { recordsOf } from "./mirror-rows.ts";

interface InboxRow {
  readonly event_id: string;
  readonly type: string | null;
  readonly state: string;
  readonly resource: TableName;
  readonly target: string;
}

/** I1: whatever is left to read of what is here, is in the queue; and a row, its JSON and its last read agree. */
export const unqueuedWork: Check = (db) => {
  const work = new Set(db.prepare("SELECT resource || ' ' || target FROM _work").pluck().all() as string[]);
  const records = tableNames.flatMap((table) =>
    recordsOf(db, table).flatMap(({ id, isDeleted, isProvisional, json, kind, gone }) => {
      const name = `I1 ${table} ${id}`;
      if (json === null || kind === null)
        return [`${name}: a row without its ${json === null ? "JSON" : "last read"}`];
      if ((gone === 1) !== isDeleted) return [`${name}: row and last read differ on whether it is deleted`];
      if (isDeleted) return [];
      if (isProvisional !== (kind === "preview"))
        return [`${name}: provisional or not, it says the contrary`];
      return isProvisional && !work.has(`${table} id:${id}`)
        ? [`${name}: nothing is queued to read its detail`]
        : [];
    }),
  );
  const events = waitingEvents(db)
    .filter(({ resource, target }) => !work.has(`${resource} ${target}`))
    .map(({ event_id: id, type }) => `I1 ${type} ${id}: waits, and nothing is queued`);
  return [...records, ...events];
};

function waitingEvents(db: Db): InboxRow[] {
  return db
    .prepare("SELECT event_id, type, state, resource, target FROM _inbox WHERE state = 'waiting'")
    .all() as InboxRow[];
}

/**
 * I1 and I4: the record of an event that is done shows a state that reads could show after the event arrived: the read
 * that completed it was sent after the event, and its data is here.
 */
export const doneWithoutData: Check = (db, seen) => {
  const rows = db
    .prepare("SELECT event_id, type, state, resource, target FROM _inbox WHERE state = 'done'")
    .all() as InboxRow[];
  const latest = new Map<string, { row: InboxRow; arrivedMs: number }>();
  for (const row of rows) {
    const arrivedMs = seen.arrivals.get(row.event_id);
    if (arrivedMs === undefined) continue;
    const key = `${row.resource} ${row.target}`;
    if (arrivedMs >= (latest.get(key)?.arrivedMs ?? -Infinity)) latest.set(key, { row, arrivedMs });
  }
  const records = new Map(
    tableNames.map((table) => [table, new Map(recordsOf(db, table).map((one) => [one.id, one]))]),
  );
  return [...latest.values()].flatMap(({ row, arrivedMs }) => {
    const id = Number(row.target.slice("id:".length));
    const record = records.get(row.resource)?.get(id);
    const text = record && !record.isDeleted ? record.json : null;
    const sinceMs = arrivedMs - lagOf(seen);
    if (isShownSince(historyOf(seen, row.resource, id), text, sinceMs)) return [];
    return [
      `I4 ${row.resource} ${id}: ${row.type} ${row.event_id} is done, and the row is as it was before the event`,
    ];
  });
};

/**
 * I1: after a run that ended well, no record is as it was before the run began, or missing where it was there all the
 * time.
 *
 * @param sinceMs when the run, or the first of the runs that it resumed, began
 * @param tables those that the run read whole; previews count as reads
 */
export function staleAfterRun(
  db: Db,
  seen: Observation,
  sinceMs: number,
  tables: readonly TableName[],
): string[] {
  return tables.flatMap((table) => {
    const records = new Map(recordsOf(db, table).map((one) => [one.id, one]));
    const { log } = seen.service.company;
    return [...new Set([...records.keys(), ...log.ids(table)])].flatMap((id) => {
      const record = records.get(id);
      const text = record && !record.isDeleted ? record.json : null;
      if (isShownSince(log.history(table, id), text, sinceMs - lagOf(seen))) return [];
      return [
        `I1 ${table} ${id}: ${text === null ? "not here" : "as it was before the run"}, and the run ended well`,
      ];
    });
  });
}

/** How long before its request an answer may show a state that is past. */
function lagOf({ service: { options } }: Observation): number {
  return options.lag === "replica" ? options.lagMs : 0;
}

function historyOf({ service }: Observation, table: TableName, id: number): readonly Version[] {
  return service.company.log.history(table, id);
}

/** Could a read show this text (null: that the record is not there) at this moment or later? */
function isShownSince(history: readonly Version[], text: string | null, sinceMs: number): boolean {
  const untilMs = (i: number) => history[i + 1]?.fromMs ?? Infinity;
  if (text === null && (history[0]?.fromMs ?? Infinity) > sinceMs) return true;
  return history.some(({ shown }, i) => {
    if (untilMs(i) <= sinceMs) return false;
    return shown === null ? text === null : shown.detail === text || shown.listed === text;
  });
}
