import type { RunSummary } from "../../../src/sync/context/run-summary.ts";
import type { Check, MirrorContents, Observation } from "./mirror-contents.ts";

/** Fields that no connector knows, in snake case as in JSON. */
const unknownFields = { clients: ["loyalty", "registry"], invoices: ["campaign"] } as const;

/** I12: each unknown field of a record that was read whole has a column, which holds all of its digits. */
export const lostFields: Check = (mirror) =>
  Object.entries(unknownFields).flatMap(([table, fields]) => {
    const columns = new Set(mirror.column(`SELECT name FROM pragma_table_info('${table}')`));
    return fields.flatMap((field) => {
      const cell = columns.has(field) ? `CAST(t.${field} AS TEXT)` : "NULL";
      const value = `CAST(json_extract(r.json, '$.${field}') AS TEXT)`;
      const sql = `SELECT t.id FROM ${table} t JOIN _raw_${table} r ON r.id = t.id
        WHERE t._deleted_at IS NULL AND t._detail_at IS NOT NULL AND ${cell} IS NOT ${value}`;
      return mirror.column(sql).map((id) => `I12 ${table} ${id}: ${field} is not as it was sent`);
    });
  });

/** I12: an event that leads to no read stands in the change log; I7: once. */
export const keptEvents: Check = ({ db }) => {
  const sql = `SELECT event_id, (SELECT count(*) FROM _change_log WHERE op = 'event' AND before = body)
    FROM _inbox WHERE state = 'kept'`;
  return (db.prepare(sql).raw().all() as [string, number][]).flatMap(([id, count]) => {
    if (count === 0) return [`I12 event ${id}: kept, and not in the change log`];
    return count === 1 ? [] : [`I7 event ${id}: ${count} times in the change log`];
  });
};

/**
 * I12: after a run that read all lists, each record that cannot become a row is in quarantine, as it was shown since the
 * run began, and the run says so.
 */
export function unkeptRecords(
  mirror: MirrorContents,
  { service }: Observation,
  report: RunSummary,
  sinceMs: number,
): string[] {
  const { malformed } = service.company;
  const kept = new Set(mirror.column("SELECT json FROM _quarantine WHERE resource = 'clients'"));
  const fromMs = sinceMs - (service.options.lag === "replica" ? service.options.lagMs : 0);
  return [...malformed.ids("clients")].flatMap((id) => {
    const history = malformed.history("clients", id);
    const isShown =
      (history[0]?.fromMs ?? Infinity) <= fromMs && history.every(({ shown }) => shown !== null);
    if (!isShown) return [];
    const since = history.filter((_, i) => (history[i + 1]?.fromMs ?? Infinity) > fromMs);
    const isKept = since.some(({ shown }) => kept.has(shown?.detail ?? ""));
    const isReported = report.troubles.some(
      ({ kind, resource }) => kind === "quarantined" && resource === "clients",
    );
    return [
      ...(isKept ? [] : [`I12 clients ${id}: malformed, and not in quarantine as it is now`]),
      ...(isReported ? [] : [`I12 clients ${id}: malformed, and the run does not say so`]),
    ];
  });
}
