import Database from "better-sqlite3";
import { documentTables } from "../truth/truth.ts";
import type { SeededChoice } from "../company/scenario.ts";

type Db = Database.Database;

/** A kind of damage: what it does to a record. */
type Wound = (db: Db, table: string, id: number) => void;

const childOf = (table: string) => [`${table.slice(0, -1)}_items`, `${table.slice(0, -1)}_id`] as const;

/** Every kind that `verify` must name: by its name. */
const kinds: Readonly<Record<string, Wound>> = {
  "typed cell": (db, table, id) =>
    void db.prepare(`UPDATE ${table} SET number = number || ' wrong' WHERE id = ?`).run(id),
  "child row": (db, table, id) => {
    const [child, key] = childOf(table);
    db.prepare(`UPDATE ${child} SET quantity = 12345.5 WHERE ${key} = ? AND position = 0`).run(id);
  },
  "missing child row": (db, table, id) => {
    const [child, key] = childOf(table);
    db.prepare(`DELETE FROM ${child} WHERE ${key} = ?`).run(id);
  },
  "missing row": (db, table, id) => void db.prepare(`DELETE FROM ${table} WHERE id = ?`).run(id),
  "missing record": (db, table, id) => {
    const [child, key] = childOf(table);
    for (const one of [table, `_raw_${table}`, `_fence_${table}`])
      db.prepare(`DELETE FROM ${one} WHERE id = ?`).run(id);
    db.prepare(`DELETE FROM ${child} WHERE ${key} = ?`).run(id);
  },
  "missing JSON": (db, table, id) => void db.prepare(`DELETE FROM _raw_${table} WHERE id = ?`).run(id),
  "wrong JSON": (db, table, id) =>
    void db
      .prepare(`UPDATE _raw_${table} SET json = json_set(json, '$.number', 'wrong') WHERE id = ?`)
      .run(id),
  "stale row": (db, table, id) => {
    db.prepare(`UPDATE ${table} SET number = 'old' WHERE id = ?`).run(id);
    db.prepare(`UPDATE _raw_${table} SET json = json_set(json, '$.number', 'old') WHERE id = ?`).run(id);
  },
  "false tombstone": (db, table, id) => {
    const [child, key] = childOf(table);
    db.prepare(`UPDATE ${table} SET _deleted_at = '2026-01-01T00:00:00.000Z' WHERE id = ?`).run(id);
    db.prepare(`UPDATE _fence_${table} SET gone = 1, sha = NULL, listed_sha = NULL WHERE id = ?`).run(id);
    db.prepare(`DELETE FROM ${child} WHERE ${key} = ?`).run(id);
  },
  "resurrected tombstone": (db, table, id) => {
    const [child, key] = childOf(table);
    db.prepare(`UPDATE ${table} SET _deleted_at = NULL WHERE id = ?`).run(id);
    db.prepare(`UPDATE _fence_${table} SET gone = 0 WHERE id = ?`).run(id);
    db.prepare(`INSERT INTO ${child} (${key}, position) VALUES (?, 0)`).run(id);
  },
  "extra row": (db, table, id) =>
    void db
      .prepare(`INSERT INTO ${table} (id, number, _synced_at, _detail_at) VALUES (?, 'x', 'x', 'x')`)
      .run(id + 900_000),
  "missing fence": (db, table, id) => {
    db.prepare(`UPDATE ${table} SET number = 'wrong' WHERE id = ?`).run(id);
    db.prepare(`DELETE FROM _fence_${table} WHERE id = ?`).run(id);
  },
};

/** A record that is wrong: `invoices 17`. */
export interface Wounded {
  readonly name: string;
  readonly kind: string;
}

/** Wounds so many records, each another one, in turn of each kind; some of them must be deleted ones. */
export function woundMany(file: string, count: number, choice: SeededChoice): Wounded[] {
  const db = new Database(file);
  try {
    const names = Object.keys(kinds);
    const idsOf = (table: string, where: string) =>
      (db.prepare(`SELECT id FROM ${table} WHERE ${where}`).pluck().all() as number[]).map((id) => ({
        table,
        id,
      }));
    const live = documentTables.flatMap((table) => {
      const [child, key] = childOf(table);
      return idsOf(table, `_deleted_at IS NULL AND id IN (SELECT ${key} FROM ${child})`);
    });
    const deleted = documentTables.flatMap((table) => idsOf(table, "_deleted_at IS NOT NULL"));
    return Array.from({ length: count }, (_, i) => {
      const kind = names[i % names.length] ?? "";
      const records = kind === "resurrected tombstone" ? deleted : live;
      const [one] = records.splice(choice.below(records.length), 1);
      if (!one) throw new Error(`there are no ${count} records to wound`);
      kinds[kind]?.(db, one.table, one.id);
      return { name: `${one.table} ${kind === "extra row" ? one.id + 900_000 : one.id}`, kind };
    });
  } finally {
    db.close();
  }
}
