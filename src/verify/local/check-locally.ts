import { messageOf, valueOr } from "../../base/errors.ts";
import { firstId } from "../../base/ids.ts";
import { lanes, type WorkKind } from "../../base/lane.ts";
import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { Resource } from "../../connector/resource.ts";
import { requestFor } from "../../extract/work-request.ts";
import { StateCheck, LastChanges, openTables } from "../../state/checks/state-check.ts";
import { EventIds } from "../../state/inbox/event-ids.ts";
import { Inbox } from "../../state/inbox/inbox.ts";
import { Meta } from "../../state/meta.ts";
import { databaseError, guarded, isOfCode, openDatabase, type Db } from "../../store/database.ts";
import { assertReadable, migrate } from "../../store/migrations/migrate.ts";
import type { OwnRow } from "../../store/own-tables/mirror-tables.ts";
import { judgedParts } from "./judge-records.ts";
import type { Found, JudgeOptions, LocalDifference, NamedRecord } from "./judge-records.ts";
import { columnNames } from "../../store/tables/table-layout.ts";

export interface ResourceCheck {
  mirror: number;
  /** Records without a row. */
  readonly missing: NamedRecord[];
  /** Rows without a record. */
  readonly extra: NamedRecord[];
  readonly different: LocalDifference[];
  unnamed: number;
}

/** Damage that is no record's. */
interface LocalProblem {
  readonly kind: "integrity" | "schema" | "queue" | "inbox" | "listing" | "sequence" | "change log";
  readonly message: string;
  readonly hint: string;
}

export type LocalCheck = ReturnType<MirrorCheck["result"]>;

/** Named for one resource and list, so that a wholly wrong table fits into memory; one more is looked for. */
const mostNamed = 1_000;
const mostFound = mostNamed + 1;
const mostOthers = 10;

const repairHint = "Run `verify --local --repair`.";

/**
 * Checks a mirror against itself: each record's row, child rows, JSON, fence and changes against each other. Sends no
 * request and writes nothing, so it may run beside the writer; everything is of one commit.
 *
 * @throws MirrorError `database` where there is no mirror, `stopped` when the signal aborted
 */
export async function checkLocally(
  path: string,
  declaration: ConnectorDeclaration,
  options: JudgeOptions = {},
) {
  const db = openDatabase(path, { readonly: true });
  try {
    db.exec("BEGIN");
    const check = new MirrorCheck(db, declaration, options);
    if (check.checkFile()) {
      await check.checkRecords();
      check.checkState();
    }
    return check.result();
  } finally {
    guarded(path, () => db.close());
  }
}

/** Is it an index that is damaged, and not the rows? */
export function isOfIndex(line: string): boolean {
  return / index /.test(line);
}

class MirrorCheck {
  private readonly db: Db;
  private readonly declaration: ConnectorDeclaration;
  private readonly options: JudgeOptions;
  private readonly problems: LocalProblem[] = [];
  private readonly resources: Record<string, ResourceCheck> = {};
  private records = 0;

  constructor(db: Db, declaration: ConnectorDeclaration, options: JudgeOptions) {
    this.db = db;
    this.declaration = declaration;
    this.options = options;
  }

  result() {
    const { problems, resources, records } = this;
    const found = Object.values(resources).flatMap((one) => [...one.missing, ...one.extra, ...one.different]);
    const match = problems.length === 0 && found.length === 0;
    return { match, records, resources, problems };
  }

  /** False: nothing more can be read. */
  checkFile(): boolean {
    const lines = integrityOf(this.db);
    const rest = "Damaged indexes are made anew by `--repair`.";
    const hint = `Restore a backup, or move the file away and sync anew. ${rest}`;
    for (const message of lines) this.problems.push({ kind: "integrity", message, hint });
    if (!lines.every(isOfIndex)) return false;
    assertReadable(this.db);
    const absent = absentOwnTables(this.db);
    for (const { type, name } of absent) {
      const message = `the ${type} ${name} is not there or lacks a column.`;
      this.problems.push({ kind: "schema", message, hint: repairHint });
    }
    return absent.every(({ type }) => type === "index");
  }

  async checkRecords(): Promise<void> {
    const { tables, unreadable } = openTables(this.db, this.declaration);
    const last = new LastChanges(this.db);
    const hint =
      "Run `verify --local --repair` or `sync`: opening the mirror for writing derives them again.";
    for (const { resource, why } of unreadable) {
      const message = `${resource}: the rows cannot be compared: ${why}.`;
      this.problems.push({ kind: "schema", message, hint });
    }
    for (const { name } of tables.map(({ resource }) => resource)) {
      const check = this.of(name);
      for await (const part of judgedParts(() => tables, last, name, "compared", this.options)) {
        for (const { resource, found } of part.wrong) for (const one of found) this.add(resource, one);
        check.mirror += part.live;
        this.records += part.records;
      }
      for (const id of last.unheld(name, firstId, mostFound)) this.add(name, { list: "missing", id });
    }
  }

