import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { localDate } from "../../src/base/clock.ts";
import { companyScopes } from "../../src/cli/mirror/company-scope.ts";
import { afterRun } from "../../src/cli/commands/output/after-run-command.ts";
import { Staging } from "../../src/export/files/staging.ts";
import { eventually } from "../support/eventually.ts";
import { runCommand, runAct, temporaryFolder } from "../support/program/cli.ts";
import { Runs } from "../../src/state/runs.ts";
import { reading, rowsOf, withMirror } from "../support/export/published.ts";
import { put, putPreview, texts } from "../support/mirror/store.ts";

const config = (more = "") =>
  `data_dir: .\ncompanies:\n  acme: { token: "\${env:T}" }\n  other: { token: "\${env:T}" }\n${more}`;

/** A folder with a config of two companies, the first of which has a mirror. */
async function aFolder(more = ""): Promise<string> {
  const folder = temporaryFolder({ "config.yaml": config(more) });
  await withMirror(folder, (mirror) => {
    put(mirror, "currencies", { id: 1, symbol: "EUR" });
    put(mirror, "units", { id: 1, name: "ks" });
  });
  return folder;
}

/** A run has read these lists whole. */
function noteSwept(folder: string, ...tables: readonly string[]): Promise<void> {
  return withMirror(folder, ({ db }) => {
    const [runs, at] = [new Runs(db), "2026-11-20T00:00:00Z"];
    const id = runs.begin("incremental", at, null, {});
    for (const name of tables) runs.noteSwept(id, name, at);
  });
}

interface ShownDatabase {
  readonly description_html: string;
  readonly queries: Readonly<Record<string, { readonly sql: string }>>;
  readonly tables: Readonly<Record<string, object>>;
}

/** What Datasette is to show of the report in this folder. */
function shownIn(folder: string) {
  const text = readFileSync(path.join(folder, "acme.report.metadata.json"), "utf8");
  type Shown = { title: string; databases: Record<string, ShownDatabase> };
  const { title, databases } = JSON.parse(text) as Shown;
  return { title, ...databases["acme.report"]! };
}

const runIn = (cwd: string, ...argv: string[]) => runCommand(argv, { cwd, env: {} });

async function published(folder: string, ...argv: string[]): Promise<unknown> {
  const { stdout } = await runIn(folder, "publish", "--company", "acme", "--json", ...argv);
  return (JSON.parse(stdout) as { companies: Record<string, unknown> }).companies["acme"];
}

