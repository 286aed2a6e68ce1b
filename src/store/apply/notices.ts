import type { Log } from "../../base/logger.ts";
import type { NewColumn } from "../tables/table-plan.ts";

/** How far the rows of a resource are derived again: records by result. */
export interface Derived {
  readonly resource: string;
  readonly same: number;
  readonly written: number;
  readonly unusable: number;
  readonly isDone: boolean;
}

/** Records between two lines about the progress: a few seconds. */
const recordsPerLine = 20_000;

/**
 * What a mirror notices while it writes. Logs each notice, and collects it for the report of the current run. A missing
 * field is logged once for each run.
 */
export class Notices {
  current = emptyNotices();
  private readonly log: Log;

  constructor(log: Log) {
    this.log = log;
  }

  begin(): void {
    this.current = emptyNotices();
  }

  newColumn({ table, column }: NewColumn): void {
    const name = `${table}.${column.name}`;
    this.current.newColumns.push(name);
    this.log.warn(`the service sends an unknown field: it is kept in the new column ${name}`);
  }

  missing(resource: string, paths: readonly string[]): void {
    for (const name of addNew(this.current.missingFields, resource, paths))
      this.log.warn(`answers lack a field that the connector expects: ${name}`);
  }

  /** Fields that only previews show: they have no column, and no place in `_raw`. */
  unkept(resource: string, paths: readonly string[]): void {
    for (const name of addNew(this.current.unkeptFields, resource, paths))
      this.log.warn(`an unknown field is in lists only, and is not kept: ${name}`);
  }

  /** From now on this column is not compared: previews show it differently from details. */
  uncompared(resource: string, column: string): void {
    const what = "lists and details show a field differently: lists no longer say that it changed";
    this.log.warn(`${what}: ${resource}.${column}`, {
      hint: "Changes of this field alone are found when the details are read again.",
    });
  }

  /** After each transaction in which rows are derived again. */
  derived({ resource, isDone, same, written, unusable }: Derived): void {
    const facts = { compared: same + written + unusable, written };
    if (isDone && unusable > 0)
      this.log.warn(
        `${unusable} records of ${resource} have no usable JSON: their rows stay until they are read again`,
      );
    if (isDone && written > 0) this.log.info(`rows of ${resource} were derived again from their JSON`, facts);
    else if (!isDone && facts.compared % recordsPerLine === 0)
      this.log.info(`rows of ${resource} are being derived again from their JSON`, facts);
  }
}

function emptyNotices() {
  const newColumns: string[] = [];
  return { newColumns, missingFields: new Set<string>(), unkeptFields: new Set<string>() };
}

function addNew(known: Set<string>, resource: string, paths: readonly string[]): string[] {
  const names = [...new Set(paths.map((path) => `${resource}.${path}`))].filter((name) => !known.has(name));
  for (const name of names) known.add(name);
  return names;
}
