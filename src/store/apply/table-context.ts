import type { RecordId } from "../../base/ids.ts";
import type { Db } from "../database.ts";
import type { NewColumn } from "../tables/unknown-columns.ts";
import type { ChangeLog } from "./change-log.ts";
import type { Fences } from "./fences.ts";
import type { ReadStamp } from "./read-stamp.ts";

/** Keeps records that cannot become rows (I12); the same record again writes nothing. */
export interface QuarantineStore {
  add(
    stamp: ReadStamp,
    record: {
      readonly resource: string;
      readonly id: RecordId;
      readonly reason: string;
      readonly json: string;
    },
  ): void;
  release(resource: string, id: RecordId): void;
}

/** What one resource's table needs of the mirror around it. */
export interface TableContext {
  readonly db: Db;
  readonly log: ChangeLog;
  readonly fences: Fences;
  readonly quarantine: QuarantineStore;
  /** Called within the transaction when it stores a sequence number. */
  readonly onStamped: () => void;
  /** Called before columns are added for unknown fields: after a rollback, the table's plan is wrong. */
  readonly beforeGrowth: (resource: string) => void;
  readonly onNewColumns: (added: readonly NewColumn[]) => void;
  readonly onMissing: (resource: string, paths: readonly string[]) => void;
  /** Fields that only previews show: they have no column, and no place in `_raw`. */
  readonly onUnkept: (resource: string, paths: readonly string[]) => void;
}