describe("publish", () => {
  test("writes the report beside the mirror and prints its path, without a token; a second time it reports no change", async () => {
    const folder = await aFolder();
    const first = await runIn(folder, "publish", "--company", "acme");
    const written = /^acme: report written: .*acme\.report\.db \(\d+\.\d kB\)\n$/;
    expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(written) });
    const again = await published(folder);
    expect(again).toMatchObject({ outcome: "unchanged", way: null, seq: expect.any(Number) as number });
    const file = path.join(folder, "acme.report.db");
    expect(await published(folder, "--force")).toMatchObject({ outcome: "written", way: "anew", file });
  });

  test("of a mirror that lacks details or lists logs one warning with what is missing, and exits with 0", async () => {
    const folder = await aFolder("resources: { include: [invoices] }\n");
    await withMirror(folder, (mirror) => putPreview(mirror, "invoices", { id: 7, number: "1", total: 5 }));
    const { code, stderr } = await runIn(folder, "publish", "--company", "acme");
    const warnings = stderr.split("\n").filter((line) => line.includes('"level":"warn"'));
    expect([code, ...warnings]).toEqual([0, expect.stringContaining("invoices (details of 1 record)")]);
    const about = `SELECT fact, value FROM _about
      WHERE subject = 'invoices' AND fact IN ('complete', 'without_detail') ORDER BY fact`;
    const facts = texts({ db: reading(path.join(folder, "acme.report.db")) }, about);
    expect(facts).toEqual(["complete no", "without_detail 1"]);
  });

  test("of a mirror that became complete without a change is written again", async () => {
    const folder = await aFolder();
    await runIn(folder, "publish", "--company", "acme");
    await noteSwept(folder, "units");
    expect(await published(folder)).toMatchObject({ outcome: "written" });
  });

  // Fault: files | one company has no mirror | `publish` and `export` | exit 10 with a hint; of several companies the others are made, and the exit is 3
  test("of a company without a mirror exits with 10 and a hint; of several, the others are made and it exits with 3", async () => {
    const folder = await aFolder();
    const stderr = expect.stringContaining("fintoro-mirror sync") as string;
    expect(await runIn(folder, "publish", "--company", "other")).toMatchObject({ code: 10, stderr });
    const both = await runIn(folder, "publish", "--json");
    expect(both.code).toBe(3);
    const other = { outcome: "failed", error: { kind: "database" } };
    expect(JSON.parse(both.stdout)).toMatchObject({ companies: { acme: { outcome: "written" }, other } });
    const { stdout, ...exported } = await runIn(folder, "export", "units", "--json", "--out", folder);
    expect(exported).toMatchObject({ code: 3, stderr: expect.stringContaining("other: there is no mirror") });
    const companies = { acme: { outcome: "complete" }, other: { outcome: "failed" } };
    expect(JSON.parse(stdout)).toMatchObject({ companies });
    expect(readdirSync(folder).filter((name) => name.startsWith("other"))).toEqual([]);
    expect(readFileSync(path.join(folder, "acme", "units.csv"), "utf8")).toContain("ks");
  });

  test("--datasette leads to views and questions first, says what is missing, and follows the report", async () => {
    const folder = await aFolder("resources: { include: [invoices, company] }\n");
    await withMirror(folder, (mirror) => put(mirror, "company", { id: 1, name: "Novák & <syn>" }));
    await runIn(folder, "publish", "--company", "acme", "--datasette");
    const { title, description_html, queries } = shownIn(folder);
    expect(title).toBe("Novák & <syn>: Fintoro");
    expect(description_html).toMatch(
      /Not complete yet.*: company, invoices\. .*"acme~2Ereport\/v_receivables".*Questions/s,
    );
    const report = reading(path.join(folder, "acme.report.db"));
    const asked = { from_day: "2026-01-01", month: "2026-10", client: "a" };
    for (const { sql } of Object.values(queries))
      expect(report.prepare(sql).all(asked)).toBeInstanceOf(Array);
    await noteSwept(folder, "invoices", "company");
    await runIn(folder, "publish", "--company", "acme");
    expect(shownIn(folder).description_html).not.toContain("Not complete");
  });

  test("--datasette describes tables and columns, facets and sort, and prints how to start it", async () => {
    const folder = await aFolder();
    const { stdout } = await runIn(folder, "publish", "--company", "acme", "--datasette");
    const file = path.join(folder, "acme.report.metadata.json");
    const immutable = path.join(folder, "acme.report.db");
    expect(stdout).toContain(`datasette --immutable ${immutable} --metadata ${file}`);
    const { tables } = shownIn(folder);
    const receivables = { title: "Receivables", facets: ["age", "currency"], sort_desc: "to_be_paid_eur" };
    expect(tables["v_receivables"]).toMatchObject(receivables);
    // A unit would show 1,043 days as 1.043 kd.
    for (const table of Object.values(tables)) expect(table).not.toHaveProperty("units");
    const client_id = expect.stringContaining("Id in clients") as string;
    const invoices = { sort_desc: "issue_date", label_column: "number", columns: { client_id } };
    expect(tables["invoices"]).toMatchObject(invoices);
    for (const name of ["banks", "webhook_subscriptions", "_about"])
      expect(tables[name], name).toMatchObject({ hidden: true });
    expect(tables["clients"]).not.toHaveProperty("hidden");
    const report = reading(immutable);
    for (const [table, described] of Object.entries(tables)) {
      const names = new Set(report.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(table));
      type Described = { columns?: object; facets?: string[] } & Record<string, string | undefined>;
      const { columns = {}, facets = [], sort, sort_desc, label_column } = described as Described;
      const used = [...Object.keys(columns), ...facets, sort, sort_desc, label_column];
      const unknown = used.filter((name) => name !== undefined && !names.has(name));
      expect([table, ...unknown]).toEqual([table]);
    }
    const inReport = rowsOf(
      report,
      "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'",
    );
    expect(new Set(Object.keys(tables))).toEqual(new Set(inReport.map(({ name }) => name)));
  });
});

