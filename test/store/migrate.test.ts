import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { appliedMigrations, migrate, migrations } from "../../src/store/migrations/migrate.ts";
import type { Migrations } from "../../src/store/migrations/migrate.ts";
import { openDatabase, type Db } from "../../src/store/database.ts";
import { errorOf } from "../support/errors.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { person } from "../support/mirror/shop-records.ts";
import { put, row } from "../support/mirror/store.ts";

/** What a version to come may do: a table, a column and a change of what is there. */
const later = [
  "CREATE TABLE _later (id INTEGER PRIMARY KEY) STRICT",
  "ALTER TABLE _meta ADD COLUMN later TEXT",
  "UPDATE _meta SET later = key",
];
const withLater = { ...migrations, "9999-later": later };

function schemaOf(db: Db): unknown[] {
  const query =
    "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE '\\_migrations%' ESCAPE '\\' ORDER BY name";
  return db.prepare(query).all();
}

function migrated(steps: Migrations): Db {
  const db = openDatabase(join(tempFolder(), "shop.db"));
  migrate(db, steps);
  return db;
}

describe("migrations", () => {
  test("a fresh database gets all of them, and opening it again changes nothing", async () => {
    const db = migrated(migrations);
    expect(appliedMigrations(db)).toEqual(Object.keys(migrations));
    const before = schemaOf(db);
    const version = db.pragma("data_version", { simple: true });
    migrate(db);
    expect(schemaOf(db)).toEqual(before);
    expect(db.pragma("data_version", { simple: true })).toBe(version);
    db.close();
  });

  const names = Object.keys(withLater);
  test.each(names.map((_, count) => [count, names.slice(0, count)] as const))(
    "a database of an earlier version (%i steps) ends with the very schema of a fresh one",
    async (_count, earlier) => {
      const db = migrated(
        Object.fromEntries(earlier.map((name) => [name, withLater[name as keyof typeof withLater]])),
      );
      migrate(db, withLater);
      const fresh = migrated(withLater);
      expect(appliedMigrations(db)).toEqual(names);
      expect(schemaOf(db)).toEqual(schemaOf(fresh));
      db.close();
      fresh.close();
    },
  );

  test("what an earlier version had mirrored is still there after the step", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1));
    migrate(mirror.db, withLater);
    expect(row(mirror, "people", 1)?.["name"]).toBe("n1");
    expect(mirror.db.prepare("SELECT later FROM _meta WHERE key = 'seq'").pluck().get()).toBe("seq");
  });

  // Fault: files | the mirror was written by a newer version | an unknown migration in its list | refused with a hint, and left as it is
  test("a database of a newer version is refused and left as it is", async () => {
    const db = migrated(withLater);
    const before = schemaOf(db);
    const error = errorOf(() => migrate(db));
    expect(error).toMatchObject({ kind: "database", retryable: false });
    expect(error.message).toContain("newer version (9999-later)");
    expect(error.hint).toContain("Update fintoro-mirror");
    expect(schemaOf(db)).toEqual(before);
    db.close();
  });

  // Fault: process | a migration's step fails in its middle | a step with an error | the database is as before, and the next attempt succeeds
  test("a step that fails in its middle leaves the database as it was, and the next try succeeds", async () => {
    const db = migrated(migrations);
    const before = schemaOf(db);
    const failing = [...later, "DROP TABLE _meta", "CREATE TABLE _later (id INTEGER)"];
    const error = errorOf(() => migrate(db, { ...migrations, "9999-later": failing }));
    expect(error.kind).toBe("database");
    expect(db.inTransaction).toBe(false);
    expect(schemaOf(db)).toEqual(before);
    migrate(db, withLater);
    expect(appliedMigrations(db)).toEqual(names);
    db.close();
  });

  // Fault: process | kill -9 in the middle of a migration's step | a process that migrates | as if it never began
  test("kill -9 in the middle of a step is as if it never began", async () => {
    const path = join(tempFolder(), "shop.db");
    (await openShop({ path })).close();
    const script = fileURLToPath(new URL("../support/mirror/migrate-and-die.ts", import.meta.url));
    const { signal } = spawnSync(process.execPath, [script, path], { stdio: "inherit" });
    expect(signal).toBe("SIGKILL");
    const mirror = await openShop({ path });
    expect(mirror.db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'half'").get()).toBeUndefined();
    expect(appliedMigrations(mirror.db)).toEqual(Object.keys(migrations));
    expect(put(mirror, "people", person(1))).toBe("inserted");
  });
});
