import type { Postgres } from "../../../src/fleet/postgres/connection.ts";

/** Statements of one form since the last reset. */
export interface StatementCount {
  /** Its first characters. */
  readonly text: string;
  readonly calls: number;
  /** In Postgres, ms. */
  readonly totalMs: number;
}

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

/** All statements in this database since `resetCounts`, the most frequent first; those that count are left out. */
export function countStatements(postgres: Postgres): Promise<StatementCount[]> {
  return postgres.query<StatementCount>(`
    SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 90) AS text, sum(calls)::int AS calls,
      sum(total_exec_time)::float8 AS "totalMs"
    FROM pg_stat_statements
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND query NOT LIKE '%pg_stat_statements%'
    GROUP BY 1 ORDER BY 2 DESC`);
}
