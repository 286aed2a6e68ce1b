import type { Db } from "../database.ts";
import type { NewColumn } from "../tables/table-plan.ts";
import type { ChangeLog } from "./change-log.ts";
import type { Fences } from "./fences.ts";
import type { PreviewDifferences } from "./preview-differences.ts";
import type { Quarantine } from "./quarantine.ts";

/** How far the rows of a resource are derived again: records by result. */
export interface Derived {
  readonly resource: string;
  readonly same: number;
  readonly written: number;
  readonly unusable: number;
  readonly isDone: boolean;
}

/** What the mirror notices while it writes, for the log and the report. */
export interface StoreNotices {
  readonly onNewColumn?: (column: NewColumn) => void;
  readonly onMissing?: (resource: string, paths: readonly string[]) => void;
  /** Fields that only previews show: they have no column, and no place in `_raw`. */
  readonly onUnkept?: (resource: string, paths: readonly string[]) => void;
  /** From now on this column is not compared: previews show it differently from details. */
  readonly onUncompared?: (resource: string, column: string) => void;
  /** After each transaction in which rows are derived again. */
  readonly onDerived?: (derived: Derived) => void;
}

/** What one resource's table needs of the mirror around it. */
export interface TableContext {
  readonly db: Db;
  readonly log: ChangeLog;
  readonly fences: Fences;
  readonly quarantine: Quarantine;
  readonly differences: PreviewDifferences;
  readonly notices: StoreNotices;
  /** Is marked within each transaction that stores one of its numbers. */
  readonly sequence: { markStored(): void };
  /** What the transaction adds for unknown fields: after a rollback, the plans of these tables are wrong. */
  readonly growth: { readonly tables: Set<string>; readonly columns: NewColumn[] };
}
