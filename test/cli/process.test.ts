import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import {
  binFile,
  endOf,
  firstLine,
  jsonLines,
  runCommand,
  runProgram,
  startProgram,
  temporaryFolder,
  root,
} from "../support/program/cli.ts";
import { knownFintoro } from "../../connectors/fintoro/known.ts";
import { knownFakturoid } from "../../connectors/fakturoid/known.ts";
import { fakturoid } from "../../connectors/fakturoid/declaration.ts";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import type { KnownConnector } from "../../src/config/config-schema.ts";
import { processEnv, program, type Start } from "../support/program/process-env.ts";
import { aCompany } from "../support/company/company.ts";
import { wound } from "../support/verify/verify.ts";

const serveConfig = "companies: { acme: { token: nobodys-token } }\nserve: { listen: '127.0.0.1:0' }\n";

describe("the program", () => {
  test("refuses options of sandbox that the stand-in for Fakturoid does not obey", async () => {
    const faults = ["--faults", "500:0.1", "--latency", "1s"];
    const { code, stderr } = await runProgram(["sandbox", "--connector", "fakturoid", ...faults]);
    const msg = "the stand-in for Fakturoid has no --latency, --faults";
    expect([code, jsonLines(stderr)]).toEqual([2, [expect.objectContaining({ kind: "usage", msg })]]);
  });

  test("prints the tables as one document with --json", async () => {
    const { stdout } = await runCommand(["--json", "schema", "--tables"]);
    const tables = expect.arrayContaining([expect.objectContaining({ table: "invoices" })]) as unknown;
    expect(jsonLines(stdout)).toMatchObject([{ tables }]);
  });
});

test.each([
  ["yaml", "openapi: 3.1.0\ninfo: { title: t, version: '1' }\npaths: {}\n"],
  ["json", '{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}'],
])("connector check exits 1 on a reference in %s that lacks what the connector calls", async (form, text) => {
  const file = `empty.${form}`;
  const cwd = temporaryFolder({ [file]: text });
  const result = await runCommand(["connector", "check", "--openapi", file], { cwd });
  expect(result).toMatchObject({ code: 1, stdout: expect.stringMatching(/^breaking {2}GET \/whoami/m) });
});

// Fault: process | the working folder was removed | the program's start | what is missing is named, no stack
test("starts in a folder that was removed, and finds nothing there", async () => {
  const gone = path.join(temporaryFolder(), "gone");
  mkdirSync(gone);
  const start = `cd ${gone} && rmdir ${gone} && exec '${process.execPath}' '${binFile}' status`;
  const { status, stderr } = spawnSync("sh", ["-c", start], { encoding: "utf8", env: processEnv({}) });
  const msg = "the config config.yaml cannot be read: there is no such file";
  expect([status, jsonLines(stderr)]).toEqual([2, [expect.objectContaining({ msg })]]);
});

// Fault: process | an older Node starts the program | the version that `bin` reads | exit 2 with the version needed, no stack
test.each(["22.18.9", "0.10.48"])("bin refuses Node %s before it reads anything else", async (version) => {
  // The bin, read by a Node that says it is another.
  const disguise = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
  const script = `${disguise}; require(${JSON.stringify(binFile)})`;
  const { code, stdout, stderr } = await runProgram([script], { file: "-e" });
  expect([code, stdout]).toEqual([2, ""]);
  const msg = expect.stringContaining(`needs Node 22.19 or newer; this is Node ${version}`) as string;
  expect(jsonLines(stderr)).toMatchObject([{ level: "error", msg }]);
});

// Fault: secrets | SIGUSR1, which has Node open its inspector | a serving process | no inspector, it goes on
test("serve opens no inspector on SIGUSR1", async () => {
  const cwd = temporaryFolder({ "config.yaml": `base_url: http://127.0.0.1:9\n${serveConfig}` });
  const child = startProgram(["serve", "--json"], { cwd, file: binFile });
  const ended = endOf(child);
  const { url } = JSON.parse(await firstLine(child)) as { readonly url: string };
  child.kill("SIGUSR1");
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  child.kill("SIGTERM");
  const stderr = expect.not.stringMatching(/debugger|inspector|ws:/i) as string;
  expect(await ended).toMatchObject({ code: 0, stderr });
});

/** The source shows all packages; what is built starts faster, and has some of them in itself. */
async function packagesOf(
  args: readonly string[],
  { from = path.join(root, "src/main.ts"), ...start }: Start & { readonly from?: string } = {},
): Promise<readonly string[]> {
  const file = `--import=${new URL("../support/program/loaded-packages.ts", import.meta.url).href}`;
  const { stderr } = await runProgram([from, ...args], { file, ...start });
  return JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "") as readonly string[];
}

