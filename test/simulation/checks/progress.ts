import { laneRank } from "../../../src/base/lane.ts";
import { invoiceOf, isText } from "../service/service-truth.ts";
import type { TableName, Version } from "../service/service-types.ts";
import type { VersionLog } from "../service/version-log.ts";
import { lastDeletions, wasDeniedAlone } from "./history.ts";
import type { Check, HeldRecord, MirrorContents, Observation } from "./mirror-contents.ts";

/**
 * I1: whatever is left to read of what is here, is in the queue or in quarantine, which each run reads again; and a row,
 * its JSON and its last read agree.
 */
export const unqueuedWork: Check = (mirror) => {
  const work = queuedTargets(mirror);
  const known = new Set([...work, ...quarantinedTargets(mirror)]);
  const records = [...mirror.everyRecord()].flatMap((record) => {
    const wrong = disagreement(record);
    if (wrong !== null) return [`I1 ${record.table} ${record.id}: ${wrong}`];
    const isLeft = record.isProvisional && !record.isDeleted;
    if (!isLeft || known.has(`${record.table} id:${record.id}`)) return [];
    return [`I1 ${record.table} ${record.id}: nothing is queued to read its detail`];
  });
  const events = mirror.events
    .filter(({ state, resource, target }) => state === "waiting" && !work.has(`${resource} ${target}`))
    .map(({ id, type }) => `I1 ${type} ${id}: waits, and nothing is queued`);
  return [...records, ...events];
};

/** What is queued to be read: tables and targets. */
export function queuedTargets(mirror: MirrorContents): ReadonlySet<string> {
  return new Set(mirror.column("SELECT resource || ' ' || target FROM _work"));
}

/** What came last of these records cannot become a row: each run reads them again. */
function quarantinedTargets(mirror: MirrorContents): ReadonlySet<string> {
  const sql = "SELECT resource || ' id:' || record_id FROM _quarantine WHERE record_id IS NOT NULL";
  return new Set(mirror.column(sql));
}

/**
 * I1: whatever referred to a deleted record was read after the deletion, or is queued. Deleting it commits together with
 * what follows from it.
 */
export const unreadReferences: Check = (mirror) => {
  const work = queuedTargets(mirror);
  const sql = `SELECT one.id FROM business_cases one JOIN _fence_business_cases read ON read.id = one.id
    JOIN _fence_clients gone ON gone.id = one.client_id AND gone.gone = 1
    WHERE one._deleted_at IS NULL AND read.received_seq < gone.received_seq`;
  return mirror
    .column<number>(sql)
    .filter((id) => !work.has(`business_cases id:${id}`))
    .map((id) => `I1 business_cases ${id}: its client was deleted after it was read, and nothing is queued`);
};

/** Where the row of a record contradicts its JSON or its last read; null where they agree. */
function disagreement({ json, kind, gone, isDeleted, isProvisional }: HeldRecord): string | null {
  if (json === null) return "a row without its JSON";
  if (kind === null) return "a row without its last read";
  if ((gone === 1) !== isDeleted) return "row and last read differ on whether it is deleted";
  const isOdd = !isDeleted && isProvisional !== (kind === "preview");
  return isOdd ? "provisional or not, it says the contrary" : null;
}

interface DoneEvent {
  readonly what: string;
  readonly table: TableName;
  readonly id: number;
  readonly arrivedMs: number;
  readonly requestId: string | null;
}

/**
 * I1 and I4: the record of an event that is done shows a state that reads could show after the event arrived: the read
 * that completed it was sent after the event, and its data is here, or in quarantine where it is no record. A mirror that holds no other record to test the
 * route with believes a broken one, until a list shows the record.
 */
export const doneWithoutData: Check = (mirror, seen) => {
  const latest = new Map<string, DoneEvent>();
  for (const { id: eventId, type, state, resource: table, target, requestId } of mirror.events) {
    const arrivedMs = seen.arrivals.get(eventId);
    if (state !== "done" || arrivedMs === undefined) continue;
    const key = `${table} ${target}`;
    if (arrivedMs < (latest.get(key)?.arrivedMs ?? -Infinity)) continue;
    const id = Number(target.slice("id:".length));
    latest.set(key, { what: `${type} ${eventId}`, table, id, arrivedMs, requestId });
  }
  const quarantined = quarantinedTargets(mirror);
  const isStale = staleSince(mirror, seen);
  return [...latest.values()]
    .filter(({ table, id }) => !quarantined.has(`${table} id:${id}`))
    .filter(({ table, id, arrivedMs, requestId }) => isStale(table, id, arrivedMs, requestId))
    .map(({ what, table, id }) => `I4 ${table} ${id}: ${what} is done, and the row is as before the event`);
};

