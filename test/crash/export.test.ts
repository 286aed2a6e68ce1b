import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { endOf } from "../support/program/cli.ts";
import { setUpExportCrash, namedFiles, stagedBytes, type ExportCrashSetup } from "../support/crash/export.ts";

async function finish(setup: ExportCrashSetup, args: readonly string[]): Promise<void> {
  const ended = await endOf(setup.start(args));
  expect({ code: ended.code, stderr: ended.code === 0 ? "" : ended.stderr }).toEqual({ code: 0, stderr: "" });
  expect(readdirSync(setup.out)).toEqual(["acme"]);
  expect(namedFiles(setup.out)?.wrong).toEqual([]);
}

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
