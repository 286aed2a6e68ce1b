import { sql } from "kysely";
import type { Expression, Generated, GeneratedAlways, Kysely, SelectType } from "kysely";
import type { readSteps } from "../../status/after-run-record.ts";
import type { AlertState } from "../../status/alerts/incidents.ts";

/** A stored file that counts. Its name is never used again, and its content never changes. */
interface ReportFile {
  /** Of its table or view; of the report database `report.db`. */
  readonly name: string;
  readonly key: string;
  /** Of the company's publication that stored it. */
  readonly number: number;
  readonly bytes: number;
  /** Null: it is the report database. */
  readonly rows: number | null;
  /** A hash: two files of a table with the same one show the same. */
  readonly content: string;
  /** The mirror's last change that is in it. */
  readonly seq: number;
  /** In the file; `company`, and of a view `report_date`, are in its key. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

export interface StoredPackage {
  readonly key: string;
  /** The mirror that it shows. */
  readonly log: string;
  readonly position: number;
  readonly proved: boolean;
  readonly bytes: number;
  readonly sha256: string;
  /** Documents whose PDF the service did not give. */
  readonly without_pdf: readonly string[];
}

export type PackageFailure = "token_refused" | "not_proved" | "failed";

/** A column as Postgres declares it. `T`: what its values are here; none is ever set. */
interface FleetColumn<T> {
  readonly type: string;
  readonly values?: T;
}

function column<T>(type: string): FleetColumn<T> {
  return { type };
}

function columns<T, N extends string>(type: FleetColumn<T>, ...names: N[]) {
  return Object.fromEntries(names.map((name) => [name, type])) as Record<N, FleetColumn<T>>;
}

const text = column<string>("text NOT NULL");
const key = column<string>("text PRIMARY KEY");
const maybeText = column<string | null>("text");
const bigint = column<number>("bigint NOT NULL");
const noNumber = column<Generated<number>>("bigint NOT NULL DEFAULT 0");
const integer = column<number>("integer NOT NULL");
const none = column<Generated<number>>("integer NOT NULL DEFAULT 0");
const off = column<Generated<boolean>>("boolean NOT NULL DEFAULT false");
const timestamp = column<Date>("timestamptz NOT NULL");
const maybeTime = column<Date | null>("timestamptz");
const isAhead = column<GeneratedAlways<boolean>>("boolean GENERATED ALWAYS AS (seq > drained) STORED");
const made = column<Generated<Date>>("timestamptz NOT NULL DEFAULT now()");

/**
 * The fleet's tables as the first migration makes them; the types of all statements follow from them. A list is bound as
 * an array: as JSON it goes through `jsonb`.
 *
 * Statements stay SQL where they insert or join lists (deliveries, changes, packages, renewals, losses, owners after a
 * restore), run for each batch (the lock of an inbox head), choose rows to delete by `ctid`, say what became of a row in
 * conflict (companies), unite what waits, or choose a page of the radar. DuckLake's tables are not ours (`catalogue/`).
 */
