import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { knownFintoro } from "../../connectors/fintoro/known.ts";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import type { KnownConnector } from "../../src/config/config-schema.ts";
import { binFile, root, runProgram, temporaryFolder } from "../support/program/cli.ts";
import type { Start } from "../support/program/process-env.ts";
import { aCompany } from "../support/company/company.ts";

async function packagesOf(args: readonly string[], start: Start = {}): Promise<readonly string[]> {
  const file = `--import=${new URL("../support/program/loaded-packages.ts", import.meta.url).href}`;
  const { stderr } = await runProgram([path.join(root, "src/main.ts"), ...args], { file, ...start });
  return JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "") as readonly string[];
}

test.each(["--version", "webhooks inbox --help"])(
  "%s loads the parser and no other package",
  async (line) => {
    expect(await packagesOf(line.split(" "))).toEqual(["commander"]);
  },
);

test("a refused config loads what reads a config, and no database, HTTP client or scheduler", async () => {
  const cwd = temporaryFolder({ "config.yaml": "companiez: {}\n" });
  const loaded = await packagesOf(["sync"], { cwd });
  expect(loaded).toEqual(expect.arrayContaining(["commander", "yaml", "zod"]));
  for (const name of ["better-sqlite3", "undici", "croner", "prom-client", "hyparquet-writer", "s3mini"])
    expect(loaded).not.toContain(name);
});

test("a run with its report loads no library of exports, object stores, ZIP files or fleets", async () => {
  const { sandbox } = await aCompany({ records: 1 });
  const config = `base_url: ${sandbox.url}\ncompanies: { acme: { token: "\${env:TOKEN}" } }\n`;
  const cwd = temporaryFolder({ "config.yaml": config });
  const loaded = await packagesOf(["sync", "-q"], { cwd, env: { TOKEN: sandbox.token } });
  expect(loaded).toEqual(expect.arrayContaining(["better-sqlite3", "undici"]));
  for (const name of ["hyparquet-writer", "s3mini", "fflate", "yauzl", "prom-client", "pg"])
    expect(loaded).not.toContain(name);
});

const factsOf = ({ name, list, files }: KnownConnector["resources"][number]) => ({
  name,
  isOfParents: list.kind === "parents",
  hasFiles: files !== undefined,
});

test("what a config is checked against is what the manifest says", () => {
  const { name, baseUrl, languages, resources } = manifest;
  const { resources: known, ...facts } = knownFintoro;
  expect(facts).toEqual({ name, baseUrl, languages });
  expect(known.map(factsOf)).toEqual(resources.map(factsOf));
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
