import type { Postgres } from "../../../src/fleet/postgres/connection.ts";

/** What the server must be started with so that statements are counted. */
export const countingSettings = [
  "shared_preload_libraries=pg_stat_statements",
  "pg_stat_statements.max=5000",
];

/** Counts from zero from now on. */
export async function resetCounts(postgres: Postgres): Promise<void> {
  await postgres.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
  await postgres.query("SELECT pg_stat_statements_reset()");
}

/** All statements in this database since `resetCounts`, without those that count. */
export async function countStatements(postgres: Postgres): Promise<number> {
  const [row] = await postgres.query<{ calls: number }>(`
    SELECT coalesce(sum(calls), 0)::int AS calls FROM pg_stat_statements
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND query NOT LIKE '%pg_stat_statements%'`);
  return row?.calls ?? 0;
}
