import type { Db } from "pg-boss";
import { MirrorError } from "../../base/errors.ts";
import type { Sql } from "../postgres/connection.ts";

/** Its loops fail every second while Postgres is away: the same error is logged once in a while. */
export function seldom(write: (text: string) => void): (text: string) => void {
  const lastMs = new Map<string, number>();
  return (text) => {
    const nowMs = performance.now();
    if (nowMs - (lastMs.get(text) ?? Number.NEGATIVE_INFINITY) < sameErrorMs) return;
    if (lastMs.size >= mostErrors) lastMs.clear();
    lastMs.set(text, nowMs);
    write(text);
  };
}

const sameErrorMs = 60_000;
/** Different texts that are remembered. */
const mostErrors = 20;

/** Loads the package. Throws MirrorError `config` where it is not installed. */
export async function importPgBoss() {
  try {
    return await import("pg-boss");
  } catch (error) {
    throw new MirrorError("config", "companies are shared through pg-boss, which is not installed", {
      hint: "npm install pg pg-boss",
      cause: error,
    });
  }
}

/** Our connections, as pg-boss asks for them. It knows errors by their SQLSTATE. */
export function databaseOf(sql: Sql): Db {
  const executeSql = async (text: string, values?: unknown[]) => {
    try {
      return { rows: await sql.query(text, values) };
    } catch (error) {
      const { cause } = error as MirrorError;
      if (cause instanceof Error && "code" in cause)
        Object.assign(error as MirrorError, { code: cause.code });
      throw error;
    }
  };
  return { executeSql };
}
