import { openSync, closeSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, vi } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { Repository } from "../../src/store/own-tables/statement.ts";
import { databaseError, guarded, inTransaction, openDatabase } from "../../src/store/database.ts";
import { errorOf, rejectionOf } from "../support/errors.ts";
import { manifestOf, openHasty, openShop } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { person } from "../support/mirror/shop-records.ts";
import { allChanges, liveRecords, put } from "../support/mirror/store.ts";

describe("a writing connection", () => {
  test("really runs with synchronous=FULL over a write-ahead log", async () => {
    const { db } = await openShop();
    expect(db.pragma("synchronous", { simple: true })).toBe(2);
    expect(db.pragma("journal_mode", { simple: true })).toBe("wal");
  });

  // Fault: disk | another connection begins to write first | two connections | busy at once, a retryable error, no failed upgrade of a lock
  test("takes the write lock when a transaction begins, so that reading first is no trap", () => {
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
});

describe("what SQLite says becomes what the user can do", () => {
  // Fault: files | a foreign file in the mirror's place | a text file | refused with the reason, and not touched
  test("a foreign file in the mirror's place is not touched", async () => {
    const path = join(tempFolder(), "shop.db");
    writeFileSync(path, "Dear diary,\n".repeat(500));
    const error = await rejectionOf(openMirror(path, manifestOf()));
    expect(error).toMatchObject({ kind: "database", retryable: false });
    expect(error.message).toBe(`the file is not a SQLite database: ${path}`);
    expect(statSync(path).size).toBe(6_000);
  });

  // Fault: disk | damaged pages in the mirror's file | 64 kB overwritten in its middle | reported as damage, with what to do
  test("a damaged page is reported as damage, with what to do", async () => {
    const mirror = await openHasty();
    const path = mirror.db.name;
    for (let id = 1; id <= 400; id++) put(mirror, "people", person(id, `name ${id} ${"x".repeat(200)}`));
    mirror.close();
    damage(path);
    const error = errorOf(() => {
      using broken = openDatabase(path);
      guarded(path, () => broken.prepare("SELECT count(name) FROM people").get());
    });
    expect(error.message).toBe(`the database is damaged: ${path}`);
    expect(error.hint).toContain("restore a backup");
  });

  // Fault: files | the data folder cannot be created | a file in its place | an error that names the path
  test("a folder that cannot be created is reported as such, by SQLite or by the system", async () => {
    const folder = tempFolder();
    const missing = join(folder, "none", "shop.db");
    expect(errorOf(() => openDatabase(missing)).message).toBe(`the database cannot be opened: ${missing}`);
    writeFileSync(join(folder, "file"), "");
    const below = join(folder, "file", "below", "shop.db");
    const error = await rejectionOf(openMirror(below, manifestOf()));
    expect(error.message).toBe(`the database cannot be opened: ${below}`);
  });

  // Fault: disk | SQLite or the system reports a full disk, an I/O error, damage, no permission | the error's code | a sentence that says which, and whether it may pass
  test.each([
    ["SQLITE_FULL", "the disk is full", true],
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

  test("an unforeseen error of SQLite keeps its message; any other error stays as it is", () => {
    const odd = new Database.SqliteError("no such column: x", "SQLITE_ERROR");
    expect(databaseError("/data/shop.db", odd)).toMatchObject({
      message: "no such column: x: /data/shop.db",
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

/** The middle of the file, as a bad disk leaves it. */
function damage(path: string): void {
  const file = openSync(path, "r+");
  const middle = Math.floor(statSync(path).size / 8_192) * 4_096;
  writeSync(file, Buffer.alloc(65_536, 0xa5), 0, 65_536, middle);
  closeSync(file);
}

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
