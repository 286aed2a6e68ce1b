import { cpSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { runProgram } from "../support/program/cli.ts";
import { aCompany, sync } from "../support/company/company.ts";
import { count } from "../support/truth/equal.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { aSmallDisk, canMount } from "../support/crash/small-disk.ts";
import { filesBelow } from "./points/crash-scenario.ts";
import { wrongFiles } from "./points/export-scenario.ts";
import { aClientsFolder, changeMirror } from "./points/publish-scenario.ts";
import { companyIn } from "./points/sync-scenario.ts";

const kilobytes = 1_024;

describe.runIf(canMount())("a file system without space (ENOSPC)", () => {
  // Fault: disk | no space is left on the file system in the middle of a publish | a small tmpfs that holds the report | a failure with the file; the report before stays; the next publish leaves no other file
  // Fault: disk | no space is left on the file system in the middle of an export | a small tmpfs that holds the files | a failure with the file; the files before stay; the next export leaves no other file
  test("publish and export end with 10 without space; report and files stay, and the next time leaves no other file", async () => {
    const disk = aSmallDisk(12_288 * kilobytes);
    const { folder: cwd } = disk;
    cpSync(await aClientsFolder(4_000), cwd, { recursive: true });
    const publish = () => runProgram(["publish", "--force"], { cwd });
    const write = () => runProgram(["export", "clients", "--format", "parquet", "--out", "out"], { cwd });
    for (const run of [publish, write]) expect(await run()).toMatchObject({ code: 0 });
    const report = path.join(cwd, "acme.report.db");
    const [before, names] = [readFileSync(report), filesBelow(cwd)];
    await changeMirror(cwd, ({ db }) => db.exec("UPDATE clients SET name = 'changed'"));
    for (const [run, left] of [
      [publish, 200],
      [write, 16],
    ] as const) {
      disk.fill(left * kilobytes);
      expect(await run()).toMatchObject({
        code: 10,
        stderr: expect.stringMatching(/the disk (?:is full|gave an input\/output error)/) as string,
      });
      disk.clear();
    }
    expect([readFileSync(report).equals(before), wrongFiles(path.join(cwd, "out"))]).toEqual([true, []]);
    for (const run of [publish, write]) expect(await run()).toMatchObject({ code: 0 });
    expect(count(report, "SELECT count(*) FROM clients WHERE name = 'changed'")).toBe(4_000);
    expect(wrongFiles(path.join(cwd, "out"))).toEqual([]);
    expect(filesBelow(cwd)).toEqual(names);
  });

  // Fault: disk | no space is left on the file system while files are fetched | a small tmpfs that holds mirror and archive | exit 10 with what is full; nothing is half; with space again the next time completes it
  test("files ends with 10 without space, and the next time goes on", async () => {
    const disk = aSmallDisk(16_384 * kilobytes);
    const company = companyIn(await aCompany({ records: 2 }), disk.folder);
    writeServeConfig(company, "files: { pdf: on, attachments: on }");
    await sync(company);
    const run = (...args: string[]) => runProgram(args, { cwd: disk.folder });
    for (const left of [0, 100]) {
      disk.fill(left * kilobytes);
      const { code, stderr } = await run("files");
      expect({ code, stderr }).toMatchObject({ code: 10 });
      expect(stderr).toMatch(/disk/);
      disk.clear();
      expect((await run("files", "check")).code).toBe(0);
    }
    const { code, stdout } = await run("files", "--json");
    expect({ code, stdout: JSON.parse(stdout) as object }).toMatchObject({
      code: 0,
      stdout: { companies: { acme: { outcome: "complete", pending: 0 } } },
    });
    expect((await run("files", "check")).code).toBe(0);
  });
});