export const firstFleetTables = {
  migrations: { version: column<number>("integer PRIMARY KEY"), applied_at: made },
  /** A removed one keeps its row. */
  companies: {
    name: key,
    /** The document that `fleet add` wrote; secrets are references. */
    config: column<unknown>("jsonb NOT NULL"),
    /** `account`: which company of the service it is; null until its first owner has asked the service. */
    ...columns(maybeText, "account", "schedule", "timezone"),
    /** `added_at`: when it joined the fleet last: while it was out of it, nobody received its deliveries. */
    ...columns(made, "added_at", "changed_at"),
    removed: off,
    forgotten_at: maybeTime,
    /** The last published change of when it was forgotten: numbers of its next log are higher. 0: it never was. */
    last_seq: noNumber,
    tags: column<Generated<readonly string[]>>("text[] NOT NULL DEFAULT '{}'"),
  },
  owners: {
    company: key,
    epoch: column<number>("bigint NOT NULL CHECK (epoch > 0)"),
    node: maybeText,
    /** Until when its owner may send requests; released: when it sent the last one. */
    expires_at: timestamp,
    claimed_at: made,
    /** Ownerships in a row, before the one of now, that ended with the death of their node. */
    losses: none,
    /** When a company may be taken that was lost again, or failed; null: not decided, or at once. */
    claimable_at: maybeTime,
    /** Those that ended with the error `failure`. */
    failures: none,
    failure: maybeText,
    failed_at: maybeTime,
  },
  nodes: {
    node: key,
    ...columns(timestamp, "started_at", "seen_at"),
    ...columns(text, "version", "role"),
    draining: off,
    ...columns(integer, "held", "capacity"),
  },
  receiving: {
    id: column<Generated<number>>("bigserial PRIMARY KEY"),
    ...columns(timestamp, "started_at", "seen_at"),
  },
  /** `drained`: the position in the published snapshot. */
  inbox_heads: { company: key, seq: bigint, drained: noNumber, waiting: isAhead },
  inbox: {
    company: text,
    seq: bigint,
    event_id: text,
    body: column<Buffer>("bytea NOT NULL"),
    received_at: made,
  },
  snapshots: {
    company: key,
    epoch: bigint,
    id: text,
    /** `inbox_seq`: the mirror's position in the inbox. `size_bytes`: of the packed mirror. */
    ...columns(bigint, "seq", "inbox_seq", "size_bytes"),
    sha256: text,
    /** By the node's clock. */
    taken_at: timestamp,
    node: text,
    /** Facts of the mirror for `fleet status`, by name. */
    facts: column<Readonly<Record<string, unknown>>>("jsonb NOT NULL"),
  },
  /** `published_at`: when Postgres got the change: in the order of a company's numbers, by no node's clock. */
  changes: {
    company: text,
    log: text,
    seq: bigint,
    ...columns(text, "resource", "record_id", "op"),
    at: timestamp,
    cause: text,
    published_at: made,
  },
  reports: {
    company: key,
    /** `number`: of the last publication that was begun; never the same again. */
    ...columns(bigint, "epoch", "number"),
    /** Null: none was published. */
    published_at: maybeTime,
    /** The mirror's last change that is in the Parquet files; null: none was published. */
    seq: column<number | null>("bigint"),
    files: column<readonly ReportFile[]>("jsonb NOT NULL"),
    /** Since when each stored file does not count, by its key. */
    old: column<Readonly<Record<string, number>>>("jsonb NOT NULL"),
    /** What the report's questions say that concern everybody, by name; empty: nothing. Null: no report is stored. */
    answers: column<Readonly<Record<string, string>> | null>("jsonb"),
  },
  alerts: {
    company: key,
    /** Incidents, and the alerts of them that wait. */
    state: column<AlertState | null>("jsonb"),
    /** How what follows runs went: what was made counts once it was published or sent. */
    steps: column<ReturnType<typeof readSteps> | null>("jsonb"),
  },
  packages: {
    ...columns(text, "company", "month"),
    proved: column<boolean>("boolean NOT NULL"),
    asked_at: made,
    /** When it is tried next; null: nothing is to be done. */
    due_at: maybeTime,
    made_at: maybeTime,
    made: column<StoredPackage | null>("jsonb"),
    failures: none,
    /** Why the last attempt failed; null: none did since it was asked for. */
    reason: column<PackageFailure | null>("text"),
    error: maybeText,
  },
  /** One row. */
  timeline: {
    /** From 1; higher with each restore. */
    number: bigint,
    /** Random: the databases of two fleets never have the same. */
    id: column<string>("uuid NOT NULL"),
    /** Heartbeats of nodes. It grows only; where it is lower than it was, the database was set back. */
    beats: bigint,
    ...columns(made, "started_at", "seen_at"),
    ...columns(maybeTime, "set_back_to", "marked_at"),
  },
};

type Tables = typeof firstFleetTables;

export type FleetDatabase = {
  [T in keyof Tables]: { [C in keyof Tables[T]]: Tables[T][C] extends FleetColumn<infer V> ? V : never };
};

/** Columns of a row, as a statement gives them. */
export type RowOf<
  T extends keyof FleetDatabase,
  C extends keyof FleetDatabase[T] = keyof FleetDatabase[T],
> = { readonly [N in C]: SelectType<FleetDatabase[T][N]> };

/** Statements on the fleet's tables, checked by the compiler. How many rows changed is known by `returning` only. */
export type FleetDb = Kysely<FleetDatabase>;

/** Postgres' clock, as it is now: also within a transaction. */
export const now = sql<Date>`clock_timestamp()`;

export function epochMs<T>(time: Expression<T>) {
  return sql<number | Extract<T, null>>`floor(extract(epoch FROM ${time}) * 1000)::bigint`;
}

export function isoText<T>(time: Expression<T>) {
  return sql<string | Extract<T, null>>`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

export function intervalOf(ms: number | Expression<number>) {
  return sql`(${ms}::float8 * interval '1 millisecond')`;
}

export function fromNow(ms: number) {
  return sql<Date>`clock_timestamp() + ${intervalOf(ms)}`;
}

/** A value as JSON, also a list: alone it would be bound as an array. */
export function jsonb<T>(value: T) {
  return sql<T>`(${{ value }}::jsonb -> 'value')`;
}

export async function isFound(statement: { executeTakeFirst(): Promise<unknown> }): Promise<boolean> {
  return (await statement.executeTakeFirst()) !== undefined;
}
