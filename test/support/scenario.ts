import { expect } from "vitest";
import type { Company } from "./company.ts";
import { look } from "./equal.ts";
import { truthOf, type Truth } from "./truth.ts";

/** I5: whatever the mirror calls deleted is really absent from the service. */
export function expectTombstonesTrue(company: Company, truth: Truth = truthOf(company.sandbox)): void {
  const wrong = look(company.file, (db) =>
    [...truth].flatMap(([table, records]) => {
      const ids = db
        .prepare(`SELECT id FROM "${table}" WHERE _deleted_at IS NOT NULL`)
        .pluck()
        .all() as number[];
      return ids
        .filter((id) => records.has(String(id)))
        .map((id) => `${table} ${id}: deleted here, live in the service`);
    }),
  );
  expect(wrong).toEqual([]);
}

interface Change {
  readonly resource: string;
  readonly record_id: number;
  readonly op: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** I2: the change log from 0 gives exactly the live records, and each `before` is what stood there. */
export function expectReplayable(company: Company): void {
  const wrong = look(company.file, (db) => {
    const live = new Map<string, string>();
    const odd: string[] = [];
    for (const change of db.prepare("SELECT * FROM _changes ORDER BY seq").iterate() as Iterable<Change>) {
      const key = `${change.resource} ${change.record_id}`;
      if ((live.get(key) ?? null) !== change.before) odd.push(`${key}: ${change.op} over something else`);
      if ((change.op === "insert") !== !live.has(key)) odd.push(`${key}: ${change.op} where it cannot be`);
      if (change.after === null) live.delete(key);
      else live.set(key, change.after);
    }
    return [...odd, ...notLive(db, live)];
  });
  expect(wrong.slice(0, 20)).toEqual([]);
}

function notLive(
  db: Parameters<Parameters<typeof look>[1]>[0],
  replayed: ReadonlyMap<string, string>,
): string[] {
  const rows = db.prepare("SELECT resource, id, json FROM _raw").all() as {
    resource: string;
    id: number;
    json: string;
  }[];
  const tables = [...new Set(rows.map(({ resource }) => resource))];
  const gone = new Set(
    tables.flatMap((table) =>
      (db.prepare(`SELECT id FROM "${table}" WHERE _deleted_at IS NOT NULL`).pluck().all() as number[]).map(
        (id) => `${table} ${id}`,
      ),
    ),
  );
  const live = new Map(rows.map(({ resource, id, json }) => [`${resource} ${id}`, json]));
  const missing = [...live].filter(([key, json]) => !gone.has(key) && replayed.get(key) !== json);
  const extra = [...replayed.keys()].filter((key) => !live.has(key) || gone.has(key));
  return [
    ...missing.map(([key]) => `${key}: not what the log gives`),
    ...extra.map((key) => `${key}: only in the log`),
  ];
}
