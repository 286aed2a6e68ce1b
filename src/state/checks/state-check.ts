import { canonicalId, type RecordId } from "../../base/ids.ts";
import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import { objectIn } from "../../json/literal.ts";
import { ResourceTable } from "../../store/apply/resource-table.ts";
import { TableContext } from "../../store/apply/table-context.ts";
import { namesWhatIsAbsent, type Db } from "../../store/database.ts";
import type { OwnRow } from "../../store/own-tables/mirror-tables.ts";
import {
  among,
  hasRow,
  insertRow,
  Repository,
  selectRows,
  statement,
  updateRows,
} from "../../store/own-tables/statement.ts";
import { quoted } from "../../store/sql-text.ts";
import { Derivations, derivationVersion } from "../../store/tables/derivations.ts";
import { knowsResource } from "../../store/tables/stored-records.ts";
import { fenceTable, rawTable } from "../../store/tables/table-layout.ts";
import { planWithUnknown } from "../../store/tables/unknown-columns.ts";
import type { InboxState } from "../inbox/inbox.ts";
import { identityKey, isIdentity } from "../meta.ts";
import type { ListRef } from "../sweeps.ts";
import { changesBegin } from "../retention/prune-mirror.ts";

/** Opens the tables of all resources for reading; changes nothing, also where the layout is another one. */
export function openTables(db: Db, declaration: ConnectorDeclaration) {
  const context = new TableContext(db);
  const derivations = new Derivations(db);
  const tables: ResourceTable[] = [];
  /** Resources whose rows cannot be compared with their JSON, and why. */
  const unreadable: { readonly resource: string; readonly why: string }[] = [];
  for (const resource of declaration.resources) {
    try {
      const table = new ResourceTable(context, resource, planWithUnknown(db, resource));
      table.statements.assertComplete();
      if (derivations.isCurrent(resource.name, derivationVersion(resource))) tables.push(table);
      else unreadable.push({ resource: resource.name, why: otherVersion });
    } catch (error) {
      if (!namesWhatIsAbsent(error)) throw error;
      unreadable.push({ resource: resource.name, why: error.message });
    }
  }
  return { tables, unreadable };
}

const otherVersion = "its rows were made by another version and are not derived again yet";

export interface LastChange {
  readonly seq: number;
  readonly op: string;
}

/**
 * The last change of each record as the change log has it, whatever the fences say: in a temporary table, so that a
 * log of any length costs no memory. Safe on a connection that only reads.
 */
export class LastChanges extends Repository {
  /** The first change that a prune has left. */
  readonly begin = changesBegin(this.db);

  constructor(db: Db) {
    super(db);
    db.exec(`DROP TABLE IF EXISTS temp._last_changes;
      CREATE TEMP TABLE _last_changes (resource TEXT, record_id INTEGER, seq INTEGER, op TEXT,
        PRIMARY KEY (resource, record_id)) WITHOUT ROWID;
      INSERT INTO temp._last_changes SELECT resource, record_id, max(seq), op FROM _change_log
        WHERE op <> 'event' GROUP BY resource, record_id`);
  }

  /** Those of the records with an id in this range, both ends included. */
  between(resource: string, from: RecordId, to: RecordId): Map<RecordId, LastChange> {
    const sql = `SELECT record_id, seq, op FROM temp._last_changes
      WHERE resource = ? AND record_id BETWEEN ? AND ?`;
    const rows = this.statement(sql, "cells").all(resource, from, to) as [bigint, bigint, string][];
    return new Map(rows.map(([id, seq, op]) => [canonicalId(id), { seq: Number(seq), op }]));
  }

  /** Records that live by the log, and of which the mirror holds nothing; with ids after `after`, in their order. */
  unheld(resource: string, after: bigint, most: number): RecordId[] {
    const held = [resource, rawTable(resource), fenceTable(resource)].map(
      (table) => `NOT EXISTS (SELECT 1 FROM main.${quoted(table)} t WHERE t.id = l.record_id)`,
    );
    const sql = `SELECT record_id FROM temp._last_changes l
      WHERE resource = ? AND record_id > ? AND op <> 'delete' AND ${held.join(" AND ")} ORDER BY record_id LIMIT ?`;
    return this.selectIds(sql, resource, after, most);
  }

  note(resource: string, id: RecordId, { seq, op }: LastChange): void {
    this.execute("INSERT OR REPLACE INTO temp._last_changes VALUES (?, ?, ?, ?)", resource, id, seq, op);
  }

  /** The record's JSON as a change found it; null: it keeps none. */
  before(seq: number): string | null {
    return selectRows(this.db, "_change_log", ["before"], { seq })[0]?.before ?? null;
  }
}

interface BrokenChange extends LastChange {
  readonly resource: string;
  readonly recordId: RecordId;
  /** The number that it names as the record's next change. */
  readonly next: number | null;
  readonly following: number | null;
  /** The record never had an earlier one. */
  readonly isFirst: boolean;
}

const inboxStates: readonly InboxState[] = ["waiting", "done", "kept", "excluded", "unknown", "unreadable"];

/** What stands beside the records, as it is, for people who doubt it: change log, inbox, open listings, numbers. */
export class StateCheck extends Repository {
  private readonly isWhole = changesBegin(this.db) === 1;