test.each(["--version", "webhooks inbox --help"])(
  "%s loads the parser and no other package",
  async (line) => {
    expect(await packagesOf(line.split(" "))).toEqual(["commander"]);
  },
);

test("a refused config loads what reads a config, and no database or HTTP client", async () => {
  const cwd = temporaryFolder({ "config.yaml": "companiez: {}\n" });
  const loaded = await packagesOf(["sync"], { cwd });
  expect(loaded).toEqual(expect.arrayContaining(["commander", "yaml", "zod"]));
  for (const name of ["better-sqlite3", "undici", "prom-client", "hyparquet-writer", "s3mini"])
    expect(loaded).not.toContain(name);
});

test("a run with its report loads no library of exports, object stores, ZIP files or fleets", async () => {
  const { sandbox } = await aCompany({ records: 1 });
  const config = `base_url: ${sandbox.url}\ncompanies: { acme: { token: "\${env:TOKEN}" } }\n`;
  const cwd = temporaryFolder({ "config.yaml": config });
  const loaded = await packagesOf(["sync", "-q"], { cwd, env: { TOKEN: sandbox.token }, from: program });
  expect(loaded).toContain("better-sqlite3");
  for (const name of ["hyparquet-writer", "s3mini", "fflate", "yauzl", "prom-client", "pg"])
    expect(loaded).not.toContain(name);
});

const factsOf = ({ name, baseUrl, languages, resources }: KnownConnector) => ({
  name,
  baseUrl,
  languages,
  resources: resources.map(({ name: resource, list, files }) => ({
    resource,
    isOfParents: list.kind === "parents",
    isWalked: list.kind === "walked",
    hasFiles: files !== undefined,
  })),
});

test.each([
  ["fintoro", knownFintoro, declaration],
  ["fakturoid", knownFakturoid, fakturoid],
] as const)("what a config of %s is checked against is what its connector declares", (_, known, declared) => {
  expect(factsOf(known)).toEqual(factsOf(declared));
});

async function versionWith(cacheHome: string): Promise<string> {
  const { code, stdout, stderr } = await runProgram(["--version"], {
    file: binFile,
    env: { XDG_CACHE_HOME: cacheHome, NODE_COMPILE_CACHE: "" },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

describe("compiled code", () => {
  test("is kept in a folder of the user's own, and nowhere where there can be none", async () => {
    const home = temporaryFolder({ file: "" });
    expect(await versionWith(path.join(home, "file"))).toMatch(/^\d/);
    await versionWith(home);
    const folder = path.join(home, "fintoro-mirror/compiled");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder)).not.toEqual([]);
  });

  test("is not taken from a folder that others may write", async () => {
    const home = temporaryFolder();
    const folder = path.join(home, "fintoro-mirror/compiled");
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    expect(await versionWith(home)).toMatch(/^\d/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test("a quiet command prints nothing when it is complete, for cron mails what is printed; one that is not says why", async () => {
  const { proxy, sandbox } = await aCompany({ records: 1 });
  const config = `base_url: ${proxy.baseUrl}\ndata_dir: .\ncompanies: { acme: { token: "\${env:TOKEN}" } }\n`;
  const cwd = temporaryFolder({ "config.yaml": `${config}schedule: { publish: off }\n` });
  const run = (line: string) => runCommand(line.split(" "), { cwd, env: { TOKEN: sandbox.token } });
  const expectNothing = async (line: string) =>
    expect(await run(line), line).toEqual({ code: 0, stdout: "", stderr: "" });
  const mirror = { file: path.join(cwd, "acme.db") };
  for (const line of ["sync --quiet", "-q verify --local", "-q publish --combined"])
    await expectNothing(line);
  // A record of an event, to be read once more in a minute.
  const recheck = "VALUES ('clients', '1', 'detail', 0, ?, 'recheck', 0)";
  const columns = "resource, target, kind, lane, due_ms, reason, dirty_seq";
  wound(mirror, `INSERT INTO _work (${columns}) ${recheck}`, Date.now() + 60_000);
  await expectNothing("sync --quiet");
  const limited = await run("--quiet sync --full --max-requests 1");
  expect(limited).toMatchObject({ code: 5, stdout: expect.stringMatching(/^acme: stopped/) });
  wound(mirror, "UPDATE clients SET name = 'another'");
  const wounded = await run("-q verify --local");
  expect(wounded).toMatchObject({ code: 1, stdout: expect.stringContaining("differs in name") });
});
