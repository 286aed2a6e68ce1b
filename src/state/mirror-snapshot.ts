import { createHmac } from "node:crypto";
import { MirrorError } from "../base/errors.ts";
import type { ConnectorDeclaration } from "../connector/connector-declaration.ts";
import { Changes } from "../store/apply/change-log.ts";
import {
  createRedaction,
  installRedaction,
  redactedColumns,
  redactionOf,
  type RedactJson,
  type RedactRule,
} from "../store/snapshot/redaction.ts";
import { attachBelow } from "../store/snapshot/overlay.ts";
import { createSnapshotViews } from "../store/snapshot/snapshot-views.ts";
import { readLog } from "./log-identity.ts";
import { assertConnector, Meta, pinnedIdentity, readArchivePosition } from "./meta.ts";
import { Parents } from "./parents.ts";
import { Runs } from "./runs.ts";
import { about, documentFiles, type SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import { sourcesOf, type Resource } from "../connector/resource.ts";
import { knowsResource, Records } from "../store/tables/stored-records.ts";
import { planWithUnknown } from "../store/tables/unknown-columns.ts";
import { assertThere, guarded, openDatabase, type Db } from "../store/database.ts";
import { leftOutKey, sweptAt } from "./sweeps.ts";

export interface SnapshotOptions {
  /** The local date that ages are counted against: `2026-11-22`. */
  readonly reportDate: string;
  /** More facts for `_about`: the company's name, the time, the program's version. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Columns whose values are not shown. @default [] */
  readonly redact?: readonly RedactRule[];
}

/** How much of each resource the mirror holds. */
export type CompletenessByName = ReturnType<typeof readCompleteness>;

/**
 * The mirror at one moment, as people read it: live rows under plain names and without own columns, the connector's
 * views, `deleted_records` and `_about`. All are temporary views, which end with the connection.
 *
 * Guarantee: everything read through `db` is of one commit, whatever is written meanwhile. Nothing is written but
 * temporary tables of the connection.
 * Source of truth: the mirror's file.
 * Worst outcome of a crash: none, because nothing was stored.
 */
export type Snapshot = ReturnType<typeof showSnapshot>;

/** Opens a snapshot, also beside a running writer. Throws MirrorError `database` where no mirror can be read. */
export function openSnapshot(
  path: string,
  declaration: ConnectorDeclaration,
  options: SnapshotOptions,
): Snapshot {
  assertThere(path, "there is no mirror yet");
  const db = openDatabase(path, { readonly: true });
  try {
    return guarded(path, () => {
      attachBelow(db, "main");
      db.exec("BEGIN");
      return showSnapshot(db, "main", declaration, options);
    });
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Makes a snapshot on a connection whose transaction has begun, of the mirror attached as `schema`. Throws `identity`, too. */
export function showSnapshot(
  db: Db,
  schema: string,
  declaration: ConnectorDeclaration,
  options: SnapshotOptions,
) {
  const { redact = [] } = options;
  assertConnector(db, declaration);
  const tables: readonly SnapshotTable[] = createSnapshotViews(db, schema, declaration, redact);
  const redaction = redact.length === 0 ? null : redactionNow(db, declaration, redact);
  if (redaction) installRedaction(db, redaction);
  const close = () => void db.close();
  const snapshot = {
    db,
    tables,
    log: readLog(db).id,
    seq: new Changes(db).lastSeq(),
    run: new Runs(db).lastEnded(),
    completeness: readCompleteness(db, declaration),
    /** What other connections need to show the same; null: nothing is redacted. */
    redaction,
    close,
    [Symbol.dispose]: close,
  };
  createAbout(snapshot, options);
  return snapshot;
}

function createAbout(snapshot: Snapshot, { reportDate, facts = {} }: SnapshotOptions): void {
  const { db, log, seq, run, tables, completeness } = snapshot;
  db.exec(
    `CREATE TEMP TABLE ${about.name} (subject TEXT, fact TEXT, value TEXT, PRIMARY KEY (subject, fact))`,
  );
  const insert = db.prepare(`INSERT INTO temp.${about.name} VALUES (?, ?, ?)`);
  const add = (subject: string, values: Readonly<Record<string, string | number | null>>) => {
    for (const [fact, value] of Object.entries(values))
      insert.run(subject, fact, value === null ? null : String(value));
  };
  add("report", { ...facts, report_date: reportDate, log, seq });
  if (run) {
    const { id, mode, startedAt, finishedAt, outcome } = run;
    add("run", { id, mode, outcome, started_at: startedAt, finished_at: finishedAt });
  }
  const archive = readArchivePosition(db);
  if (archive) add(documentFiles.name, { manifest_lines: archive.lines, manifest_head: archive.head });
  for (const [name, { wholeAt }] of completeness) add(name, { fresh_at: wholeAt });
  for (const table of tables) {
    const found = completeness.get(table.parent ?? table.name);
    if (found)
      add(table.name, { without_detail: found.withoutDetail, complete: found.isComplete ? "yes" : "no" });
    const redacted = redactedColumns(table);
    if (redacted.length > 0) add(table.name, { redacted: redacted.join(", ") });
  }
}

function redactionNow(db: Db, declaration: ConnectorDeclaration, rules: readonly RedactRule[]) {
  return redactionOf((resource) => planWithUnknown(db, resource), declaration, rules, redactionKey(db));
}

/** Gives a function that redacts JSON of records, with the columns that their unknown fields have at that moment. */
export function createRecordRedactor(
  db: Db,
  declaration: ConnectorDeclaration,
  rules: readonly RedactRule[],
) {
  let known: { version: unknown; redact: RedactJson } | null = null;
  const redactNow = () => createRedaction(redactionNow(db, declaration, rules)).redactJson;
  return (resource: string, json: string | null): string | null => {
    if (rules.length === 0) return json;
    const version = db.pragma("schema_version", { simple: true });
    if (!known || known.version !== version) known = { version, redact: redactNow() };
    return known.redact(resource, json);
  };
}

/** From the salt of the mirror's identity, which no report and no export holds. The mirror keeps it for good. */
function redactionKey(db: Db): string {
  const { salt } = pinnedIdentity(new Meta(db)) ?? {};
  if (salt !== undefined) return createHmac("sha256", salt).update("redaction").digest("hex");
  throw new MirrorError("database", "what is redacted needs the mirror's key, and no run made one yet", {
    hint: "Run `fintoro-mirror sync` first.",
  });
}

/** Reads how complete each resource is, of a mirror that may not know each resource yet. */
function readCompleteness(db: Db, { resources }: ConnectorDeclaration) {
  const records = new Records(db);
  const parents = new Parents(db);
  const [times, meta] = [new Runs(db).sweptTimes(), new Meta(db)];
  const read = (resource: Resource) => {
    const { name, list } = resource;
    const sources = list.kind === "owned" ? sourcesOf(resource) : [name];
    const withoutDetail = sources.reduce((sum, source) => sum + records.counts(source).provisional, 0);
    const wholeAt = sweptAt(resource, times, resources);
    const lists =
      list.kind === "parents" ? sourcesOf(resource).filter((source) => knowsResource(db, source)) : [];
    const isRead = withoutDetail === 0 && parents.countNeverListed(name, lists) === 0;
    const isComplete = wholeAt !== null && isRead && meta.get(leftOutKey(name)) === null;
    return {
      /** Rows of which only the preview is known. Of records that come with others: rows of those. */
      withoutDetail,
      /** Its list was read whole at least once, and no detail and no list of a parent was left out. */
      isComplete,
      /** When its list was read whole last, ISO; null: never. */
      wholeAt,
    };
  };
  return new Map(resources.map((resource) => [resource.name, read(resource)]));
}
