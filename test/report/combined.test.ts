import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { runCommand, temporaryFolder } from "../support/program/cli.ts";
import { reading, rowsOf, withMirror } from "../support/export/published.ts";
import { put, remove, texts as textsOf } from "../support/mirror/store.ts";
import { wound } from "../support/verify/verify.ts";

let folder: string;

/** Adds records to the mirror of a company; makes the mirror where there is none. */
async function fill(company: string, client: string, total: number): Promise<void> {
  using mirror = await openMirror(path.join(folder, `${company}.db`), declaration);
  put(mirror, "currencies", { id: 1, symbol: "EUR", name: "Euro", mark: "€" });
  put(mirror, "clients", { id: 5, name: client, type: "company", [`extra_${company}`]: 7, company: "Inc." });
  const money = { currency: { id: 1 }, currencyRate: 1, total, toBePaid: total, status: "unpaid", items: [] };
  const dates = { issueDate: "2026-10-01", dueDate: "2026-10-15" };
  put(mirror, "invoices", { id: 9, number: "1", clientId: 5, ...money, ...dates });
}

const config = (names: readonly string[], more = "") =>
  `data_dir: .\ncompanies:\n${names.map((name) => `  ${name}: { token: "\${env:T}" }\n`).join("")}${more}`;

async function fillTwo(): Promise<void> {
  folder = temporaryFolder({ "config.yaml": config(["beta", "acme", "gone"]) });
  await fill("acme", "Alfa", 10.5);
  await fill("beta", "Beta", 20);
}

const publish = (...argv: string[]) =>
  runCommand(["publish", "--combined", ...argv], { cwd: folder, env: {} });
const combined = () => path.join(folder, "combined.report.db");
const rows = (sql: string) => rowsOf(reading(combined()), sql);
const texts = (sql: string) => textsOf({ db: reading(combined()) }, sql);

describe("the combined report", () => {
  test("has every table and view of the companies with the company of each row, and its deleted records; ids meet only within one", async () => {
    await fillTwo();
    const mirror = await openMirror(path.join(folder, "beta.db"), declaration);
    put(mirror, "invoices", { id: 10, number: "2", issueDate: "2026-10-01", total: 20 });
    remove(mirror, "invoices", 10);
    mirror.close();
    const stdout = expect.stringContaining("combined: report written: ") as string;
    expect(await publish("--company", "acme,beta")).toMatchObject({ code: 0, stdout });
    expect(texts("SELECT company, id, name FROM clients ORDER BY 1")).toEqual(["acme 5 Alfa", "beta 5 Beta"]);
    const owed = texts("SELECT company, client_name, to_be_paid FROM v_receivables ORDER BY company");
    expect(owed).toEqual(["acme Alfa 10.5", "beta Beta 20"]);
    const deleted = "SELECT company, resource, id, number, total, date, cause FROM deleted_records";
    const known = { number: "2", total: 20, date: "2026-10-01", cause: "confirm" };
    expect(rows(deleted)).toEqual([{ company: "beta", resource: "invoices", id: 10, ...known }]);
    const names =
      "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY name";
    const single = rowsOf(reading(path.join(folder, "acme.report.db")), names);
    expect(rows(names)).toEqual(single);
    const acme = reading(path.join(folder, "acme.report.db"));
    for (const { name } of single) {
      const count = `SELECT '${String(name)}' AS name, count(*) AS n FROM "${String(name)}"`;
      expect(rows(`${count} WHERE company = 'acme'`)).toEqual(rowsOf(acme, count));
    }
    const key = "SELECT name FROM pragma_table_info('invoices') WHERE pk > 0 ORDER BY pk";
    expect(texts(key)).toEqual(["company", "id"]);
    const toClients = `SELECT "from" FROM pragma_foreign_key_list('invoices') WHERE "table" = 'clients' ORDER BY seq`;
    expect(texts(toClients)).toEqual(["company", "client_id"]);
    expect(rows("PRAGMA foreign_key_check")).toEqual([]);
    expect(rows("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
    // It has the columns that any company has; one that the service calls company moves aside.
    const extra =
      "SELECT company, extra_acme AS a, extra_beta AS b, company_2 AS c FROM clients ORDER BY company";
    expect(texts(extra)).toEqual(["acme 7 null Inc.", "beta null 7 Inc."]);
  });

  // Fault: process | a killed run left an unfinished file | `publish --combined` | the earlier report stays whole, the next run removes what was left
  // Fault: files | one of three companies has no mirror | `publish --combined` | the report of the others names what it lacks, exit 3
  test("of the same reports has the same bytes, is written again only where another program wrote it, and is whole whatever a killed run left; follows a change, and lacks a company that failed, says so in `_about` and in a warning, and exits with 3", async () => {
    await fillTwo();
    await publish("--company", "acme,beta");
    const before = readFileSync(combined());
    writeFileSync(`${combined()}.next`, before.subarray(0, 5000));
    writeFileSync(`${combined()}.next-journal`, "left");
    expect(rows("SELECT name FROM clients ORDER BY name")).toEqual([{ name: "Alfa" }, { name: "Beta" }]);
    const again = await publish("--company", "acme,beta", "--json");
    const unchanged = { outcome: "unchanged", companies: ["beta", "acme"], missing: [] };
    expect(JSON.parse(again.stdout)).toMatchObject({ combined: unchanged });
    expect(readdirSync(folder).filter((name) => name.includes(".next"))).toEqual([]);
    wound({ file: combined() }, "UPDATE clients SET name = 'edited'");
    await publish("--company", "acme,beta");
    expect(readFileSync(combined()).equals(before)).toBe(true);
    await fill("beta", "Beta", 33);
    const { code, stderr } = await publish();
    expect([code, stderr]).toEqual([3, expect.stringContaining("lacks companies that failed: gone")]);
    expect(texts("SELECT company, total FROM invoices ORDER BY 1")).toEqual(["acme 10.5", "beta 33"]);
    expect(rows("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
    const about = texts("SELECT company, value FROM _about WHERE fact IN ('missing', 'companies')");
    expect(about).toEqual(["* acme, beta", "gone yes"]);
  });

  test("is refused where a company has its name, and has nothing that the companies' reports redact", async () => {
    folder = temporaryFolder({ "config.yaml": config(["acme", "Combined"]) });
    expect(await publish()).toMatchObject({ code: 2, stderr: expect.stringContaining("company Combined") });
    const redacted = config(["acme"], "report: { redact: { clients.name: drop } }\n");
    folder = temporaryFolder({ "config.yaml": redacted });
    await fill("acme", "Verejne tajny", 1);
    expect((await publish()).code).toBe(10);
    const identity = { name: "Acme", salt: "5aac11c0", fingerprint: "", businessId: null };
    await withMirror(folder, ({ meta }) => meta.set("identity", identity));
    expect((await publish()).code).toBe(0);
    expect(readFileSync(combined()).includes("Verejne")).toBe(false);
  });
});
