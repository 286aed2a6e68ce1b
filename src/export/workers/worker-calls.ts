import { assert } from "../../base/errors.ts";
import type { Db } from "../../store/database.ts";
import { installRedaction, type Redaction } from "../../store/snapshot/redacted-records.ts";
import type { KeyRange } from "../columns/row-source.ts";
import { partsSql, type LaidOutPart } from "../plan/export-plan.ts";
import { createEncoder, stateOf, type EncodedRows, type EncodeJob, type Encoder } from "./encoder.ts";

/** What the pool asks of a worker, done through the connection `db`. */
export function createCalls(db: Db) {
  let encoder: Encoder | null = null;
  const execute = (statements: readonly string[]) => {
    for (const statement of statements) db.exec(statement);
  };
  return {
    /** Begins a read transaction, after ending the last one. Returns its `stateOf`. */
    begin: () => {
      if (db.inTransaction) db.exec("ROLLBACK");
      db.exec("BEGIN");
      // A transaction sees the state of its first read.
      return stateOf(db);
    },
    execute,
    /** Makes the functions that redact. Without this call none are needed. */
    redact: (redaction: Redaction) => installRedaction(db, redaction),
    /** Opens a job in place of the last one. Returns the parts that the setup laid out; none without a setup. */
    open: (job: EncodeJob): readonly LaidOutPart[] => {
      encoder = null;
      execute(job.setup);
      encoder = createEncoder(db, job);
      return job.setup.length > 0 ? (db.prepare(partsSql).raw(true).all() as LaidOutPart[]) : [];
    },
    /** The rows of a query on what the job laid out. */
    query: (sql: string) => db.prepare(sql).raw(true).all() as (readonly unknown[])[],
    /** Encodes rows of the open job. @throws TypeOverflow */
    encode: (range: KeyRange): EncodedRows => {
      assert(encoder, "a job is opened before its rows are encoded");
      return encoder(range);
    },
  };
}

export type WorkerCalls = ReturnType<typeof createCalls>;
