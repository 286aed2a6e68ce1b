import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../src/base/random.ts";
import { endOf } from "../support/cli.ts";
import { aStage, namedFiles, stagedBytes, type Stage } from "../support/export-crash.ts";

async function finish(stage: Stage, args: readonly string[]): Promise<void> {
  const ended = await endOf(stage.start(args));
  expect({ code: ended.code, stderr: ended.code === 0 ? "" : ended.stderr }).toEqual({ code: 0, stderr: "" });
  expect(readdirSync(stage.out)).toEqual(["acme"]);
  expect(namedFiles(stage.out)?.wrong).toEqual([]);
}

/** Kills the run once it has written so much, or a while later; false: it was done before. */
async function killedAt(
  stage: Stage,
  args: readonly string[],
  bytes: number,
  laterMs: number,
): Promise<boolean> {
  const child = stage.start(args);
  const ended = endOf(child);
  const watch = setInterval(() => {
    if ((stagedBytes(stage.out) ?? -1) < bytes) return;
    clearInterval(watch);
    void sleep(laterMs).then(() => child.kill("SIGKILL"));
  }, 1);
  const { code } = await ended.finally(() => clearInterval(watch));
  return code === null;
}

describe("kill -9", () => {
  test("at any moment leaves the files of before whole, and the next run leaves nothing else", async () => {
    const stage = await aStage(30_000);
    const args = ["clients", "--format", "csv"];
    await finish(stage, args);
    const random = seededRandom(Number(process.env["CRASH_SEED"] ?? 7));
    const size = namedFiles(stage.out)?.manifest.files[0]?.bytes ?? 0;
    let kills = 0;
    for (let generation = 1; generation <= 4; generation++) {
      stage.change(generation);
      if (await killedAt(stage, args, size * random.next(), random.next() * 20)) kills++;
      const found = namedFiles(stage.out);
      const isMoving = existsSync(path.join(stage.out, ".acme.export/record.json"));
      expect({ generation, wrong: isMoving ? [] : found?.wrong }).toEqual({ generation, wrong: [] });
      expect(existsSync(path.join(stage.out, "acme/clients.csv"))).toBe(true);
    }
    expect(kills).toBeGreaterThan(1);
    await finish(stage, args);
  }, 60_000);
});

test("SIGINT ends with 130, the files of before are whole and nothing is left", async () => {
  const stage = await aStage(30_000);
  await finish(stage, ["clients"]);
  stage.change(1);
  const child = stage.start(["clients", "units"]);
  const ended = endOf(child);
  const watch = setInterval(() => {
    if (stagedBytes(stage.out) === null) return;
    clearInterval(watch);
    child.kill("SIGINT");
  }, 1);
  const { code } = await ended.finally(() => clearInterval(watch));
  expect(code).toBe(130);
  expect(namedFiles(stage.out)?.wrong).toEqual([]);
  expect(readdirSync(stage.out)).toEqual(["acme"]);
}, 60_000);

describe("a full disk", () => {
  test.each(["csv", "parquet"])(
    "%s: the files of before are whole, the error is clear, nothing is left",
    async (format) => {
      const stage = await aStage(30_000);
      const args = ["clients", "--format", format];
      await finish(stage, args);
      const before = namedFiles(stage.out)?.manifest;
      stage.change(1);
      const { code, stderr } = await endOf(stage.start(args, 100));
      expect(code).toBe(10);
      expect(stderr).toContain("the disk is full");
      expect(stderr).toContain("clients");
      expect(namedFiles(stage.out)).toEqual({ manifest: before, wrong: [] });
      expect(readdirSync(stage.out)).toEqual(["acme"]);
    },
    60_000,
  );
});
