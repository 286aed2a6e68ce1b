import { sql, type ColumnDefinitionBuilder, type Generated, type RawBuilder, type Selectable } from "kysely";
import type { RecordId } from "../../base/ids.ts";
import type { WorkKind } from "../../base/lane.ts";
import type { ScalarType } from "../../connector/record-schema.ts";

/** A column as SQLite declares it. `T`: what its values are here; no value is ever set. */
export interface OwnColumn<T> {
  readonly type: "text" | "integer" | RawBuilder<unknown>;
  readonly define: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
  /** Is it a part of the key, by which the table is stored? @default false */
  readonly isKey?: boolean;
  readonly values?: T;
}

function required<T>(type: OwnColumn<T>["type"]): OwnColumn<T> {
  return { type, define: (column) => column.notNull() };
}

const text = required<string>("text");
const integer = required<number>("integer");
/** The id of a record, which may be beyond 2^53. */
const bigId = required<RecordId>("integer");
const bytesOrText = required<string | Buffer | number>(sql`any`);
const rowNumber: OwnColumn<Generated<number>> = { type: "integer", define: (one) => one.primaryKey() };
/** The same; a number is never given again. */
const uniqueNumber: OwnColumn<Generated<number>> = {
  type: "integer",
  define: (column) => column.primaryKey().autoIncrement(),
};

function wordOf<T extends string>(): OwnColumn<T> {
  return required("text");
}

function maybe<T>({ type }: OwnColumn<T>): OwnColumn<T | null> {
  return { type, define: (column) => column };
}

function key<T>(column: OwnColumn<T>): OwnColumn<T> {
  return { ...column, isKey: true };
}

function withDefault<T>({ type }: OwnColumn<T>, value: T): OwnColumn<Generated<T>> {
  return { type, define: (column) => column.notNull().defaultTo(value) };
}

function columnsOf<T, N extends string>(column: OwnColumn<T>, ...names: N[]): Record<N, OwnColumn<T>> {
  return Object.fromEntries(names.map((name) => [name, column])) as Record<N, OwnColumn<T>>;
}

const keyText = key(text);
const maybeText = maybe(text);
const zero = withDefault(integer, 0);

/**
 * The mirror's own tables as the first migration makes them; the types of all statements follow from it. Times `_at` are
 * ISO, those of `_ms` and of reads epoch milliseconds. Tables of resources follow the connector's fields (`tables/`).
 *
 * Statements stay SQL text in a `Repository` where they name tables of resources (parents, scrub candidates, pending
 * files, stored records), an index or a recursive search in one (lease order), a row in conflict (work queue), keys of
 * JSON (runs, retention), or a window (change log check): kysely makes these no clearer.
 */
