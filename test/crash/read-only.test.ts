import { chmodSync, chownSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCommand, runProgram, temporaryFolder } from "../support/program/cli.ts";
import type { CommandResult, Ended } from "../support/program/cli.ts";
import { put } from "../support/mirror/store.ts";
import { aClientsFolder, changeMirror } from "./points/publish-scenario.ts";

/** Modes bind every user but root, who runs the program as nobody. */
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

async function run(cwd: string, command: string): Promise<CommandResult> {
  if (isRoot) process.seteuid?.(nobody);
  return runCommand(command.split(" "), { cwd }).finally(() => isRoot && process.seteuid?.(0));
}

/** In a process, which alone can be of another real user: whom the system's answers are about. */
function runProcess(cwd: string, args: readonly string[]): Promise<Ended> {
  return runProgram(args, { cwd, ...(isRoot && { uid: nobody, gid: nobody }) });
}

/** Fails with 10, and says this; gives all that it says. */
async function expectRefusal(cwd: string, command: string, why: RegExp): Promise<string> {
  const { code, stderr } = await run(cwd, command);
  const said = expect.stringMatching(why) as string;
  expect({ command, code, stderr }).toEqual({ command, code: 10, stderr: said });
  return stderr;
}

function giveAway(folder: string): void {
  if (!isRoot) return;
  for (const name of ["", ...readdirSync(folder)]) chownSync(path.join(folder, name), nobody, nobody);
}

// Fault: disk | the data folder becomes read-only | mode of the folder, below sync, publish and export | each ends with 10, the path and what to check; nothing is changed; when it can be written again all of them succeed
test("a folder that becomes read-only: a clear error of each command, nothing lost, and all goes on afterwards", async () => {
  const folder = await aClientsFolder(50);
  giveAway(folder);
  const commands = ["publish --config config.yaml", "export clients --out . --config config.yaml"];
  for (const command of commands) expect((await run(folder, command)).stderr).not.toContain('"error"');
  await changeMirror(folder, (mirror) => put(mirror, "units", { id: 1, name: "new" }));
  giveAway(folder);
  const content = () => {
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    return files.map(({ name }) => [name, readFileSync(path.join(folder, name), "hex")]);
  };
  const before = content();
  chmodSync(folder, 0o555);
  for (const command of ["sync --config config.yaml", ...commands]) {
    const stderr = await expectRefusal(folder, command, /cannot be (?:written|opened|used).*/s);
    expect(stderr).toContain(folder);
    expect(stderr).toMatch(/"hint":"Check (?:that|the owner)/);
  }
  chmodSync(folder, 0o755);
  expect(content()).toEqual(before);
  for (const command of commands) expect((await run(folder, command)).code).toBe(0);
});

// Fault: disk | a command runs as a user who may not look into the data folder | mode of the folder | each that reads the mirror ends with 10; none says that there is no mirror, or that all files are whole
test("a folder that may not be looked into is named, and not taken for one without a mirror", async () => {
  const folder = await aClientsFolder(5);
  const cwd = temporaryFolder({
    "config.yaml": `data_dir: ${folder}\ncompanies: { acme: { token: a-token } }\n`,
  });
  giveAway(cwd);
  chmodSync(folder, 0);
  onTestFinished(() => chmodSync(folder, 0o755));
  for (const command of ["status", "changes", "files check", "verify --local", "export", "publish", "mcp"])
    await expectRefusal(cwd, command, /the (?:database|lock file) cannot be (?:opened|used)/);
});

// Fault: disk | the lock file belongs to another user, as after a command that root ran | mode of the file, below sync and status | both name the file and the reason; no bug is reported
test("a lock file that cannot be opened is named, with the reason", async () => {
  const folder = await aClientsFolder(5);
  const lock = path.join(folder, "acme.lock");
  writeFileSync(lock, "");
  giveAway(folder);
  chmodSync(lock, 0);
  for (const command of ["sync", "status"]) {
    const { stdout, stderr } = await runProcess(folder, [command, "--config", "config.yaml"]);
    expect(stdout + stderr).toContain(`the lock file cannot be used: ${lock}`);
    expect(stdout + stderr).toMatch(/no permission/);
    expect(stderr).not.toContain("bug");
  }
});

// Fault: disk | root runs a command beside the daemon's files | a mirror of another user | refused, with how to run it; nothing is made
test.runIf(isRoot)("root writes nothing beside the mirror of another user", async () => {
  const folder = await aClientsFolder(5);
  writeFileSync(path.join(folder, "acme.lock"), "");
  giveAway(folder);
  const before = readdirSync(folder);
  expect(await runCommand(["sync", "--config", "config.yaml"], { cwd: folder })).toMatchObject({
    code: 10,
    stderr: expect.stringContaining("sudo -u '#65534'") as string,
  });
  expect(readdirSync(folder)).toEqual(before);
});

test.runIf(isRoot)("root goes on in a folder of another user whose files are its own", async () => {
  const folder = await aClientsFolder(5);
  await changeMirror(folder, (mirror) => put(mirror, "units", { id: 1, name: "new" }));
  chownSync(folder, nobody, nobody);
  expect((await runCommand(["prune", "--config", "config.yaml"], { cwd: folder })).code).toBe(0);
});
