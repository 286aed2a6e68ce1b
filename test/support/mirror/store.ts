import type { RecordId } from "../../../src/base/ids.ts";
import { Changes, type Change } from "../../../src/store/apply/change-log.ts";
import type { Mirror } from "../../../src/state/mirror.ts";
import type {
  Cause,
  FullSource,
  ListedAs,
  Overrides,
  PreviewResult,
  ReadStamp,
} from "../../../src/store/apply/read-stamp.ts";
import type { Db } from "../../../src/store/database.ts";

/** 2026-03-01T00:00:00Z, where every test's wall clock begins. */
export const startMs = Date.UTC(2026, 2, 1);

/** A request in flight; `end` is called when its answer is applied. */
export function send(mirror: Mirror) {
  const sentSeq = mirror.sequence.next();
  mirror.fences.begin(sentSeq);
  const answer = { cause: "sweep", sentSeq, receivedAtMs: startMs, requestId: "req-1", run: 1 } as const;
  const receive = (more: Partial<ReadStamp> = {}): ReadStamp => ({
    ...answer,
    receivedSeq: mirror.sequence.next(),
    ...more,
  });
  return { receive, end: () => mirror.fences.end(sentSeq) };
}

/** An answer that came with nothing else on its way. */
export function stampOf(mirror: Mirror, more: Partial<ReadStamp> = {}): ReadStamp {
  const flight = send(mirror);
  const answer = flight.receive(more);
  flight.end();
  return answer;
}

export interface PutOptions {
  readonly source?: FullSource;
  readonly listed?: ListedAs;
  readonly stamp?: ReadStamp;
  readonly cause?: Cause;
  readonly overrides?: Overrides;
}

/** Applies one record in a transaction of its own. A text is taken as the service wrote it. */
export function put(mirror: Mirror, resource: string, record: object | string, options: PutOptions = {}) {
  const { id, text } = sent(record);
  return putAs(mirror, resource, id, text, options);
}

/** A record as the service wrote it, with its id. */
function sent(record: object | string) {
  const text = typeof record === "string" ? record : JSON.stringify(record);
  return { text, id: (JSON.parse(text) as { id: number }).id };
}

export function putAs(
  mirror: Mirror,
  resource: string,
  id: RecordId,
  text: string,
  options: PutOptions = {},
) {
  const { source = "list", listed, overrides, cause = source === "list" ? "sweep" : "hydrate" } = options;
  const answer = options.stamp ?? stampOf(mirror, { cause });
  return mirror.apply(() =>
    mirror.table(resource).put({ stamp: answer, id, slice: Buffer.from(text), source, listed, overrides }),
  );
}

export function remove(mirror: Mirror, resource: string, id: RecordId, answer?: ReadStamp): string {
  const judged = answer ?? stampOf(mirror, { cause: "confirm" });
  return mirror.apply(() => mirror.table(resource).remove(judged, id));
}

/** Applies a preview; `read` is why its record's detail must be read. */
export function putPreview(
  mirror: Mirror,
  resource: string,
  record: object | string,
  stamp: ReadStamp = stampOf(mirror),
): PreviewResult {
  const { id, text } = sent(record);
  return mirror.apply(() => mirror.table(resource).putPreview({ stamp, id, slice: Buffer.from(text) }));
}

export type SqlRow = Readonly<Record<string, unknown>>;

export function rows(mirror: Mirror | { readonly db: Db }, sql: string, ...parameters: unknown[]): SqlRow[] {
  return mirror.db.prepare(sql).all(...parameters) as SqlRow[];
}

/** Each row as text, its cells after one another: `1 red`. */
export function texts(mirror: Mirror | { readonly db: Db }, sql: string, ...parameters: unknown[]): string[] {
  return rows(mirror, sql, ...parameters).map((found) => Object.values(found).map(String).join(" "));
}

export function row(mirror: Mirror, table: string, id: RecordId): SqlRow | undefined {
  return mirror.db.prepare(`SELECT * FROM "${table}" WHERE id = ?`).get(id) as SqlRow | undefined;
}

/** Every row that the change log still has, read some at a time as `changes` does. */
export function allChanges({ db }: Pick<Mirror, "db">, resource: string | null = null, most = 7): Change[] {
  const reader = new Changes(db);
  const resources = resource === null ? null : [resource];
  const all: Change[] = [];
  for (let part = reader.after(reader.firstSeq() - 1, resources, most); part.length > 0;) {
    all.push(...part);
    part = reader.after(part.at(-1)?.seq ?? 0, resources, most);
  }
  return all;
}

/** The records after every change from the first: `people:1` -> JSON. */
export function replay(changes: readonly Change[]): Map<string, string> {
  const held = new Map<string, string>();
  for (const { resource, recordId, op, after } of changes) {
    const key = `${resource}:${recordId}`;
    // An event about something without a route is no record.
    if (op === "event") continue;
    if (op === "delete") held.delete(key);
    else held.set(key, after ?? "nothing");
  }
  return held;
}

/** `next_seq` leads from each change of a record to its next one, and from the last nowhere: what does not. */
export function brokenLinks(mirror: Mirror): SqlRow[] {
  const next = "lead(seq) OVER (PARTITION BY resource, record_id ORDER BY seq) AS next";
  const linked = `SELECT seq, next_seq, ${next} FROM _change_log`;
  return rows(mirror, `SELECT * FROM (${linked}) WHERE next_seq IS NOT next`);
}

/** The live records by the rows people see, with the JSON they were made from. */
export function liveRecords(mirror: Mirror, resource: string): Map<string, string> {
  const sql = `SELECT '${resource}:' || t.id AS key, w.json AS json FROM "${resource}" t
    JOIN _raw w ON w.resource = '${resource}' AND w.id = t.id WHERE t._deleted_at IS NULL`;
  return new Map(rows(mirror, sql).map(({ key, json }) => [String(key), String(json)]));
}

/** Rows written since the connection was opened; what wrote nothing leaves it alone. */
export function written(mirror: Mirror): number {
  return Number(mirror.db.prepare("SELECT total_changes()").pluck().get());
}
