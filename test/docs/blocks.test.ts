import { copyFileSync, cpSync, existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../support/sandbox/control.ts";
import { root, runCommand, temporaryFolder } from "../support/program/cli.ts";
import { blocks, docs } from "../support/docs/docs.ts";
import { runPage } from "../support/docs/page.ts";
import { memoryScratch } from "../support/memory-folder.ts";

let sandbox: Sandbox;
/** A config and a mirror that is complete: where every page but the first ones begins. */
const { path: begun, remove } = memoryScratch();

beforeAll(async () => {
  sandbox = await startSandbox({ limit: 100_000, records: 5 });
  writeFileSync(path.join(begun, "config.yaml"), configOf(["acme"]));
  const { code, stderr } = await runCommand(["sync"], { cwd: begun, env: { FINTORO_TOKEN: sandbox.token } });
  expect(stderr && code).toBe(0);
});

afterAll(() => sandbox.close().finally(remove));

function configOf(companies: readonly string[]): string {
  const entries = companies.map(
    (name) => `  ${name}:
    token: \${env:FINTORO_TOKEN}
    webhook: { secrets: ["\${file:./${name}.webhook-secret}"], public_url: "https://hooks.example.com/webhooks/${name}" }`,
  );
  return `base_url: ${sandbox.url}\ndata_dir: ./data\ncompanies:\n${entries.join("\n")}\n`;
}

function addCompany(folder: string, name: string): void {
  copyFileSync(path.join(folder, "data/acme.db"), path.join(folder, `data/${name}.db`));
  writeFileSync(path.join(folder, "config.yaml"), configOf(["acme", name]));
}

const pages = [...docs.keys()].filter((file) =>
  blocks.some((block) => block.file === file && ["sh", "python"].includes(block.language)),
);
const notRun = blocks.filter(({ marks }) => marks[0] === "not-run");

test("every block says what it is, and no query stands without a reader", () => {
  for (const [file, text] of docs) {
    const fences = [...text.matchAll(/^ *```/gm)].length;
    expect([file, blocks.filter((block) => block.file === file).length * 2]).toEqual([file, fences]);
  }
  const known = /^(sh|cron|yaml|python|ts|sql (report|mirror|duckdb|run-by|not-run))\b/;
  const strange = blocks.filter(({ language, marks }) => !known.test(`${language} ${marks.join(" ")}`));
  expect(strange).toEqual([]);
});

describe("what a reader copies out of a page works, in the order of the page", () => {
  test.for(pages)("%s", async (file, { skip }) => {
    const folder = temporaryFolder();
    cpSync(begun, folder, { recursive: true });
    if (docs.get(file)?.includes("acme,beta") === true) addCompany(folder, "beta");
    const own = blocks.filter((block) => block.file === file);
    const { mishaps, missing } = await runPage(own, { folder, baseUrl: sandbox.url, token: sandbox.token });
    expect(mishaps).toEqual([]);
    if (missing.length > 0)
      skip(`without ${[...new Set(missing)].join(", ")} on this machine, the rest works`);
  });

  test("few blocks are left out, and each says why", () => {
    expect(notRun.filter(({ marks }) => marks.length < 3)).toEqual([]);
    const elsewhere = blocks.filter(({ marks }) => marks[0] === "run-by").map(({ marks }) => marks[1] ?? "");
    expect(elsewhere.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
    expect(notRun.length).toBeLessThanOrEqual(7);
  });
});
