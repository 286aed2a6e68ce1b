import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/**
 * Packs the package, installs it into an empty folder, and uses it there with the oldest Node that it supports and with
 * this one: sandbox, init, check, sync, verify, publish, export, package. Needs the registry. Usage: `node scripts/try-package.ts`.
 */
const project = fileURLToPath(new URL("..", import.meta.url));
const { name, version, engines } = JSON.parse(readFileSync(path.join(project, "package.json"), "utf8")) as {
  name: string;
  version: string;
  engines: { node: string };
};
const oldest = `${engines.node.replace(">=", "")}.0`;
const stepMs = 120_000;
const folder = mkdtempSync(path.join(os.tmpdir(), `${name}-package-`));
try {
  const tarball = pack();
  await tryWith(process.execPath, install("this-node", tarball));
  const node = fetchNode();
  if (node) await tryWith(node, install("oldest-node", tarball));
  else process.stderr.write(`Node ${oldest} cannot be fetched: the package was not tried with it\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Gives the tarball's path. */
function pack(): string {
  const listed = npm(project, "pack", "--json", "--silent", "--ignore-scripts", "--pack-destination", folder);
  const packed = JSON.parse(listed) as { filename: string }[] | Record<string, { filename: string }>;
  const file = Object.values(packed)[0]?.filename;
  if (file === undefined) throw new Error(`npm pack named no file: ${listed}`);
  return path.join(folder, path.basename(file));
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
  return execFileSync("npm", args, {
    cwd,
    encoding: "utf8",
    timeout: stepMs,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function tryWith(node: string, cwd: string): Promise<void> {
  const program = path.join(cwd, "node_modules", name, "bin", `${name}.js`);
  const env = { ...process.env };
  const run = (...args: readonly string[]) =>
    execFileSync(node, [program, "--quiet", ...args], {
      cwd,
      env,
      encoding: "utf8",
      timeout: stepMs,
      stdio: ["ignore", "pipe", "inherit"],
      maxBuffer: 64_000_000,
    });
  expect(run("--version").trim() === version, "--version names another version");
  JSON.parse(run("schema"));
  const sandbox = spawn(node, [program, "sandbox", "--json", "--limit", "6000"], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const { url, token } = await firstLine(sandbox);
    env["FINTORO_TOKEN"] = token;
    run("init", "--base-url", url, "--token-env", "FINTORO_TOKEN", "--company", "acme", "--no-input");
    run("check");
    const { companies } = JSON.parse(run("sync", "--json")) as { companies: { acme: { outcome: string } } };
    expect(companies.acme.outcome === "complete", "the sync is not complete");
    run("verify");
    run("publish");
    for (const format of ["csv", "parquet", "xlsx"]) run("export", "--format", format, "--out", "out");
    run("package", "--month", "2026-10", "--out", "months");
  } finally {
    sandbox.kill();
  }
  process.stdout.write(
    `installed and used with Node ${execFileSync(node, ["--version"], { encoding: "utf8" })}`,
  );
}

async function firstLine(process: ChildProcess): Promise<{ url: string; token: string }> {
  if (!process.stdout) throw new Error("the sandbox has no output");
  for await (const line of createInterface(process.stdout))
    return JSON.parse(line) as { url: string; token: string };
  throw new Error("the sandbox said nothing");
}

function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}
