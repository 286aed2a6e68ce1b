import type { Postgres } from "../../../src/fleet/postgres/connection.ts";

/** Statements for one purpose since the last reset. */
export interface StatementCount {
  readonly kind: string;
  readonly calls: number;
  /** In Postgres, ms. */
  readonly totalMs: number;
}

/** What the server must be started with so that statements are counted. */
export const countingSettings = [
  "shared_preload_libraries=pg_stat_statements",
  "pg_stat_statements.max=5000",
];

/** By what their text has; the first that fits. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/WITH next AS|AS k \(kind\) WHERE/, "looking for jobs"],
  [/owner ended/, "unattended companies"],
  [/fintoro_mirror\.owners/, "claims and renewals"],
  [/fintoro_mirror\.inbox/, "inboxes"],
  [/fintoro_mirror\.nodes/, "heartbeats of nodes"],
  [/fintoro_mirror\.companies|^SELECT floor/, "configs"],
  [/fintoro_mirror\.receiving/, "times of receiving"],
  [/fintoro_mirror\.(snapshots|changes|reports)/, "snapshots, reports"],
  [/fintoro_mirror\.timeline/, "the timeline"],
  [/cron_on|pgboss\.schedule/, "schedules"],
  [/heartbeat_on = |touch/, "keeping jobs"],
  [/pgboss|pg_advisory|pg_stat|pg_class/, "maintenance of pg-boss"],
  [/^(BEGIN|COMMIT|SET LOCAL|ROLLBACK|SELECT set_config)/, "begin, set, commit"],
];

/** Counts from zero from now on. */
export async function resetCounts(postgres: Postgres): Promise<void> {
  await postgres.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
  await postgres.query("SELECT pg_stat_statements_reset()");
}

/** All statements in this database since `resetCounts`, by their purpose; those that count are left out. */
export async function countStatements(postgres: Postgres): Promise<StatementCount[]> {
  const rows = await postgres.query<{ text: string; calls: number; totalMs: number }>(`
    SELECT regexp_replace(query, '\\s+', ' ', 'g') AS text, calls::int, total_exec_time::float8 AS "totalMs"
    FROM pg_stat_statements
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND query NOT LIKE '%pg_stat_statements%'`);
  const counts = new Map<string, StatementCount>();
  for (const { text, calls, totalMs } of rows) {
    const kind = kinds.find(([pattern]) => pattern.test(text.trim()))?.[1] ?? text.slice(0, 60);
    const before = counts.get(kind);
    counts.set(kind, {
      kind,
      calls: calls + (before?.calls ?? 0),
      totalMs: totalMs + (before?.totalMs ?? 0),
    });
  }
  return [...counts.values()].toSorted((a, b) => b.calls - a.calls);
}
