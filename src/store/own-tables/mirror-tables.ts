import type { Selectable } from "kysely";
import * as t from "./column-kinds.ts";

const keyText = t.key(t.text);
const maybeText = t.maybe(t.text);
const zero = t.withDefault(t.integer, 0);

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
  _meta: { key: keyText, value: t.text },
  _runs: {
    id: t.rowNumber,
    mode: t.wordOf<"incremental" | "full" | "quick">(),
    started_at: t.text,
    ...t.columnsOf(maybeText, "finished_at", "outcome"),
    resumes: t.maybe(t.integer),
    pid: t.integer,
    ...t.columnsOf(t.withDefault(t.text, "{}"), "swept", "report"),
  },
  _reads: {
    id: t.rowNumber,
    at: t.text,
    cause: t.wordOf<"sweep" | "hydrate" | "webhook" | "confirm" | "repair" | "schema">(),
    request_id: maybeText,
    run: t.maybe(t.integer),
  },
  /** `before`: the JSON of the record as it was before; what it was after stands in the change `next_seq`. */
  _change_log: {
    seq: t.rowNumber,
    resource: t.text,
    record_id: t.bigId,
    op: t.text,
    read: t.integer,
    before: maybeText,
    next_seq: t.maybe(t.integer),
  },
  /** `what`: `added`, or the type of JSON that came instead. */
  _schema_changes: {
    id: t.rowNumber,
    ...t.columnsOf(t.text, "at", "table_name", "column_name", "path", "what"),
    record_id: t.maybe(t.bigId),
    type: maybeText,
  },
  /** The version of the columns and decoding that made a table's rows; `next_id` while they are made again. */
  _derivations: { resource: keyText, version: t.text, next_id: t.maybe(t.bigId) },
  /** Records of which a preview and its detail show a field differently. */
  _preview_differences: { ...t.columnsOf(keyText, "resource", "field"), record_id: t.key(t.bigId) },
  _quarantine: {
    ...t.columnsOf(keyText, "resource", "key"),
    record_id: t.maybe(t.bigId),
    ...t.columnsOf(t.text, "reason", "at", "json"),
    request_id: maybeText,
  },
  /** A lease is known by its item's id. Within a lane, lower ranks are read first. */
  _work: {
    id: t.uniqueNumber,
    ...t.columnsOf(t.text, "resource", "target", "reason"),
    /** `confirm` is a detail read of a record that a list no longer shows. */
    kind: t.wordOf<"list" | "detail" | "child" | "confirm">(),
    ...t.columnsOf(t.integer, "lane", "due_ms", "dirty_seq"),
    ...t.columnsOf(zero, "rank", "attempts"),
    /** `dead`: set aside. `held`: not in this run. Both keep their reason. */
    state: t.withDefault(t.wordOf<"ready" | "dead" | "held">(), "ready"),
    ...t.columnsOf(maybeText, "payload", "error"),
  },
  /** Flags are 0 or 1. `earlier`: what readings showed that count together with this one. */
  _listings: {
    ...t.columnsOf(keyText, "resource", "variant"),
    ...t.columnsOf(t.integer, "run", "attempt", "started_seq", "per_page", "pages", "total", "steady"),
    started_at: t.text,
    ...t.columnsOf(zero, "idle", "tails", "overstated"),
    earlier: maybeText,
  },
  _listing_pages: {
    ...t.columnsOf(keyText, "resource", "variant"),
    page: t.key(t.integer),
    ids: t.text,
    total: t.maybe(t.integer),
    without_id: t.withDefault(t.text, ""),
  },
  _parents: {
    ...t.columnsOf(keyText, "resource", "parent_resource"),
    parent_id: t.key(t.bigId),
    ...t.columnsOf(t.integer, "listed_at", "run"),
  },
  /**
   * The signed id is kept for ever, so that a delivery repeated years later is known. `seq` is the order of arrival: an
   * event is written at the end only. Its id is filed later, for many at once (state/inbox/event-ids): an index of the
   * ids themselves would cost every delivery a page. A body that was pruned is a number: its length.
   */
  _inbox: {
    seq: t.rowNumber,
    ...t.columnsOf(t.text, "event_id", "received_at"),
    ...t.columnsOf(maybeText, "type", "resource_type", "occurred_at", "done_at", "resource", "target"),
    resource_id: t.maybe(t.bigId),
    /**
     * `waiting`: its read is in the queue. `kept`: there is nothing to read. `excluded`: its table is not mirrored.
     * `unknown`: an event of a type or shape that the connector does not know. `unreadable`: signed, but no JSON object.
     */
    state: t.wordOf<"waiting" | "done" | "kept" | "excluded" | "unknown" | "unreadable">(),
    dirty_seq: t.maybe(t.integer),
    /** What the read of its record changed. */
    outcome: t.maybe(t.wordOf<"inserted" | "updated" | "unchanged" | "deleted" | "absent" | "quarantined">()),
    ...t.columnsOf(maybeText, "request_id", "problem"),
    body: t.bytesOrText,
  },
  _inbox_ids: t.columnsOf(t.key(t.integer), "hash", "seq"),
  /** When deliveries could be received. */
  _receiver: { id: t.rowNumber, ...t.columnsOf(t.integer, "started_ms", "seen_ms"), ended: maybeText },
  /** The stored files of records as they are now. */
  document_files: {
    document: t.text,
    document_id: t.bigId,
    kind: t.wordOf<"pdf" | "attachment">(),
    path: keyText,
    size_bytes: t.integer,
    ...t.columnsOf(t.text, "sha256", "fetched_at"),
  },
  /** For which state of a record its files were asked. `problem`: why there are none; null: they are stored. */
  _file_reads: {
    document: keyText,
    document_id: t.key(t.bigId),
    record_sha: t.text,
    read_at: t.integer,
    problem: maybeText,
  },
} satisfies Readonly<Record<string, Readonly<Record<string, t.Column<unknown>>>>>;

type TablesOf<S> = {
  [T in keyof S]: { [C in keyof S[T]]: S[T][C] extends t.Column<infer V> ? V : never };
};

/** The mirror's own tables as they are now. */
export type MirrorTables = TablesOf<typeof firstTables>;

/** A row of an own table as it is read. */
export type OwnRow<T extends keyof MirrorTables> = Selectable<MirrorTables[T]>;
