import { silentLog, type Log } from "../../base/logger.ts";
import type { Db } from "../database.ts";
import type { NewColumn } from "../tables/table-plan.ts";
import { ChangeLog } from "./change-log.ts";
import { Fences } from "./fences.ts";
import { Notices } from "./notices.ts";
import { PreviewDifferences } from "./preview-differences.ts";
import { Quarantine } from "./quarantine.ts";

/** What one resource's table needs of the mirror around it. */
export class TableContext {
  readonly db: Db;
  readonly log: ChangeLog;
  readonly notices: Notices;
  readonly quarantine: Quarantine;
  readonly differences: PreviewDifferences;
  readonly fences = new Fences();
  /** Is marked within each transaction that stores one of its numbers. */
  readonly sequence = { markStored: (): void => undefined };
  /** What the transaction adds for unknown fields: after a rollback, the plans of these tables are wrong. */
  readonly growth = { tables: new Set<string>(), columns: [] as NewColumn[] };

  /** @param firstSeq no change gets a lower number any more */
  constructor(db: Db, log: Log = silentLog, firstSeq = 1) {
    this.db = db;
    this.log = new ChangeLog(db, firstSeq);
    this.notices = new Notices(log);
    this.quarantine = new Quarantine(db);
    this.differences = new PreviewDifferences(db);
  }
}
