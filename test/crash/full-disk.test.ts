import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { aCompany, type Company } from "../support/company/company.ts";
import { runCommand } from "../support/program/cli.ts";
import { count, expectEqual, expectReplayable } from "../support/truth/equal.ts";
import { localDamage } from "../support/mirror/local-check.ts";
import { serve, writeServeConfig } from "../support/program/serve.ts";
import { deliver, eventOf } from "../support/program/deliveries.ts";
import { eventually } from "../support/eventually.ts";
import { heldSync, receiving } from "./processes.ts";

/** From now on no file that the process writes can grow beyond this; `unlimited` gives the space back. */
function limitFiles(pid: number | undefined, bytes: number | "unlimited"): void {
  const { status, stderr } = spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`]);
  expect({ status, stderr: String(stderr) }).toEqual({ status: 0, stderr: "" });
}

/** Part of util-linux: elsewhere these tests are shown as skipped. */
const isLimitable = spawnSync("prlimit", ["--version"]).status === 0;

const diskIsFull = /the disk (?:is full|gave an input\/output error): .*acme\.db/;
const walBytes = (company: Company) => statSync(path.join(company.folder, "acme.db-wal")).size;

describe.runIf(isLimitable)("a disk that becomes full", () => {
  // Fault: disk | no file can grow any more (RLIMIT_FSIZE) in the middle of a sync | the write-ahead log of the mirror | exit 10 with the file and what to do; what is committed is sound; with space again the next run completes it
  test("sync ends with 10, says where and what to do, and the next run goes on", async () => {
    const company = writeServeConfig(await aCompany({ records: 2 }));
    const { child, ended, release } = await heldSync(company);
    limitFiles(child.pid, walBytes(company));
    release();
    const { code, stderr } = await ended;
    expect(code).toBe(10);
    expect(stderr).toMatch(diskIsFull);
    expect(stderr).toMatch(/everything committed is kept/);
    expect(await localDamage(company)).toEqual([]);
    expect((await runCommand(["sync"], { cwd: company.folder })).code).toBe(0);
    expectEqual(company);
    expectReplayable(company);
  });

  // Fault: disk | no file can grow any more (RLIMIT_FSIZE) while deliveries come to serve | the write-ahead log of the mirror | 503 and nothing kept, and from then on `/readyz` 503 with the reason; with space again the same delivery gets 204 and both end, without a restart
  test("I6: serve refuses deliveries with 503 and is not ready, and takes them by itself when there is space again", async () => {
    const { company, daemon } = await receiving(serve);
    const readiness = async () => {
      const answer = await fetch(`${daemon.url}/readyz`);
      return `${answer.status}: ${await answer.text()}`;
    };
    const delivery = eventOf("clients.updated", 1);
    limitFiles(daemon.child.pid, 4_096);
    expect(await deliver(daemon, delivery)).toBe(503);
    expect(count(company.file, "SELECT count(*) FROM _inbox")).toBe(0);
    // A page of a moment ago may still be shown for up to a second.
    const reason = /^503: .*not_stored; the mirror cannot be written: look for a full disk/s;
    await eventually(async () => reason.test(await readiness()), "not ready, with the reason");
    limitFiles(daemon.child.pid, "unlimited");
    expect(await deliver(daemon, delivery)).toBe(204);
    expect(count(company.file, "SELECT count(*) FROM _inbox")).toBe(1);
    await eventually(async () => (await readiness()).startsWith("200"), "ready again");
    expect((await daemon.end("SIGTERM")).code).toBe(0);
    expect(daemon.said().find(({ msg }) => msg === "events cannot be stored")).toMatchObject({
      error: expect.stringMatching(diskIsFull) as string,
      hint: expect.stringContaining("everything committed is kept") as string,
    });
    expect(await localDamage(company)).toEqual([]);
  });
});