export const firstTables = {
  /** Small facts about the mirror itself, as JSON. */
  _meta: { key: keyText, value: text },
  _runs: {
    id: rowNumber,
    mode: wordOf<"incremental" | "full" | "quick">(),
    started_at: text,
    ...columnsOf(maybeText, "finished_at", "outcome"),
    resumes: maybe(integer),
    pid: integer,
    ...columnsOf(withDefault(text, "{}"), "swept", "report"),
  },
  _reads: {
    id: rowNumber,
    at: text,
    cause: wordOf<"sweep" | "hydrate" | "webhook" | "confirm" | "repair" | "schema">(),
    request_id: maybeText,
    run: maybe(integer),
  },
  /** `before`: the JSON of the record as it was before; what it was after stands in the change `next_seq`. */
  _change_log: {
    seq: rowNumber,
    resource: text,
    record_id: bigId,
    op: text,
    read: integer,
    before: maybeText,
    next_seq: maybe(integer),
  },
  /** `what`: `added`, or the type of JSON that came instead. */
  _schema_changes: {
    id: rowNumber,
    ...columnsOf(text, "at", "table_name", "column_name", "path", "what"),
    record_id: maybe(bigId),
    /** Of an unknown field's column: the type of what was seen so far. */
    type: maybe(wordOf<ScalarType>()),
  },
  /** The version of the columns and decoding that made a table's rows; `next_id` while they are made again. */
  _derivations: { resource: keyText, version: text, next_id: maybe(bigId) },
  /** Records of which a preview and its detail show a field differently. */
  _preview_differences: { ...columnsOf(keyText, "resource", "field"), record_id: key(bigId) },
  _quarantine: {
    ...columnsOf(keyText, "resource", "key"),
    record_id: maybe(bigId),
    ...columnsOf(text, "reason", "at", "json"),
    request_id: maybeText,
  },
  /** A lease is known by its item's id. Within a lane, lower ranks are read first. */
  _work: {
    id: uniqueNumber,
    ...columnsOf(text, "resource", "target", "reason"),
    kind: wordOf<WorkKind>(),
    ...columnsOf(integer, "lane", "due_ms", "dirty_seq"),
    ...columnsOf(zero, "rank", "attempts"),
    /** `dead`: set aside. `held`: not in this run. Both keep their reason. */
    state: withDefault(wordOf<"ready" | "dead" | "held">(), "ready"),
    ...columnsOf(maybeText, "payload", "error"),
  },
  /** Flags are 0 or 1. `earlier`: what readings showed that count together with this one. */
  _listings: {
    ...columnsOf(keyText, "resource", "variant"),
    ...columnsOf(integer, "run", "attempt", "started_seq", "per_page", "pages", "total", "steady"),
    started_at: text,
    ...columnsOf(zero, "idle", "tails", "overstated"),
    earlier: maybeText,
  },
  _listing_pages: {
    ...columnsOf(keyText, "resource", "variant"),
    page: key(integer),
    ids: text,
    total: maybe(integer),
    without_id: withDefault(text, ""),
  },
  _parents: {
    ...columnsOf(keyText, "resource", "parent_resource"),
    parent_id: key(bigId),
    ...columnsOf(integer, "listed_at", "run"),
  },
  /**
   * The signed id is kept for ever, so that a delivery repeated years later is known. `seq` is the order of arrival: an
   * event is written at the end only. Its id is filed later, for many at once (state/inbox/event-ids): an index of the
   * ids themselves would cost every delivery a page. A body that was pruned is a number: its length.
   */
  _inbox: {
    seq: rowNumber,
    ...columnsOf(text, "event_id", "received_at"),
    ...columnsOf(maybeText, "type", "resource_type", "occurred_at", "done_at", "resource", "target"),
    resource_id: maybe(bigId),
    /**
     * `waiting`: its read is in the queue. `kept`: there is nothing to read. `excluded`: its table is not mirrored.
     * `unknown`: an event of a type or shape that the connector does not know. `unreadable`: signed, but no JSON object.
     */
    state: wordOf<"waiting" | "done" | "kept" | "excluded" | "unknown" | "unreadable">(),
    dirty_seq: maybe(integer),
    /** What the read of its record changed. */
    outcome: maybe(wordOf<"inserted" | "updated" | "unchanged" | "deleted" | "absent" | "quarantined">()),
    ...columnsOf(maybeText, "request_id", "problem"),
    body: bytesOrText,
  },
  _inbox_ids: columnsOf(key(integer), "hash", "seq"),
  /** When deliveries could be received. */
  _receiver: { id: rowNumber, ...columnsOf(integer, "started_ms", "seen_ms"), ended: maybeText },
  /** The stored files of records as they are now. */
  document_files: {
    document: text,
    document_id: bigId,
    kind: wordOf<"pdf" | "attachment">(),
    path: keyText,
    size_bytes: integer,
    ...columnsOf(text, "sha256", "fetched_at"),
  },
  /** For which state of a record its files were asked. `problem`: why there are none; null: they are stored. */
  _file_reads: {
    document: keyText,
    document_id: key(bigId),
    record_sha: text,
    read_at: integer,
    problem: maybeText,
  },
  /** Packages of months that were made: what each showed is the mirror at its position. `files`: hashes by path, as JSON. */
  _hand_overs: {
    id: rowNumber,
    month: text,
    position: integer,
    ...columnsOf(text, "log", "at", "command", "files"),
  },
} satisfies Readonly<Record<string, Readonly<Record<string, OwnColumn<unknown>>>>>;

type TablesOf<S> = {
  [T in keyof S]: { [C in keyof S[T]]: S[T][C] extends OwnColumn<infer V> ? V : never };
};

export type MirrorTables = TablesOf<typeof firstTables>;

export type OwnRow<T extends keyof MirrorTables> = Selectable<MirrorTables[T]>;
