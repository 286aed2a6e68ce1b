import type { Postgres } from "../../../src/fleet/postgres/connection.ts";

/** Tables whose rows are written for one company by its owner alone. */
const watched = ["owners", "snapshots", "changes", "inbox_heads", "reports"] as const;

export type WatchedTable = (typeof watched)[number];

/** One row that was written, as it stood when its transaction ended. */
export interface RecordedWrite {
  readonly id: number;
  /** By the clock of Postgres, ms. */
  readonly atMs: number;
  /** The process that wrote, see `processUrl`. */
  readonly process: string | null;
  readonly what: WatchedTable;
  readonly op: "INSERT" | "UPDATE" | "DELETE";
  readonly company: string;
  /** Of the row in `owners` when the transaction ended. */
  readonly ownerEpoch: number | null;
  readonly row: Row;
  /** Before the write; null for a new row. */
  readonly before: Row | null;
}

/** A row as JSON. */
export type Row = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Constraint triggers that are deferred see the owner as it is when the transaction commits: a write that another owner
 * overtook is recorded under the epoch of that owner. What is only for people to read is left out of the rows.
 */
const installSql = `
CREATE SCHEMA oracle;
CREATE TABLE oracle.writes (
  id bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(), process text, what text NOT NULL,
  op text NOT NULL, company text NOT NULL, owner_epoch bigint, row jsonb NOT NULL, before jsonb);
CREATE FUNCTION oracle.record() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  after_row jsonb := CASE TG_OP WHEN 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END;
  before_row jsonb := CASE TG_OP WHEN 'INSERT' THEN NULL ELSE to_jsonb(OLD) END;
BEGIN
  IF TG_TABLE_NAME = 'inbox_heads' AND after_row->'drained' = coalesce(before_row->'drained', '0') THEN
    RETURN NULL;
  END IF;
  -- Whether nodes died of a company is no part of its ownership, and any node may decide on it.
  IF TG_TABLE_NAME = 'owners' AND after_row - 'losses' - 'claimable_at' = before_row - 'losses' - 'claimable_at' THEN
    RETURN NULL;
  END IF;
  INSERT INTO oracle.writes (process, what, op, company, owner_epoch, row, before)
  SELECT current_setting('chaos.process', true), TG_TABLE_NAME, TG_OP, after_row->>'company',
    (SELECT epoch FROM fintoro_mirror.owners WHERE company = after_row->>'company'),
    after_row - 'facts' - 'files', before_row - 'facts' - 'files';
  RETURN NULL;
END $$;`;

const triggerSql = (table: WatchedTable) =>
  `CREATE CONSTRAINT TRIGGER oracle AFTER INSERT OR UPDATE OR DELETE ON fintoro_mirror.${table}
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION oracle.record()`;

/** From now on each write to the watched tables is recorded in its own transaction. The fleet's tables are there. */
export async function installWriteOracle(postgres: Postgres): Promise<void> {
  await postgres.query(installSql);
  for (const table of watched) await postgres.query(triggerSql(table));
}

const readSql = `SELECT id, extract(epoch FROM at)::float8 * 1000 AS "atMs", process, what, op, company,
  owner_epoch AS "ownerEpoch", row, before
  FROM oracle.writes ORDER BY id`;

/** Everything that was recorded, in order. */
export function readWrites(postgres: Postgres): Promise<RecordedWrite[]> {
  return postgres.query<RecordedWrite>(readSql);
}

/**
 * The address of Postgres for one process: each of its connections bears the name, whatever it calls itself. A node that
 * was started again has the same name of its own and another one here.
 */
export function processUrl(url: string, process: string): string {
  const tagged = new URL(url);
  tagged.searchParams.set("options", `-c chaos.process=${process}`);
  return tagged.href;
}
