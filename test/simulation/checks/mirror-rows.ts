import type { Db } from "../../support/compare.ts";
import type { TableName } from "../service/service-types.ts";

/** What the mirror holds of one record, deleted ones too. */
export interface MirrorRecord {
  readonly id: number;
  readonly isDeleted: boolean;
  readonly isProvisional: boolean;
  /** Null where there is a row and no JSON. */
  readonly json: string | null;
  /** Null where the last read is not remembered. */
  readonly kind: string | null;
  /** Does the remembered read say that the record is gone? */
  readonly gone: number | null;
}

/** All records of a table, in the order of ids. */
export function recordsOf(db: Db, table: TableName): MirrorRecord[] {
  const rows = db
    .prepare(
      `SELECT t.id, t._deleted_at IS NOT NULL, t._detail_at IS NULL, r.json, f.source, f.gone FROM "${table}" t
       LEFT JOIN "_raw_${table}" r ON r.id = t.id LEFT JOIN "_fence_${table}" f ON f.id = t.id ORDER BY t.id`,
    )
    .raw()
    .all() as [number, number, number, string | null, string | null, number | null][];
  return rows.map(([id, isDeleted, isProvisional, json, kind, gone]) => {
    return { id, isDeleted: isDeleted === 1, isProvisional: isProvisional === 1, json, kind, gone };
  });
}
