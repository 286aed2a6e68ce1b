import { rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { openMirror } from "../../src/state/mirror.ts";
import { openDatabase } from "../../src/store/database.ts";
import { takeWriterLock } from "../../src/store/writer-lock.ts";
import { errorOf } from "../support/errors.ts";
import { look } from "../support/truth/compare.ts";
import { manifestOf } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { put } from "../support/mirror/store.ts";

/** A mirror of somebody who holds its lock, with one record in its log. */
async function owned() {
  const path = `${tempFolder()}/shop.db`;
  const lock = takeWriterLock(`${path}.lock`, "serve");
  onTestFinished(() => lock.release());
  const mirror = await openMirror(path, manifestOf(), {}, { lock });
  const add = (id: number) => put(mirror, "people", { id, name: "one", email: null, score: 0 });
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
