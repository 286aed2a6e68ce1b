import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, onTestFinished } from "vitest";
import { lockHolder, takeWriterLock } from "../../src/store/writer-lock.ts";
import { errorOf } from "../support/errors.ts";
import { firstLine, startProgram } from "../support/program/cli.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { openDatabase } from "../../src/store/database.ts";
import { look } from "../support/truth/compare.ts";
import { manifestOf } from "../support/mirror/mirror.ts";
import { put } from "../support/mirror/store.ts";

const file = fileURLToPath(new URL("../support/mirror/hold-lock.ts", import.meta.url));

/** Another process that holds the lock. */
async function holding(path: string): Promise<ChildProcess> {
  const child = startProgram([path], { file, stdin: "pipe" });
  await firstLine(child);
  return child;
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}

describe("the writer lock", () => {
  test("a second process gets `locked`, with the pid and command of the first", async () => {
    const path = join(tempFolder(), "shop.lock");
    const child = await holding(path);
    const error = errorOf(() => takeWriterLock(path, "serve"));
    expect(error).toMatchObject({ kind: "locked", retryable: true });
    expect(error.message).toContain(`process ${child.pid} (sync, since 20`);
    expect(lockHolder(path)).toMatchObject({ pid: child.pid, command: "sync" });
    expect(lockHolder(path)?.description).toContain(`process ${child.pid}`);
  });

  // Fault: process | kill -9 of the process that holds the writer lock | a process with the lock | the lock is free, whatever note is left
  test("kill -9 releases it, whatever note was left behind", async () => {
    const path = join(tempFolder(), "shop.lock");
    await ended(await holding(path), "SIGKILL");
    expect(existsSync(`${path}.holder`)).toBe(true);
    expect(lockHolder(path)).toBeNull();
    takeWriterLock(path, "sync").release();
  });

  test("has one holder also within one process; to read who it is neither takes it nor makes a file", () => {
    const path = join(tempFolder(), "shop.lock");
    expect(lockHolder(path)).toBeNull();
    expect(existsSync(path)).toBe(false);
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

  // Fault: files | a foreign file in the lock's place, or no folder | the lock's path | reported as such, not as a lock
  test("a missing folder, or a foreign file, is reported as such and not as a lock", () => {
    const folder = tempFolder();
    expect(errorOf(() => takeWriterLock(join(folder, "none", "shop.lock"), "sync"))).toMatchObject({
      kind: "database",
      hint: expect.stringContaining("folder") as string,
    });
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
  const mirror = await openMirror(path, manifestOf(), { lock });
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