/**
 * I1: after a run that ended well, no record is as it was before the run began, or missing where lists showed it all the
 * time. Beside an event worker, what an event asked for is the worker's to read. A broken route may have denied the only
 * record here since.
 */
export function staleAfterRun(
  mirror: MirrorContents,
  seen: Observation,
  { sinceMs, tables, isBesideWorker }: ReadRun,
): string[] {
  const { log } = seen.service.company;
  const asked = isBesideWorker ? askedByEvents(mirror, log) : new Set<string>();
  const isStale = staleSince(mirror, seen);
  return tables.flatMap((table) => {
    const held = mirror.records(table);
    const ids = new Set([...held.keys(), ...log.ids(table)]);
    return [...ids]
      .filter((id) => !asked.has(`${table} id:${id}`))
      .filter((id) => held.has(id) || !isUnlistedSince(log.history(table, id), sinceMs))
      .filter((id) => isStale(table, id, sinceMs))
      .map(
        (id) =>
          `I1 ${table} ${id}: ${held.has(id) ? "as it was before the run" : "not here"}, and the run ended well`,
      );
  });
}

/** A run that ended well. */
interface ReadRun {
  /** When it, or the first of the runs that it resumed, began. */
  readonly sinceMs: number;
  /** Those that it read whole; previews count as reads. */
  readonly tables: readonly TableName[];
  readonly isBesideWorker: boolean;
}

/** Was there a time from this moment on when the record was there, and no list showed it? */
function isUnlistedSince(history: readonly Version[], sinceMs: number): boolean {
  return history.some(
    ({ shown }, i) => shown?.listed === null && (history[i + 1]?.fromMs ?? Infinity) > sinceMs,
  );
}

/** Records that the event worker still has to read: those in its lane, and the payments that come with an invoice. */
function askedByEvents(mirror: MirrorContents, log: VersionLog): ReadonlySet<string> {
  const lane = `lane = ${laneRank("webhook")} AND reason <> 'recheck'`;
  const asked = new Set(mirror.column(`SELECT resource || ' ' || target FROM _work WHERE ${lane}`));
  const isAsked = ({ shown }: Version) => shown && asked.has(`invoices id:${invoiceOf(shown.detail)}`);
  const payments = [...log.ids("document_payments")].filter((id) =>
    log.history("document_payments", id).some(isAsked),
  );
  return new Set([...asked, ...payments.map((id) => `document_payments id:${id}`)]);
}

/**
 * For a record: is what the mirror shows of it older than what a read from a moment on could show, and no broken route to blame
 * that this request asked, or the one that deleted it last?
 */
function staleSince(mirror: MirrorContents, seen: Observation) {
  const { company, options } = seen.service;
  const deletions = lastDeletions(mirror);
  const lagMs = options.lag === "replica" ? options.lagMs : 0;
  return (table: TableName, id: number, sinceMs: number, requestId: string | null = null): boolean => {
    const record = mirror.records(table).get(id);
    const text = record && !record.isDeleted ? record.json : null;
    if (isShownSince(company.log.history(table, id), text, sinceMs - lagMs)) return false;
    if (record?.isDeleted === false) return true;
    const deletedBy = deletions.get(`${table} ${id}`) ?? null;
    return ![requestId, deletedBy].some((by) => wasDeniedAlone(mirror, seen, by));
  };
}

/** Could a read show this text (null: that the record is not there) at this moment or later? */
function isShownSince(history: readonly Version[], text: string | null, sinceMs: number): boolean {
  const untilMs = (i: number) => history[i + 1]?.fromMs ?? Infinity;
  if (text === null && (history[0]?.fromMs ?? Infinity) > sinceMs) return true;
  return history.some(({ shown }, i) => {
    if (untilMs(i) <= sinceMs) return false;
    return shown === null ? text === null : isText(shown, text);
  });
}
