import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../support/seeded-random.ts";
import { endOf } from "../support/program/cli.ts";
import { setUpExportCrash, namedFiles, stagedBytes, type ExportCrashSetup } from "../support/crash/export.ts";

async function finish(setup: ExportCrashSetup, args: readonly string[]): Promise<void> {
  const ended = await endOf(setup.start(args));
  expect({ code: ended.code, stderr: ended.code === 0 ? "" : ended.stderr }).toEqual({ code: 0, stderr: "" });
  expect(readdirSync(setup.out)).toEqual(["acme"]);
  expect(namedFiles(setup.out)?.wrong).toEqual([]);
}

/** Kills the run after so many bytes and milliseconds; false: it finished before. */
async function killedAt(
  setup: ExportCrashSetup,
  args: readonly string[],
  bytes: number,
  laterMs: number,
): Promise<boolean> {
  const child = setup.start(args);
  const ended = endOf(child);
  const watch = setInterval(() => {
    if ((stagedBytes(setup.out) ?? -1) < bytes) return;
    clearInterval(watch);
    void sleep(laterMs).then(() => child.kill("SIGKILL"));
  }, 1);
  const { code } = await ended.finally(() => clearInterval(watch));
  return code === null;
}

describe("kill -9", () => {
  // Fault: process | kill -9 at varied moments while files are written or moved | a process of `export` | the earlier files are complete, and the next run leaves nothing else
  test("at any moment leaves the earlier files complete, and the next run leaves nothing else", async () => {
    const setup = await setUpExportCrash(30_000);
    const args = ["clients", "--format", "csv"];
    await finish(setup, args);
    const random = seededRandom(Number(process.env["CRASH_SEED"] ?? 7));
    const size = namedFiles(setup.out)?.manifest.files[0]?.bytes ?? 0;
    let kills = 0;
    for (let generation = 1; generation <= 4; generation++) {
      setup.change(generation);
      if (await killedAt(setup, args, size * random.next(), random.next() * 20)) kills++;
      const found = namedFiles(setup.out);
      const isMoving = existsSync(path.join(setup.out, ".acme.export/record.json"));
      expect({ generation, wrong: isMoving ? [] : found?.wrong }).toEqual({ generation, wrong: [] });
      expect(existsSync(path.join(setup.out, "acme/clients.csv"))).toBe(true);
    }
    expect(kills).toBeGreaterThan(1);
    await finish(setup, args);
  });
});

// Fault: process | SIGINT while files are written | a process of `export` | exit 130; the earlier files are complete, and nothing else is left
test("SIGINT exits with 130; the earlier files are complete and nothing else is left", async () => {
  const setup = await setUpExportCrash(30_000);
  await finish(setup, ["clients"]);
  setup.change(1);
  const child = setup.start(["clients", "units"]);
  const ended = endOf(child);
  const watch = setInterval(() => {
    if (stagedBytes(setup.out) === null) return;
    clearInterval(watch);
    child.kill("SIGINT");
  }, 1);
  const { code } = await ended.finally(() => clearInterval(watch));
  expect(code).toBe(130);
  expect(namedFiles(setup.out)?.wrong).toEqual([]);
  expect(readdirSync(setup.out)).toEqual(["acme"]);
});

describe("a full disk", () => {
  // Fault: disk | the disk is full while CSV or Parquet is written | a process of `export` with a limit on file size | exit 10 with the cause; the earlier files are complete
  test.each(["csv", "parquet"])(
    "%s: the earlier files are complete, the error names the cause, nothing else is left",
    async (format) => {
      const setup = await setUpExportCrash(30_000);
      const args = ["clients", "--format", format];
      await finish(setup, args);
      const before = namedFiles(setup.out)?.manifest;
      setup.change(1);
      const { code, stderr } = await endOf(setup.start(args, 100));
      expect(code).toBe(10);
      expect(stderr).toContain("the disk is full");
      expect(stderr).toContain("clients");
      expect(namedFiles(setup.out)).toEqual({ manifest: before, wrong: [] });
      expect(readdirSync(setup.out)).toEqual(["acme"]);
    },
    60_000,
  );
});
