import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import type { ExportManifest } from "../../src/export/files/export-manifest.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { runCommand, temporaryFolder } from "../support/program/cli.ts";
import { s3Env, startS3 } from "../support/export/s3-server.ts";
import { putPreview } from "../support/mirror/store.ts";

const config =
  "data_dir: .\ncompanies: { acme: { token: '${env:TOKEN}' }, other: { token: '${env:TOKEN}' } }\n";

/** A folder with a config of two companies, the first of which has a mirror with two clients. */
async function aFolder(): Promise<string> {
  const folder = temporaryFolder({ "config.yaml": config });
  const mirror = await openMirror(path.join(folder, "acme.db"), manifest);
  mirror.db.exec("INSERT INTO clients (id, name, _synced_at) VALUES (1, 'Ann', ''), (2, 'Bob', '')");
  mirror.close();
  return folder;
}

function resultsIn(stdout: string) {
  return (JSON.parse(stdout) as { companies: Record<string, Record<string, unknown>> }).companies;
}

describe("export", () => {
  test("writes what is asked for, and prints where, how much and from where to go on", async () => {
    const cwd = await aFolder();
    const argv = ["export", "clients", "--company", "acme", "--json", "--out", "files"];
    // Files of an earlier export are not counted.
    await runCommand([...argv, "--format", "parquet"], { cwd });
    const { code, stdout } = await runCommand(argv, { cwd });
    expect(code).toBe(0);
    const text = readFileSync(path.join(cwd, "files/acme/clients.csv"), "utf8");
    const state = { outcome: "complete", rows: 2, bytes: text.length, seq: 0, next_since: 0 };
    const acme = { ...state, files: ["acme/clients.csv"], uploaded: null };
    expect(resultsIn(stdout)).toMatchObject({ acme });
    const shown = text.split("\r\n").map((line) => line.split(",").slice(0, 2).join(" "));
    expect(shown).toEqual(["id name", "1 Ann", "2 Bob", ""]);
  });

  test("of a month says which tables have no date, --to takes a day, too; what lacks details is one warning", async () => {
    const cwd = await aFolder();
    const mirror = await openMirror(path.join(cwd, "acme.db"), manifest);
    putPreview(mirror, "invoices", { id: 7, number: "1", total: 5 });
    mirror.close();
    const argv = "export clients invoices --company acme --from 2026-10-01 --to 2026-10-31".split(" ");
    const { code, stderr } = await runCommand(argv, { cwd });
    expect([code, stderr.match(/"level":"warn"/g)]).toEqual([0, [expect.any(String)]]);
    expect(stderr).toContain("the mirror is not complete");
    expect(stderr).toContain("tables without a date are exported whole: clients");
    const written = readFileSync(path.join(cwd, "export/acme/manifest.json"), "utf8");
    expect((JSON.parse(written) as ExportManifest).files.map(({ rows }) => rows)).toEqual([2, 0]);
  });

  test.each([
    [["--nested"], "--format parquet"],
    [["--nested", "--format", "parquet", "--since", "1"], "--since"],
    [["--dialect", "excel-sk", "--format", "jsonl"], "--format csv"],
    [["--partition-by", "day"], "year, month"],
    [["--to", "ftp://somewhere"], "s3://BUCKET"],
    [["v_stock", "--since", "0"], "v_stock"],
    [["--format", "jsonl", "--language", "sk"], "--language needs"],
    [["--from", "2026-02-30"], "a day such as"],
    [["--from", "2026-10-01", "--since", "1"], "--since"],
    [["--to", "2026-10-31", "--to", "2026-11-30"], "one place and one day"],
    [["v_stock", "--month", "2026-10"], "v_stock has no date"],
  ])("%j is refused with what would be right, and nothing is written", async (args, hint) => {
    const cwd = await aFolder();
    const result = await runCommand(["export", "--company", "acme", ...args], { cwd });
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(hint) });
    expect(existsSync(path.join(cwd, "export"))).toBe(false);
  });

  test("to S3 alone leaves no file on this machine, and never shows the key", async () => {
    const cwd = await aFolder();
    const server = await startS3(temporaryFolder(), "lake");
    onTestFinished(server.close);
    const env = s3Env(server.url);
    const argv = ["export", "clients", "--company", "acme", "--json", "--to", "s3://lake/daily"];
    const { code, stdout } = await runCommand(argv, { cwd, env });
    expect(code).toBe(0);
    const written = ["daily/acme/clients.csv", "daily/acme/manifest.json"];
    expect(resultsIn(stdout)).toMatchObject({
      acme: { uploaded: { written, unchanged: [], removed: [] } },
    });
    expect(readdirSync(cwd).filter((name) => !/^acme\.(db|numbers)/.test(name))).toEqual(["config.yaml"]);
    const wrong = { ...env, AWS_SECRET_ACCESS_KEY: "another-secret-key" };
    const refused = await runCommand(argv, { cwd, env: wrong });
    expect(refused.code).toBe(1);
    expect(refused.stdout + refused.stderr).not.toContain("another-secret-key");
  });
});

test("a run that brought something in is followed by the config's exports; an unchanged one leaves them alone", async () => {
  const sandbox = await openSandbox({ records: 2 });
  const exports =
    "exports: [{ format: parquet, out: ./lake, after: sync, tables: [clients], partition_by: year }]";
  const companies = "companies: { acme: { token: '${env:TOKEN}' } }";
  const text = `base_url: ${sandbox.url}\ndata_dir: .\n${companies}\nschedule: { publish: off }\n${exports}\n`;
  const cwd = temporaryFolder({ "config.yaml": text });
  const sync = () => runCommand(["sync", "clients"], { cwd, env: { TOKEN: sandbox.token } });
  const first = await sync();
  expect([first.code, first.stderr.includes("exported")]).toEqual([0, true]);
  expect(readdirSync(path.join(cwd, "lake")).toSorted()).toEqual(["acme", "company=acme"]);
  const second = await sync();
  expect([second.code, second.stderr.includes("exported")]).toEqual([0, false]);
});
