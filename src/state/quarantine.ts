import { createHash } from "node:crypto";
import { isoTime } from "../base/clock.ts";
import { canonicalId, type RecordId } from "../base/ids.ts";
import type { ReadStamp } from "../store/apply/read-stamp.ts";
import type { Db, Statement } from "../store/database.ts";

/** What could not become a row, kept as it came with the reason (I12). */
export interface Quarantined {
  readonly resource: string;
  readonly recordId: RecordId | null;
  readonly reason: string;
  readonly at: string;
}

export class Quarantine {
  private readonly upsert: Statement;
  private readonly clear: Statement;
  private readonly list: Statement;
  private readonly nameless: Statement;
  private readonly named: Statement;
  /** Resources that may have something in here: most never do, and need not be asked. */
  private readonly resources: Set<string>;

  constructor(db: Db) {
    this.upsert = db.prepare(
      `INSERT INTO _quarantine (resource, key, record_id, reason, at, request_id, json) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (resource, key) DO UPDATE SET reason = excluded.reason, at = excluded.at,
         request_id = excluded.request_id, json = excluded.json
       WHERE reason <> excluded.reason OR json <> excluded.json`,
    );
    this.clear = db.prepare("DELETE FROM _quarantine WHERE resource = ? AND key = ?");
    const named = "SELECT record_id FROM _quarantine WHERE resource = ? AND at < ? AND record_id IS NOT NULL";
    this.named = db.prepare(named).pluck().safeIntegers(true);
    this.nameless = db.prepare("SELECT key FROM _quarantine WHERE resource = ? AND record_id IS NULL");
    this.resources = new Set(
      db.prepare("SELECT DISTINCT resource FROM _quarantine").pluck().all() as string[],
    );
    this.list = db
      .prepare("SELECT resource, record_id AS recordId, reason, at FROM _quarantine ORDER BY resource, key")
      .safeIntegers(true);
  }

  /** One row per record id, or per content where there is no id; gives its key. The same again writes nothing. */
  add(reading: ReadStamp, resource: string, id: RecordId | null, reason: string, json: string): string {
    this.resources.add(resource);
    const key = id === null ? `sha:${createHash("sha1").update(json).digest("hex")}` : String(id);
    this.upsert.run(resource, key, id, reason, isoTime(reading.receivedAtMs), reading.requestId, json);
    return key;
  }

  /** The record came back whole. */
  release(resource: string, id: RecordId): void {
    if (this.resources.has(resource)) this.clear.run(resource, String(id));
  }

  /** Records kept here since before that moment, ISO. */
  idsBefore(resource: string, at: string): RecordId[] {
    if (!this.resources.has(resource)) return [];
    return (this.named.all(resource, at) as bigint[]).map(canonicalId);
  }

  /** Records without an id that are there no more; `keep` are those that are. */
  releaseNameless(resource: string, keep: ReadonlySet<string>): void {
    if (!this.resources.has(resource)) return;
    const keys = this.nameless.pluck().all(resource) as string[];
    for (const key of keys) if (!keep.has(key)) this.clear.run(resource, key);
  }

  all(): Quarantined[] {
    const rows = this.list.all() as Quarantined[];
    return rows.map((one) => ({
      ...one,
      recordId: one.recordId === null ? null : canonicalId(one.recordId),
    }));
  }
}