  /** Checks what stands beside the records: change log, queue, inbox, listings, sequence. */
  checkState(): void {
    const { db, declaration } = this;
    const check = new StateCheck(db);
    for (const { resource, recordId: id, next, following, op } of check.brokenChanges(mostFound)) {
      const [mirror, raw] = next === following ? [op, null] : [next, following];
      this.add(resource, { list: "different", id, field: "_changes", mirror, raw });
    }
    this.addOthers("change log", "changes name reads that are not there", check.lostReads(mostFound));
    const names = declaration.resources.map(({ name }) => name);
    const odd = [...oddWork(check, declaration)].map(
      ({ row, why }) => `${row.resource} ${row.target} (${why})`,
    );
    this.addOthers("queue", "work that nothing can read", odd);
    this.addOthers("inbox", "events wait for a read that is not queued", new Inbox(db).lost(names));
    this.addOthers("inbox", "events in a state that does not exist", check.oddEvents());
    this.addOthers("inbox", "events that are stored more than once", check.repeatedEvents(mostFound));
    const hint = "Restore a backup, or sync into a new folder.";
    const facts = check.oddFacts();
    this.addOthers("schema", "own facts that are not there, or no JSON of their kind", facts, hint);
    // The rest is judged by them.
    if (facts.length > 0) return;
    const misfiled = new EventIds(db).misfiled();
    this.addOthers("inbox", "events that are not filed under their id", misfiled === null ? [] : [misfiled]);
    const lists = check.brokenListings().map(({ resource, variant }) => `${resource} ${variant}`);
    this.addOthers("listing", "open lists without their pages, or pages without their list", lists);
    const received = check.lastReceivedSeq(names);
    if (received > Number(new Meta(db).get("seq") ?? 0))
      this.addOthers("sequence", "reads were numbered beyond the end of the sequence", [received]);
  }

  private of(resource: string): ResourceCheck {
    return (this.resources[resource] ??= { mirror: 0, missing: [], extra: [], different: [], unnamed: 0 });
  }

  private add(resource: string, { list, ...named }: Found): void {
    const check = this.of(resource);
    // Each list holds what its name says: the union of `Found` pairs them.
    const into = check[list] as NamedRecord[];
    if (into.length < mostNamed) into.push(named);
    else check.unnamed += 1;
  }

  private addOthers(
    kind: LocalProblem["kind"],
    what: string,
    names: readonly (string | number)[],
    hint = repairHint,
  ): void {
    if (names.length === 0) return;
    const shown = names.slice(0, mostOthers).join(", ");
    const count = names.length >= mostFound ? `more than ${mostNamed}` : String(names.length);
    const some = names.length > mostOthers ? `${count} in all, ${shown}, …` : shown;
    this.problems.push({ kind, message: `${what}: ${some}.`, hint });
  }
}

const targetOf: Record<WorkKind, string> = { list: "page:", child: "child:", detail: "id:", confirm: "id:" };

const workStates = new Set<string>(["ready", "dead", "held"]);
const queuedAtOnce = 1_000;

/** Rows of the queue from which no request follows. */
export function* oddWork(check: StateCheck, declaration: ConnectorDeclaration) {
  for (let id = 0; ;) {
    const rows = check.queuedAfter(id, queuedAtOnce);
    for (const row of rows) {
      const why = whyOdd(row, declaration);
      if (why !== null) yield { row, why };
    }
    const last = rows.at(-1);
    if (!last) return;
    ({ id } = last);
  }
}

function whyOdd(row: OwnRow<"_work">, { resources }: ConnectorDeclaration): string | null {
  const resource = resources.find(({ name }) => name === row.resource);
  if (!resource) return `no resource ${row.resource}`;
  if (lanes[row.lane] === undefined) return `lane ${row.lane}`;
  if (!workStates.has(row.state)) return `state ${row.state}`;
  if (!Object.hasOwn(targetOf, row.kind)) return `kind ${row.kind}`;
  const payload =
    row.payload === null ? undefined : valueOr(() => JSON.parse(row.payload ?? "") as unknown, null);
  if (payload === null) return "payload";
  return row.target.startsWith(targetOf[row.kind]) && hasRequest(resource, row, payload) ? null : "target";
}

function hasRequest(resource: Resource, row: OwnRow<"_work">, payload: unknown): boolean {
  const { dirty_seq: dirtySeq, ...same } = row;
  return valueOr(() => requestFor(resource, { ...same, dirtySeq, payload, lane: "list" }).path !== "", false);
}

interface OwnObject {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

/**
 * What SQLite says of the file's pages, indexes and types; empty: all is well.
 *
 * @throws MirrorError `database`
 */
function integrityOf(db: Db): string[] {
  try {
    const lines = db.prepare("PRAGMA integrity_check(20)").pluck().all() as string[];
    return lines.filter((line) => line !== "ok");
  } catch (error) {
    const known = databaseError(db.name, error);
    if (isOfCode(error, /^SQLITE_CORRUPT/)) return [messageOf(known)];
    throw known;
  }
}

/** Own tables and indexes that the migrations made and that are not there, or lack a column. */
export function absentOwnTables(db: Db): OwnObject[] {
  using expected = openDatabase(":memory:");
  migrate(expected);
  const sql = `SELECT type, name, sql FROM sqlite_master
    WHERE type IN ('table', 'index') AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_migrations%'`;
  return (expected.prepare(sql).all() as OwnObject[]).filter(({ type, name }) => {
    if (isAbsent(db, name)) return true;
    const present = columnNames(db, name);
    return type !== "index" && [...columnNames(expected, name)].some((column) => !present.has(column));
  });
}

/** Makes what `absentOwnTables` names, empty; a table that lacks a column is left. Returns the names. */
export function restoreOwnTables(db: Db, absent: readonly OwnObject[]): string[] {
  const made = absent.filter(({ type, name, sql }) => sql && (type === "index" || isAbsent(db, name)));
  for (const { sql } of made.toSorted((a, b) => b.type.localeCompare(a.type))) db.exec(sql ?? "");
  return made.map(({ name }) => name);
}

function isAbsent(db: Db, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(name) === undefined;
}
