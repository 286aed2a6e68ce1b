import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { describe, expect, vi, onTestFinished } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { among, Repository, statement } from "../../src/store/own-tables/statement.ts";
import { databaseError, guarded, inTransaction, openDatabase, type Db } from "../../src/store/database.ts";
import { errorOf, rejectionOf } from "../support/errors.ts";
import { declarationOf, openShop } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { person } from "../support/mirror/shop-records.ts";
import { allChanges, liveRecords, put, rows } from "../support/mirror/store.ts";
import { lockHolder, takeWriterLock } from "../../src/store/writer-lock.ts";
import { firstLine, startProgram } from "../support/program/cli.ts";
import { look } from "../support/truth/compare.ts";
import { appliedMigrations, migrate, migrations } from "../../src/store/migrations/migrate.ts";
import type { Migrations } from "../../src/store/migrations/migrate.ts";

// Fault: disk | another connection begins to write first | two connections | busy at once, a retryable error, no failed upgrade of a lock
test("a writing connection takes the write lock when a transaction begins, so that reading first is no trap", () => {
  const path = join(tempFolder(), "shop.db");
  using one = openDatabase(path);
  using other = openDatabase(path);
  other.pragma("busy_timeout = 0");
  inTransaction(one, () => {
    const error = errorOf(() => inTransaction(other, () => undefined));
    expect(error).toMatchObject({ kind: "database", retryable: true });
    expect(error.message).toContain("the database is busy");
  });
});

describe("what SQLite says becomes what the user can do", () => {
  // Fault: files | a foreign file in the mirror's place | a text file | refused with the reason, and not touched
  test("a foreign file in the mirror's place is not touched", async () => {
    const path = join(tempFolder(), "shop.db");
    writeFileSync(path, "Dear diary,\n".repeat(500));
    const error = await rejectionOf(openMirror(path, declarationOf()));
    expect(error).toMatchObject({ kind: "database", retryable: false });
    expect(error.message).toBe(`the file is not a SQLite database: ${path}`);
    expect(statSync(path).size).toBe(6_000);
  });

  // Fault: files | the data folder cannot be created | a file in its place | an error that names the path
  test("a folder that cannot be created is reported as such", async () => {
    const path = join(tempFolder(), "file", "shop.db");
    writeFileSync(dirname(path), "");
    const error = await rejectionOf(openMirror(path, declarationOf()));
    expect(error.message).toBe(`the database cannot be opened: ${path}`);
  });

  // Fault: disk | SQLite or the system reports a full disk, an I/O error, damage, no permission | the error's code | a sentence that says which, and whether it may pass
  test.each([
    ["SQLITE_FULL", "the disk is full", true],
    ["SQLITE_IOERR_SHMSIZE", "the disk is full", true],
    ["ENOSPC", "the disk is full", true],
    ["SQLITE_BUSY_SNAPSHOT", "the database is busy", true],
    ["SQLITE_CORRUPT_VTAB", "the database is damaged", false],
    ["SQLITE_IOERR_FSYNC", "the disk gave an input/output error", true],
    ["SQLITE_READONLY_DBMOVED", "the database cannot be written", false],
    ["EACCES", "the database cannot be written", false],
    ["SQLITE_CANTOPEN_ISDIR", "the database cannot be opened", false],
  ])("%s is reported as: %s", (code, what, retryable) => {
    const reported = databaseError("/data/shop.db", Object.assign(new Error("as it says"), { code }));
    expect(reported).toBeInstanceOf(MirrorError);
    expect(reported).toMatchObject({ message: `${what}: /data/shop.db`, retryable });
  });

  test("JSON that SQLite cannot read is damage", () => {
    using db = openDatabase(":memory:");
    const error = errorOf(() => guarded("/data/shop.db", () => db.prepare("SELECT '{' ->> 'a'").get()));
    expect(error.message).toBe("the database is damaged: /data/shop.db");
  });

  test("an unforeseen error of SQLite keeps its message, and says how to tell damage from a bug; any other error stays as it is", () => {
    const odd = new Database.SqliteError("no such column: x", "SQLITE_ERROR");
    expect(databaseError("/data/shop.db", odd)).toMatchObject({
      message: "no such column: x: /data/shop.db",
      hint: expect.stringMatching(/`verify --local`.*bug/),
    });
    const bug = new TypeError("undefined is not a function");
    expect(databaseError("/data/shop.db", bug)).toBe(bug);
  });
});

