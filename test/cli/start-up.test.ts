import path from "node:path";
import { expect, test } from "vitest";
import { knownFintoro } from "../../connectors/fintoro/known.ts";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { root, runProgram, temporaryFolder } from "../support/cli.ts";

async function packagesOf(args: readonly string[], cwd?: string): Promise<readonly string[]> {
  const file = `--import=${path.join(root, "test/support/loaded-packages.ts")}`;
  const { stderr } = await runProgram([path.join(root, "src/main.ts"), ...args], {
    file,
    ...(cwd !== undefined && { cwd }),
  });
  return JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "") as readonly string[];
}

test.each([["--help"], ["--version"], ["sync", "--help"], ["webhooks", "inbox", "--help"]])(
  "%s %s loads the parser and no other package",
  async (...args) => {
    expect(await packagesOf(args)).toEqual(["commander"]);
  },
);

test("a refused config loads what reads a config, and no database, HTTP client or scheduler", async () => {
  const cwd = temporaryFolder({ "config.yaml": "companiez: {}\n" });
  const loaded = await packagesOf(["sync"], cwd);
  expect(loaded).toEqual(expect.arrayContaining(["commander", "yaml", "zod"]));
  for (const name of [
    "better-sqlite3",
    "undici",
    "kysely",
    "croner",
    "prom-client",
    "hyparquet-writer",
    "s3mini",
  ])
    expect(loaded).not.toContain(name);
});

test("what a config is checked against is what the manifest says", () => {
  const { name, baseUrl, languages, resources } = manifest;
  const shown = resources.map((one) => ({ name: one.name, isOfParents: one.list.kind === "parents" }));
  const { resources: known, ...facts } = knownFintoro;
  expect(facts).toEqual({ name, baseUrl, languages });
  expect(known.map((one) => ({ name: one.name, isOfParents: one.list.kind === "parents" }))).toEqual(shown);
});