async function after(folder: string, company = "acme") {
  let got: unknown = "nothing";
  const run = await runAct(
    ["act"],
    async (context) => {
      const scopes = companyScopes(context, context.config("when_used").config);
      got = await afterRun(scopes.find((scope) => scope.company.name === company)!);
      return "complete" as const;
    },
    { cwd: folder, env: { T: "token-of-acme" } },
  );
  return { got, stderr: run.stderr, isThere: existsSync(path.join(folder, "acme.report.db")) };
}

describe("after a run", () => {
  test("the report is written, and not again where nothing changed", async () => {
    const folder = await aFolder();
    const stderr = expect.stringContaining("report written") as string;
    expect(await after(folder)).toMatchObject({ got: [], isThere: true, stderr });
    expect((await after(folder)).stderr).not.toContain("report written");
  });

  test("nothing is published if the config says `off` or has a schedule for it", async () => {
    for (const publish of ["off", '"0 6 * * *"']) {
      const folder = await aFolder(`schedule: { publish: ${publish} }\n`);
      expect(await after(folder)).toMatchObject({ got: [], isThere: false });
    }
  });

  // Fault: files | the report cannot be written after a run | its path | logged as a database failure; the run keeps its outcome
  test("a report that cannot be written is logged and counts as a database failure; the run keeps its outcome", async () => {
    const folder = await aFolder();
    const stderr = expect.stringContaining("was not written") as string;
    expect(await after(folder, "other")).toMatchObject({ got: ["database"], stderr });
  });

  // Fault: files | an export after a run has no access keys | an object store in the config, without its environment | it fails as `export` fails; the report is there
  test("an export that fails comes to what `export` itself comes to", async () => {
    const exported = "{ format: csv, out: ./files, to: s3://bucket/prefix, after: sync }";
    const folder = await aFolder(`exports: [${exported}]\n`);
    expect(await after(folder)).toMatchObject({
      got: ["failed"],
      isThere: true,
      stderr: expect.stringContaining("the export of csv to s3://bucket/prefix failed"),
    });
  });

  // Fault: process | a `sync` beside `serve` exports what the daemon exports, too | the lock of the export's folder | the second one waits, and makes its own
  test("an export waits for another one into the same folder", async () => {
    const folder = await aFolder("exports: [{ format: csv, out: ./files, after: sync }]\n");
    const other = await Staging.open(path.join(folder, "files"), "acme");
    const made = after(folder);
    await eventually(() => existsSync(path.join(folder, "acme.report.db")), "the report before it");
    await other[Symbol.asyncDispose]();
    expect(await made).toMatchObject({ got: [], stderr: expect.stringContaining("exported as csv") });
  });
});

test("the report's date is the day in the config's time zone, also at the end of a year", () => {
  const nearMidnight = Date.parse("2026-12-31T23:30:00Z");
  expect(localDate(nearMidnight, "Europe/Bratislava")).toBe("2027-01-01");
  expect(localDate(nearMidnight, "UTC")).toBe("2026-12-31");
  expect(localDate(nearMidnight, "America/New_York")).toBe("2026-12-31");
});