// Fault: disk | the disk is full while an answer is applied | a page limit on the mirror's file | rolled back whole; continues when there is room again (I1)
test("I1: a full disk rolls the answer back whole, and it goes on where there is room", ({ mirror }) => {
  put(mirror, "people", person(1, "before"));
  const pages = Number(mirror.db.pragma("page_count", { simple: true }));
  mirror.db.pragma(`max_page_count = ${pages}`);
  const error = errorOf(() => {
    for (let id = 2; id < 2_000; id++) put(mirror, "people", person(id, "x".repeat(1_000)));
  });
  expect(error).toMatchObject({ kind: "database", retryable: true });
  expect(error.message).toContain("the disk is full");
  expect(mirror.db.inTransaction).toBe(false);
  const held = liveRecords(mirror, "people");
  expect(allChanges(mirror)).toHaveLength(held.size);
  mirror.db.pragma(`max_page_count = ${pages + 5_000}`);
  const next = held.size + 1;
  expect(put(mirror, "people", person(next, "x".repeat(1_000)))).toBe("inserted");
  expect(allChanges(mirror)).toHaveLength(next);
  expect(mirror.db.pragma("integrity_check", { simple: true })).toBe("ok");
});

test("statements on own tables are planned once, whatever values are bound", ({ mirror: { db } }) => {
  const prepare = vi.spyOn(db, "prepare");
  const [item] = new Lookups(db).idsOf("people", 3);
  expect(item).toBeUndefined();
  const prepared = prepare.mock.calls.map(([sql]) => sql);
  expect(prepared).toEqual(["SELECT id FROM _work WHERE resource = +? AND rank = 0 LIMIT +?"]);
});

class Lookups extends Repository {
  idsOf(resource: string, most: number): number[] {
    return this.selectColumn("SELECT id FROM _work WHERE resource = ? AND rank = 0 LIMIT ?", resource, most);
  }
}

test("one that is checked by the compiler is built and prepared once, with constants in its text", ({
  mirror: { db },
}) => {
  const prepare = vi.spyOn(db, "prepare");
  let built = 0;
  const find = statement((builder, p: { seq: number; types: readonly string[]; most: number }) => {
    built += 1;
    const found = builder.selectFrom("_inbox").select("event_id").where("target", "=", "it's");
    return found.where("type", "in", among(p.types)).where("seq", ">", p.seq).limit(p.most);
  });
  for (const seq of [1, 2]) expect(find.all(db, { most: 1, seq, types: ["a", "b"] })).toEqual([]);
  expect(built).toBe(1);
  expect(prepare.mock.calls.flat()).toEqual([
    `select "event_id" from "_inbox" where "target" = 'it''s' and "type" in (select value from json_each(+?)) and "seq" > +? limit +?`,
  ]);
});

const holdLock = fileURLToPath(new URL("../support/mirror/hold-lock.ts", import.meta.url));

describe("the writer lock", () => {
  // Fault: process | kill -9 of the process that holds the writer lock | a process with the lock | the lock is free, whatever note is left
  test("gives a second process `locked`, with the pid and command of the first; kill -9 releases it, whatever note was left", async () => {
    const path = join(tempFolder(), "shop.lock");
    const child = startProgram([path], { file: holdLock, stdin: "pipe" });
    await firstLine(child);
    const error = errorOf(() => takeWriterLock(path, "serve"));
    expect(error).toMatchObject({ kind: "locked", retryable: true });
    expect(error.message).toContain(`process ${child.pid} (sync, since 20`);
    const description = expect.stringContaining(`process ${child.pid}`) as string;
    expect(lockHolder(path)).toMatchObject({ pid: child.pid, command: "sync", description });
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(`${path}.holder`).toSatisfy(existsSync);
    expect(lockHolder(path)).toBeNull();
    takeWriterLock(path, "sync").release();
  });

  test("has one holder also within one process; to read who it is neither takes it nor makes a file", () => {
    const path = join(tempFolder(), "shop.lock");
    expect(lockHolder(path)).toBeNull();
    expect(path).not.toSatisfy(existsSync);
    const lock = takeWriterLock(path, "sync");
    expect(errorOf(() => takeWriterLock(path, "sync")).kind).toBe("locked");
    expect(lockHolder(path)).not.toBeNull();
    lock.release();
    expect([lockHolder(path), existsSync(`${path}.holder`)]).toEqual([null, false]);
    takeWriterLock(path, "sync").release();
  });

  test("with a note that cannot be read, the lock is held by another process", () => {
    const path = join(tempFolder(), "shop.lock");
    const lock = takeWriterLock(path, "sync");
    writeFileSync(`${path}.holder`, "{");
    expect(lockHolder(path)).toEqual({ description: "another process" });
    lock.release();
  });

  // Fault: process | the holder removes the lock with its folder, as at the end of an export | while another one waits for the lock | locked, not a broken disk
  test("that its holder removes while another one waits for it is locked", () => {
    const path = join(tempFolder(), "export", "lock");
    mkdirSync(dirname(path));
    const removed = vi
      .spyOn(Database.prototype, "pragma")
      .mockImplementationOnce(() => rmSync(dirname(path), { recursive: true }));
    expect(errorOf(() => takeWriterLock(path, "export")).kind).toBe("locked");
    expect(removed).toHaveBeenCalledOnce();
  });

  // Fault: files | a foreign file in the lock's place, or no folder | the lock's path | reported as such, not as a lock
  test("a missing folder, or a foreign file, is reported as such and not as a lock", () => {
    const folder = tempFolder();
    const noFolder = errorOf(() => takeWriterLock(join(folder, "none", "shop.lock"), "sync"));
    expect([noFolder.kind, noFolder.hint]).toEqual(["database", expect.stringContaining("folder")]);
    const foreign = join(folder, "foreign.lock");
    writeFileSync(foreign, "x".repeat(5_000));
    expect(errorOf(() => takeWriterLock(foreign, "sync")).kind).toBe("database");
  });
});

