import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import type { ExportManifest } from "../../src/export/files/export-manifest.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { createTestInvocation, jsonLines, runCommand, temporaryFolder } from "../support/program/cli.ts";
import { eventually } from "../support/eventually.ts";
import { put } from "../support/mirror/store.ts";

/** Reads so many currencies into the mirror of a company; makes it where there is none. */
async function read(cwd: string, count: number): Promise<void> {
  const mirror = await openMirror(path.join(cwd, "acme.db"), manifest);
  const last = Number(mirror.db.prepare("SELECT count(*) FROM currencies").pluck().get());
  for (let id = last + 1; id <= last + count; id++) put(mirror, "currencies", { id, symbol: "EUR" });
  mirror.close();
}

/** A folder with a config of a company, and a mirror with five changes. */
async function aFolder(): Promise<string> {
  const cwd = temporaryFolder({
    "config.yaml": "data_dir: .\ncompanies: { acme: { token: '${env:TOKEN}' } }\n",
  });
  await read(cwd, 5);
  return cwd;
}

/** Removes the mirror's file; the next read makes it anew. */
function removeMirror(cwd: string): void {
  for (const ending of ["", "-wal", "-shm"]) rmSync(path.join(cwd, `acme.db${ending}`), { force: true });
}

const changes = async (cwd: string, ...more: string[]) => {
  const { code, stdout, stderr } = await runCommand(["changes", ...more], { cwd });
  return { code, said: `${stderr}${stdout}`, lines: code === 0 ? jsonLines(stdout) : [] };
};

const exporting = (cwd: string, out: string, ...more: string[]) =>
  runCommand(["export", "currencies", "--format", "jsonl", "--out", out, ...more], { cwd });

const manifestIn = (cwd: string, out: string) =>
  JSON.parse(readFileSync(path.join(cwd, out, "acme/manifest.json"), "utf8")) as ExportManifest;

describe("a follower of the change log", () => {
  test("finds log and number in each line and at the end of the document, and goes on from there", async () => {
    const cwd = await aFolder();
    const { lines } = await changes(cwd);
    const [, , third] = lines;
    const rest = await changes(cwd, "--since", `${String(third?.["log"])}:${String(third?.["seq"])}`);
    expect(rest.lines).toEqual(lines.slice(3));
    const { stdout } = await runCommand(["changes", "--json", "--since", String(third?.["seq"])], { cwd });
    const { log, next_since } = JSON.parse(stdout) as { log: string; next_since: number };
    expect(await changes(cwd, "--since", `${log}:${next_since}`)).toMatchObject({ code: 0, lines: [] });
    await read(cwd, 1);
    expect((await changes(cwd, "--since", `${log}:${next_since}`)).lines).toHaveLength(1);
  });

  // Fault: disk | the mirror's file is removed, and the mirror made anew | `changes` and `export` from a position of before | exit 2 that says how to begin anew; nothing is written, no change is skipped
  test("of a mirror that was made anew is refused with any earlier position, and nothing is written", async () => {
    const cwd = await aFolder();
    await exporting(cwd, "all");
    const { log, next_since } = manifestIn(cwd, "all");
    removeMirror(cwd);
    await read(cwd, 20);
    for (const position of [`${log}:0`, String(next_since), "9000000000000000"]) {
      for (const more of [[], ["--follow"], ["--json"]]) {
        const refused = await changes(cwd, "--since", position, ...more);
        expect([position, refused.code, refused.lines]).toEqual([position, 2, []]);
        expect(refused.said).toContain("Begin anew");
      }
      const refused = await exporting(cwd, "delta", "--since", position);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("Begin anew")]);
    }
    expect(existsSync(path.join(cwd, "delta"))).toBe(false);
    expect((await changes(cwd, "--since", "0")).lines).toHaveLength(20);
  });

  // Fault: disk | the mirror's file is removed, and the mirror made anew | while `changes --follow` follows it | it ends with exit 10 and says so, and does not wait for ever
  test("ends where the mirror is made anew under it", async () => {
    const cwd = await aFolder();
    const { run, written } = createTestInvocation(["changes", "--follow"], {
      commands,
      clock: systemClock,
      cwd,
    });
    const ended = run();
    await eventually(() => written.stdout.split("\n").length > 5, "all five changes");
    removeMirror(cwd);
    await read(cwd, 1);
    expect(await ended).toMatchObject({ code: 10, stderr: expect.stringContaining("Follow it again") });
  });
});
