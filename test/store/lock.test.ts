import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { lockHolder, takeWriterLock } from "../../src/store/writer-lock.ts";
import { errorOf } from "../support/errors.ts";
import { firstLine, startProgram } from "../support/program/cli.ts";
import { tempFolder } from "../support/temporary-folder.ts";

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
