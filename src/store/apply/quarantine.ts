import { hash } from "node:crypto";
import { isoTime } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import type { ReadStamp } from "./read-stamp.ts";
import { countRows, removeRows, Repository, selectRows, statement } from "../own-tables/statement.ts";

/**
 * Records that cannot become rows, kept as they came (I12).
 *
 * Guarantee: one row per record id, or per content where there is no id; the same record again writes nothing.
 * Source of truth: table `_quarantine`. Only one connection adds to it.
 * Worst outcome of a crash: none of its own; a row commits with the answer that brought it.
 */
export class Quarantine extends Repository {
  /** Resources that may have rows: most never do, and cost no query. */
  private readonly resources = new Set(
    this.selectColumn<string>("SELECT DISTINCT resource FROM _quarantine"),
  );

  /** Keeps a record's JSON and returns the row's key. `id` is null where it has none. @param owner whose record it is */
  add(
    stamp: ReadStamp,
    record: { resource: string; id: RecordId | null; reason: string; json: string },
    owner = "",
  ) {
    const { resource, id, reason, json } = record;
    const sql = `INSERT INTO _quarantine (resource, key, record_id, reason, at, request_id, json)
      VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (resource, key) DO UPDATE SET reason = excluded.reason,
        at = excluded.at, request_id = excluded.request_id, json = excluded.json
      WHERE reason <> excluded.reason OR json <> excluded.json`;
    this.resources.add(resource);
    const key = id === null ? `${owner}sha:${hash("sha1", json, "hex")}` : String(id);
    this.execute(sql, resource, key, id, reason, isoTime(stamp.receivedAtMs), stamp.requestId, json);
    return key;
  }

  /** The record became a row, or was deleted. */
  release(resource: string, id: RecordId): void {
    if (this.resources.has(resource)) this.remove(resource, String(id));
  }

  /** Ids of records that are kept, all or those since before `at`, or since after `now`: the clock was set back. ISO. */
  idsBefore(resource: string, at = "9999", now = at): RecordId[] {
    if (!this.resources.has(resource)) return [];
    const sql =
      "SELECT record_id FROM _quarantine WHERE resource = ? AND (at < ? OR at > ?) AND record_id IS NOT NULL";
    return this.selectIds(sql, resource, at, now);
  }

  /** Removes records without an id, of all owners or of one, except those with a key in `keep`. */
  releaseWithoutId(resource: string, keep: ReadonlySet<unknown>, owner = ""): void {
    if (!this.resources.has(resource)) return;
    const kept = selectRows(this.db, "_quarantine", ["key"], { resource, record_id: null });
    for (const { key } of kept) if (key.startsWith(owner) && !keep.has(key)) this.remove(resource, key);
  }

  count(): number {
    return countRows(this.db, "_quarantine", {});
  }

  /** Each with the reason, and when it came, ISO. */
  all() {
    return everything.exact(this.db);
  }

  private remove(resource: string, key: string): void {
    removeRows(this.db, "_quarantine", { resource, key });
  }
}

const everything = statement((db) => {
  const all = db.selectFrom("_quarantine").select(["resource", "record_id as recordId", "reason", "at"]);
  return all.orderBy("resource").orderBy("key");
});
