import type { Db } from "../database.ts";
import type { NewColumn } from "../tables/table-plan.ts";
import type { ChangeLog } from "./change-log.ts";
import type { Fences } from "./fences.ts";
import type { Notices } from "./notices.ts";
import type { PreviewDifferences } from "./preview-differences.ts";
import type { Quarantine } from "./quarantine.ts";

/** What one resource's table needs of the mirror around it. */
export interface TableContext {
  readonly db: Db;
  readonly log: ChangeLog;
  readonly fences: Fences;
  readonly quarantine: Quarantine;
  readonly differences: PreviewDifferences;
  readonly notices: Notices;
  /** Is marked within each transaction that stores one of its numbers. */
  readonly sequence: { markStored(): void };
  /** What the transaction adds for unknown fields: after a rollback, the plans of these tables are wrong. */
  readonly growth: { readonly tables: Set<string>; readonly columns: NewColumn[] };
}
