import { findPostgres } from "./server.ts";

/** Runs once before all tests. */
export function setup(): void {
  if (findPostgres() !== undefined) return;
  process.stderr.write("Tests of Postgres are skipped: no initdb on PATH or in /usr/lib/postgresql.\n");
}
