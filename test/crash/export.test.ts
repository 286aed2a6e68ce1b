import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { spawn } from "node:child_process";
import { describe, expect, test } from "vitest";
import { endOf } from "../support/program/cli.ts";
import { processEnv, program } from "../support/program/process-env.ts";
import { changeMirror, clientsFolder } from "./points/publish-scenario.ts";
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

  // Fault: disk | the disk is full while the report is written | a process of `publish` with a limit on file size | exit 10 with the cause; the old report stays, and nothing else
  test("publish: the old report is complete, the error names the cause, nothing else is left", async () => {
    const cwd = await clientsFolder(20_000);
    const publish = (limit: string) => {
      const line = `${limit} exec "${process.execPath}" "${program}" publish --force --config config.yaml`;
      return endOf(
        spawn("bash", ["-c", line], { cwd, env: processEnv(), stdio: ["ignore", "pipe", "pipe"] }),
      );
    };
    expect((await publish("")).code).toBe(0);
    const names = readdirSync(cwd);
    const report = readFileSync(path.join(cwd, "acme.report.db"));
    await changeMirror(cwd, ({ db }) => db.exec("UPDATE clients SET name = 'changed'"));
    const { code, stderr } = await publish("ulimit -f 512;");
    expect({ code, stderr }).toEqual({ code: 10, stderr: expect.stringMatching(/disk|space/) as string });
    expect(stderr).not.toContain("bug");
    expect(readFileSync(path.join(cwd, "acme.report.db")).equals(report)).toBe(true);
    expect(readdirSync(cwd)).toEqual(names);
  });
});