/** A mirror of somebody who holds its lock, with one record in its log. */
async function owned() {
  const path = `${tempFolder()}/shop.db`;
  const lock = takeWriterLock(`${path}.lock`, "serve");
  onTestFinished(() => lock.release());
  const mirror = await openMirror(path, declarationOf(), { lock });
  const add = (id: number) => put(mirror, "people", person(id));
  add(1);
  const reader = openDatabase(path, { readonly: true });
  onTestFinished(() => void reader.close());
  const idsNow = () => look(path, (db) => db.prepare("SELECT id FROM people").pluck().all());
  return { path, mirror, add, reader, idsNow };
}

// Fault: files | the write-ahead log is removed while another program reads the mirror | the files of an open mirror | nothing more is written; what the log held is in the mirror, and what a reader kept from it is named
test("a removed log takes nothing more, and what it holds is kept, or named where a reader is in the way", async () => {
  const one = await owned();
  rmSync(`${one.path}-wal`);
  const refused = errorOf(() => one.add(2));
  expect(refused).toMatchObject({ kind: "locked", message: expect.stringContaining("log was removed") });
  one.mirror.close();
  one.reader.close();
  expect(one.idsNow()).toEqual([1]);

  const other = await owned();
  other.reader.exec("BEGIN");
  other.reader.prepare("SELECT count(*) FROM people").get();
  other.add(2);
  rmSync(`${other.path}-wal`);
  expect(errorOf(() => other.mirror.close()).message).toMatch(/^\d+ pages of the removed .* are lost/);
  expect(other.mirror.db.open).toBe(false);
});

/** What a version to come may do: a table, a column and a change of what is there. */
const later = [
  "CREATE TABLE _later (id INTEGER PRIMARY KEY) STRICT",
  "ALTER TABLE _meta ADD COLUMN later TEXT",
  "UPDATE _meta SET later = key",
];
const withLater = { ...migrations, "9999-later": later };

const schemaOf = (db: Db) =>
  rows({ db }, "SELECT type, name, sql FROM sqlite_master WHERE name NOT GLOB '_migrations*' ORDER BY name");

function migrated(steps: Migrations) {
  const db = openDatabase(join(tempFolder(), "shop.db"));
  migrate(db, steps);
  return db;
}

describe("migrations", () => {
  test("a fresh database gets all of them, and opening it again changes nothing", async () => {
    using db = migrated(migrations);
    expect(appliedMigrations(db)).toEqual(Object.keys(migrations));
    const before = schemaOf(db);
    const version = db.pragma("data_version", { simple: true });
    migrate(db);
    expect(schemaOf(db)).toEqual(before);
    expect(db.pragma("data_version", { simple: true })).toBe(version);
  });

  const names = Object.keys(withLater);
  test.each([...names.keys()])(
    "a database of an earlier version (%i steps) ends with the very schema of a fresh one",
    (count) => {
      using db = migrated(Object.fromEntries(Object.entries(withLater).slice(0, count)));
      using fresh = migrated(withLater);
      migrate(db, withLater);
      expect(appliedMigrations(db)).toEqual(names);
      expect(schemaOf(db)).toEqual(schemaOf(fresh));
    },
  );

  // Fault: files | the mirror was written by a newer version | an unknown migration in its list | refused with a hint, and left as it is
  test("a database of a newer version is refused and left as it is", async () => {
    using db = migrated(withLater);
    const before = schemaOf(db);
    const error = errorOf(() => migrate(db));
    expect(error).toMatchObject({ kind: "database", retryable: false });
    expect(error.message).toContain("newer version (9999-later)");
    expect(error.hint).toContain("Update fintoro-mirror");
    expect(schemaOf(db)).toEqual(before);
  });

  // Fault: process | a migration's step fails in its middle | a step with an error | the database is as before, and the next attempt succeeds
  test("a step that fails in its middle leaves the database as it was, and the next try succeeds", async () => {
    using db = migrated(migrations);
    const before = schemaOf(db);
    const failing = [...later, "DROP TABLE _meta", "CREATE TABLE _later (id INTEGER)"];
    const error = errorOf(() => migrate(db, { ...migrations, "9999-later": failing }));
    expect(error.kind).toBe("database");
    expect(db.inTransaction).toBe(false);
    expect(schemaOf(db)).toEqual(before);
    migrate(db, withLater);
    expect(appliedMigrations(db)).toEqual(names);
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
