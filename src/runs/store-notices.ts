import type { Log } from "../base/logger.ts";
import type { Derived, StoreNotices } from "../store/apply/table-context.ts";
import type { RunNotices } from "../sync/context/run-context.ts";

export type Notices = ReturnType<typeof createNotices>;

/** Logs each notice, and collects it for the report of the current run. A missing field is logged once for each run. */
export function createNotices(log: Log) {
  let current = emptyNotices();
  return {
    /** Starts a new collection, for the report of a run that begins now. */
    begin: () => (current = emptyNotices()),
    store: {
      onNewColumn: ({ table, column }) => {
        current.newColumns.push(`${table}.${column.name}`);
        log.warn(`the service sends an unknown field: it is kept in the new column ${table}.${column.name}`);
      },
      onMissing: (resource, paths) => {
        for (const name of addNew(current.missingFields, resource, paths))
          log.warn(`answers lack a field that the connector expects: ${name}`);
      },
      onUnkept: (resource, paths) => {
        for (const name of addNew(current.unkeptFields, resource, paths))
          log.warn(`an unknown field is in lists only, and is not kept: ${name}`);
      },
      onUncompared: (resource, column) => {
        const name = `${resource}.${column}`;
        log.warn(`lists and details show a field differently: lists no longer say that it changed: ${name}`, {
          hint: "Changes of this field alone are found when the details are read again.",
        });
      },
      onDerived: (derived) => logDerived(log, derived),
    } satisfies StoreNotices,
  };
}

/** Records between two lines about the progress: a few seconds. */
const recordsPerLine = 20_000;

function logDerived(log: Log, { resource, isDone, ...counts }: Derived): void {
  const compared = counts.same + counts.written + counts.unusable;
  const { written, unusable } = counts;
  if (isDone && unusable > 0)
    log.warn(
      `${unusable} records of ${resource} have no usable JSON: their rows stay until they are read again`,
    );
  if (isDone && written > 0)
    log.info(`rows of ${resource} were derived again from their JSON`, { compared, written });
  else if (!isDone && compared % recordsPerLine === 0)
    log.info(`rows of ${resource} are being derived again from their JSON`, { compared, written });
}

function emptyNotices(): RunNotices {
  return { newColumns: [], missingFields: new Set<string>(), unkeptFields: new Set<string>() };
}

function addNew(known: Set<string>, resource: string, paths: readonly string[]): string[] {
  const names = [...new Set(paths.map((path) => `${resource}.${path}`))].filter((name) => !known.has(name));
  for (const name of names) known.add(name);
  return names;
}
