import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";

/**
 * Packs the package, checks what is in it, installs it into an empty folder, and uses it there with the oldest Node
 * that it supports and with this one: sandbox, init, check, sync, rows in SQL, verify, publish, export, package. Also by
 * npx, and from its own lock file as a server and the container file do. Needs the registry. Usage: `node scripts/try-package.ts`.
 */
const project = fileURLToPath(new URL("..", import.meta.url));
const { name, version, engines } = JSON.parse(readFileSync(path.join(project, "package.json"), "utf8")) as {
  name: string;
  version: string;
  engines: { node: string };
};
const oldest = `${engines.node.replace(">=", "")}.0`;
const stepMs = 120_000;
/** From the file of the package to the first rows in SQL. */
const firstRowsMs = 120_000;
const folder = mkdtempSync(path.join(os.tmpdir(), `${name}-package-`));
try {
  const tarball = pack();
  await checkContents(readFileSync(tarball));
  const startedMs = performance.now();
  await tryWith(process.execPath, install("this-node", tarball), startedMs);
  const node = fetchNode();
  if (node) await tryWith(node, install("oldest-node", tarball), performance.now());
  else process.stderr.write(`Node ${oldest} cannot be fetched: the package was not tried with it\n`);
  tryNpx(tarball);
  tryOwnComputer(tarball);
  tryLockFile(tarball);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Gives the tarball's path. */
function pack(): string {
  const listed = npm(project, "pack", "--json", "--silent", "--pack-destination", folder);
  const packed = JSON.parse(listed) as { filename: string }[] | Record<string, { filename: string }>;
  const file = Object.values(packed)[0]?.filename;
  if (file === undefined) throw new Error(`npm pack named no file: ${listed}`);
  return path.join(folder, path.basename(file));
}

/** What package.json says of entries and types holds for every way of importing that can work. */
async function checkContents(data: Buffer): Promise<void> {
  const { messages } = await publint({ pack: { tarball: new Uint8Array(data).buffer }, strict: true });
  expect(messages.length === 0, `publint: ${JSON.stringify(messages)}`);
  const checked = await checkPackage(createPackageFromTarballData(new Uint8Array(data)));
  // Every Node that the package takes requires ES modules, too: tried below.
  const problems =
    checked.types === false
      ? ["no types"]
      : checked.problems.filter(({ kind }) => kind !== "CJSResolvesToESM");
  expect(problems.length === 0, `arethetypeswrong: ${JSON.stringify(problems)}`);
}

/** Gives the folder. */
function install(place: string, ...packages: readonly string[]): string {
  const at = path.join(folder, place);
  mkdirSync(at);
  writeFileSync(path.join(at, "package.json"), '{ "private": true }\n');
  npm(at, "install", "--no-audit", "--no-fund", "--prefer-offline", ...packages);
  return at;
}

/** Gives the path of the oldest Node; null where the registry does not have it. */
function fetchNode(): string | null {
  const nodePackage = `node-${process.platform}-${process.arch}`;
  try {
    return path.join(install("node", `${nodePackage}@${oldest}`), "node_modules", nodePackage, "bin/node");
  } catch {
    return null;
  }
}

function npm(cwd: string, ...args: readonly string[]): string {
  return run("npm", args, cwd);
}

function run(file: string, args: readonly string[], cwd: string, env = process.env): string {
  return execFileSync(file, args, {
    cwd,
    env,
    encoding: "utf8",
    timeout: stepMs,
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 64_000_000,
  });
}

async function tryWith(node: string, cwd: string, startedMs: number): Promise<void> {
  const program = path.join(cwd, "node_modules", name, "bin", `${name}.js`);
  const env = { ...process.env };
  const call = (...args: readonly string[]) => run(node, [program, "--quiet", ...args], cwd, env);
  expect(call("--version").trim() === version, "--version names another version");
  JSON.parse(call("schema"));
  const imported = `const { connect } = require("${name}"); import("${name}").then((one) => console.log(one.connect === connect))`;
  expect(
    run(node, ["--eval", imported], cwd).trim() === "true",
    "import and require give different libraries",
  );
  const sandbox = spawn(node, [program, "sandbox", "--json", "--limit", "6000"], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const { url, token } = await firstLine(sandbox);
    env["FINTORO_TOKEN"] = token;
    call("init", "--base-url", url, "--token-env", "FINTORO_TOKEN", "--company", "acme", "--no-input");
    call("check");
    const { companies } = JSON.parse(call("sync", "--json")) as { companies: { acme: { outcome: string } } };
    expect(companies.acme.outcome === "complete", "the sync is not complete");
    expectRows(node, cwd);
    const tookMs = performance.now() - startedMs;
    expect(tookMs < firstRowsMs, `the first rows took ${Math.round(tookMs / 1_000)} s`);
    call("verify");
    call("publish");
    for (const format of ["csv", "parquet", "xlsx"]) call("export", "--format", format, "--out", "out");
    call("package", "--month", "2026-10", "--out", "months");
    say(
      `first rows after ${Math.round(tookMs / 1_000)} s; all of it used with Node ${run(node, ["--version"], cwd).trim()}`,
    );
  } finally {
    sandbox.kill();
  }
}

/** As somebody with another program reads them: with the Node's own SQLite. */
function expectRows(node: string, cwd: string): void {
  const query = `new (require("node:sqlite").DatabaseSync)("data/acme.report.db", { readOnly: true })
    .prepare("SELECT count(*) AS rows FROM invoices").get().rows`;
  expect(Number(run(node, ["--no-warnings", "--print", query], cwd)) > 0, "the report has no invoice");
}

/** In an empty folder, as the documents say: npm does not find `./file` where there is no package.json. */
function tryNpx(tarball: string): void {
  const at = path.join(folder, "npx");
  mkdirSync(at);
  const npx = (...args: readonly string[]) => run("npx", ["--yes", "--package", tarball, name, ...args], at);
  expect(npx("--version").trim() === version, "npx starts another version");
  npx("demo", "--quiet");
  expect(existsSync(path.join(at, "demo/acme.report.db")), "the demo by npx left no report");
  say("used by npx");
}

/** The lines that docs/install.md has before `init`, where the file was saved. */
function tryOwnComputer(tarball: string): void {
  const at = path.join(folder, "own");
  cpSync(tarball, path.join(at, path.basename(tarball)));
  const page = readFileSync(path.join(project, "docs/install.md"), "utf8");
  const [lines = ""] = /^mkdir [^]*?(?=^npx)/m.exec(page) ?? [];
  const named = lines.replaceAll(/fintoro-mirror-[\d.]+\.tgz/g, path.basename(tarball));
  const said = run("sh", ["-ec", `${named}npx ${name} --version`], at);
  expect(lines !== "" && said.trim().endsWith(version), `docs/install.md installs something else: ${said}`);
}

/** As docs/install.md has it on a server, and the container file in its first stage. */
function tryLockFile(tarball: string): void {
  const at = path.join(folder, "server");
  mkdirSync(at);
  run("tar", ["--strip-components=1", "-xzf", tarball, "-C", at], folder);
  cpSync(path.join(at, "dist/package-lock.json"), path.join(at, "package-lock.json"));
  npm(at, "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline");
  const dockerfile = readFileSync(path.join(at, "examples/docker/Dockerfile"), "utf8");
  for (const [, part = ""] of dockerfile.matchAll(/^COPY --from=build \/app\/(\S+) /gm))
    expect(existsSync(path.join(at, part)), `the container file copies ${part}, which is not there`);
  expect(!existsSync(path.join(at, "node_modules/typescript")), "tools are installed");
  const said = run(process.execPath, [path.join(at, "bin", `${name}.js`), "--version"], at);
  expect(said.trim() === version, `the program from the lock file says ${said}`);
  say("installed from its own lock file");
}

async function firstLine(process: ChildProcess): Promise<{ url: string; token: string }> {
  if (!process.stdout) throw new Error("the sandbox has no output");
  for await (const line of createInterface(process.stdout))
    return JSON.parse(line) as { url: string; token: string };
  throw new Error("the sandbox said nothing");
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}