  /**
   * Are the changes of each record a chain that begins with an insert, where no prune has removed its beginning? The first
   * that are not, by resource and record; changes between the last one and the row are the record's own affair. Sorts
   * the log, without the JSON.
   */
  brokenChanges(most: number): BrokenChange[] {
    const sql = `SELECT seq, resource, record_id AS recordId, op, next_seq AS next, following, earlier IS NULL AS isFirst
      FROM (SELECT seq, resource, record_id, op, next_seq, lead(seq) OVER changes AS following,
          lag(seq) OVER changes AS earlier FROM _change_log WHERE op <> 'event'
          WINDOW changes AS (PARTITION BY resource, record_id ORDER BY seq))
      WHERE (op <> 'delete' AND next_seq IS NOT following) OR op NOT IN ('insert', 'update', 'delete')
        OR (op = 'update' AND earlier IS NULL AND ?) LIMIT ?`;
    const rows = this.selectExact<BrokenChange>(sql, Number(this.isWhole), most);
    return rows.map((row) => ({ ...row, isFirst: Number(row.isFirst) === 1 && this.isWhole }));
  }

  /** Puts a change right. The first of a record is an insert, whatever was lost before it. */
  mendChange({ seq, op, following, isFirst }: BrokenChange): void {
    const right = op === "delete" || (op === "insert" && !isFirst) ? op : isFirst ? "insert" : "update";
    const changes = { op: right, next_seq: following, ...(right === "insert" && { before: null }) };
    updateRows(this.db, "_change_log", changes, { seq });
  }

  /** Numbers of reads that changes name and that are not there: such changes are not shown to anybody. */
  lostReads(most: number): number[] {
    return lostReads.column(this.db, { most });
  }

  /** @param at ISO */
  restoreRead(id: number, at: string): void {
    insertRow(this.db, "_reads", { id, at, cause: "repair" });
  }

  /** Rows of the queue after this id, some at a time; each may be anything. */
  queuedAfter(id: number, most: number): OwnRow<"_work">[] {
    return queuedAfter.all(this.db, { id, most });
  }

  /** Pages of listings that are not open, and open listings without a page that is read or queued. */
  brokenListings(): ListRef[] {
    const open = selectRows(this.db, "_listings", ["resource", "variant"], {});
    const pages = pageLists.all(this.db);
    const [areOpen, haveRead] = [new Set(open.map(listName)), new Set(pages.map(listName))];
    const isQueued = ({ resource }: ListRef) =>
      hasRow(this.db, "_work", { resource, kind: ["list", "child"] });
    return [
      ...pages.filter((list) => !areOpen.has(listName(list))),
      ...open.filter((list) => !haveRead.has(listName(list)) && !isQueued(list)),
    ];
  }

  oddEvents(): string[] {
    return oddEvents.column(this.db, { states: inboxStates });
  }

  /** Ids that are stored more than once (I7). */
  repeatedEvents(most: number): string[] {
    return repeatedEvents.column(this.db, { most });
  }

  removeRepeatedEvents(): void {
    this.execute("DELETE FROM _inbox WHERE seq NOT IN (SELECT min(seq) FROM _inbox GROUP BY event_id)");
  }

  /** Keys of `_meta`, and runs, of which the JSON is none, or of another kind; the identity where runs have none. */
  oddFacts(): string[] {
    const odd = this.selectColumn<string>(
      `SELECT key FROM _meta WHERE key <> ? AND NOT json_valid(value) UNION ALL SELECT 'run ' || id FROM _runs
        WHERE ${isNoObject("swept")} OR ${isNoObject("report")}`,
      identityKey,
    );
    const [identity] = selectRows(this.db, "_meta", ["value"], { key: identityKey });
    const isLost = hasRow(this.db, "_runs", {}) && !isIdentity(objectIn(identity?.value ?? ""));
    return isLost ? [...odd, identityKey] : odd;
  }

  /** The highest number of the sequence that a read of these resources was given. */
  lastReceivedSeq(resources: readonly string[]): number {
    const highest = resources
      .filter((resource) => knowsResource(this.db, resource))
      .map((resource) => {
        const sql = `SELECT max(received_seq) FROM ${quoted(fenceTable(resource))}`;
        return this.selectColumn<number | null>(sql)[0] ?? 0;
      });
    return Math.max(0, ...highest);
  }
}

function isNoObject(column: string): string {
  return `CASE WHEN json_valid(${column}) THEN json_type(${column}) END IS NOT 'object'`;
}

function listName({ resource, variant }: ListRef): string {
  return `${resource} ${variant}`;
}

type Most = { readonly most: number };
const lostReads = statement((db, p: Most) => {
  const changes = db.selectFrom("_change_log as l").leftJoin("_reads as r", "r.id", "l.read");
  return changes.select("l.read").distinct().where("r.id", "is", null).limit(p.most);
});
const queuedAfter = statement((db, p: Most & { readonly id: number }) =>
  db.selectFrom("_work").selectAll().where("id", ">", p.id).orderBy("id").limit(p.most),
);
const pageLists = statement((db) =>
  db.selectFrom("_listing_pages").select(["resource", "variant"]).distinct(),
);
const oddEvents = statement((db, p: { states: readonly InboxState[] }) =>
  db.selectFrom("_inbox").select("event_id").where("state", "not in", among(p.states)),
);
const repeatedEvents = statement((db, p: Most) => {
  const ids = db.selectFrom("_inbox").select("event_id").groupBy("event_id");
  return ids.having(db.fn.countAll(), ">", 1).limit(p.most);
});
