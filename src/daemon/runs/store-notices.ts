import type { Log } from "../../base/logger.ts";
import type { StoreNotices } from "../../state/mirror.ts";
import type { RunNotices } from "../../sync/run/run-outcome.ts";

/** What the store notices while a mirror is open: told in the log, and collected for the report of the run under way. */
export interface Notices {
  readonly store: StoreNotices;
  /** For a run that begins now. */
  begin(): Required<RunNotices>;
}

export function createNotices(log: Log): Notices {
  let current = empty();
  return {
    begin: () => (current = empty()),
    store: {
      onNewColumn: ({ table, column }) => {
        current.newColumns.push(`${table}.${column.name}`);
        log.warn(`the service sends a field nobody knew: it is the new column ${table}.${column.name}`);
      },
      onMissing: (resource, paths) =>
        once(current.missingFields, resource, paths, (name) =>
          log.warn(`answers lack a field that was always there: ${name}`),
        ),
      onUnkept: (resource, paths) =>
        once(current.unkeptFields, resource, paths, (name) =>
          log.warn(`a field nobody knew stands in lists only, and is not kept: ${name}`),
        ),
    },
  };
}

function empty(): Required<RunNotices> {
  return { newColumns: [], missingFields: new Set<string>(), unkeptFields: new Set<string>() };
}

function once(
  known: Set<string>,
  resource: string,
  paths: readonly string[],
  tell: (name: string) => void,
): void {
  for (const path of paths) {
    const name = `${resource}.${path}`;
    if (!known.has(name)) tell(name);
    known.add(name);
  }
}
