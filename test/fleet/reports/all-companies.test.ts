import { rmSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fakturoid } from "../../../connectors/fakturoid/fakturoid.ts";
import { manifest } from "../../../connectors/fintoro/manifest.ts";
import { mirrorFiles } from "../../../src/config/mirror-files.ts";
import { publishReports } from "../../../src/fleet/reports/publish-reports.ts";
import { openMirror, type Mirror } from "../../../src/state/mirror.ts";
import type { RedactRule } from "../../../src/store/snapshot/redaction.ts";
import { rememberIdentity } from "../../../src/state/meta.ts";
import { blocks } from "../../support/docs/docs.ts";
import { duckRows, exportOf } from "../../support/export/export.ts";
import { openFleet } from "../../support/fleet/fleet.ts";
import { leaseOf } from "../../support/fleet/node.ts";
import { aFileStore } from "../../support/file-store.ts";
import { tempFolder } from "../../support/mirror/mirror.ts";
import { openForTest } from "../../support/company/open-account.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { publishedCompany } from "../../support/export/published.ts";

const own = "test/fleet/reports/all-companies.test.ts";
const query = blocks.find(({ marks }) => marks[0] === "run-by" && marks[1] === own)?.text ?? "";

/** Companies whose reports are published into one folder. */
async function aLake() {
  const fleet = await openFleet();
  const { store, folder } = await aFileStore("folder");
  const dataDir = tempFolder();
  const { signal } = new AbortController();
  /** Makes and publishes a company's files, as a worker does after a run. */
  const publish = async (company: string, mirror: Mirror, redact: readonly RedactRule[] = []) => {
    const files = mirrorFiles({ dataDir, report: { out: null } }, company);
    const out = path.dirname(files.parquetFolder);
    await exportOf(mirror, { format: "parquet", company, out, tables: ["invoices"] }, { redact });
    const ownership = leaseOf(await fleet.owned(company));
    await publishReports(ownership, { publish: null }, files, store, fleet.reports, signal);
    await fleet.expire(company);
  };
  const here = (sql: string) => sql.trim().replace(/;$/, "").replaceAll("'reports/", `'${folder}/`);
  return { folder, publish, ask: (sql: string) => duckRows(here(sql)), store, signal };
}

/** A company of the sandbox whose mirror is complete, until the test ends. */
async function aCompany(records: "small" | number = 2) {
  const company = await publishedCompany({ records });
  onTestFinished(() => company.close());
  rememberIdentity(company.mirror, { name: "Acme", salt: "5aac11c0", fingerprint: "", businessId: null });
  return company;
}

const all = query.slice(query.indexOf("FROM"), query.indexOf("GROUP"));

describeWithPostgres("the query of the page about many machines", () => {
  test("sums amounts of all companies as DECIMAL: of two connectors, and beside an empty and a redacted one", async () => {
    const lake = await aLake();
    const { mirror } = await aCompany("small");
    await lake.publish("acme", mirror);
    await lake.publish("007", mirror, [{ columns: "invoices.note", mode: "hash" }]);
    await lake.publish("secret", mirror, [{ columns: "invoices.total_with_vat", mode: "drop" }]);
    const empty = await openMirror(path.join(tempFolder(), "empty.db"), manifest);
    await lake.publish("empty", empty);
    empty.close();
    const account = await openForTest({ invoices: 10 });
    await account.sync();
    const czech = await openMirror(account.files.mirror, fakturoid);
    await lake.publish("czech", czech);
    czech.close();

    const rows = await lake.ask(query);
    expect(new Set(rows.map(([company]) => company))).toEqual(new Set(["007", "acme", "czech", "secret"]));
    const of = (name: string) => rows.filter(([company]) => company === name).map(([, , ...rest]) => rest);
    expect(of("acme").length).toBeGreaterThan(1);
    expect(of("007")).toEqual(of("acme"));
    expect(of("secret")).toEqual(of("acme").map(([count]) => [count, null]));
    expect(of("czech")).toEqual([["10", null]]);
    const types = `SELECT typeof(any_value(total)), typeof(sum(total_with_vat)), typeof(any_value(company)) ${all}`;
    expect(await lake.ask(types)).toEqual([["DECIMAL(18,6)", "DECIMAL(38,6)", "VARCHAR"]]);
    const byName = `SELECT company, count(issued_on), count(issue_date) ${all} GROUP BY ALL ORDER BY ALL`;
    expect((await lake.ask(byName)).map(([company, cz, sk]) => [company, cz === "0", sk === "0"])).toEqual([
      ["007", true, false],
      ["acme", true, false],
      ["czech", false, true],
      ["secret", true, false],
    ]);
  });

  test("keeps names of digits as they are, and has a company until its files are deleted", async () => {
    const lake = await aLake();
    const { mirror } = await aCompany();
    for (const company of ["12", "13"]) await lake.publish(company, mirror);
    const names = `SELECT DISTINCT company, typeof(company) ${all} ORDER BY company`;
    expect(await lake.ask(names)).toEqual([
      ["12", "VARCHAR"],
      ["13", "VARCHAR"],
    ]);
    const keys = await lake.store.list("parquet/", lake.signal);
    for (const key of keys.filter((one) => one.includes("/company=12/")))
      rmSync(path.join(lake.folder, path.dirname(key)), { recursive: true });
    expect(await lake.ask(names)).toEqual([["13", "VARCHAR"]]);
  });

  test("refuses to add an amount that one company hashes; what is redacted later disappears from the files", async () => {
    const lake = await aLake();
    const { mirror, records } = await aCompany();
    const hashed = [{ columns: "invoices.total_with_vat", mode: "hash" }] as const;
    await lake.publish("acme", mirror);
    const numbers = `SELECT count(DISTINCT number) ${all}`;
    expect(await lake.ask(numbers)).toEqual([[String(records.get("invoices")?.length)]]);
    await lake.publish("acme", mirror, [{ columns: "invoices.number", mode: "drop" }]);
    expect(await lake.ask(numbers)).toEqual([["0"]]);
    await lake.publish("other", mirror, hashed);
    await expect(lake.ask(query)).rejects.toThrow("sum(VARCHAR)");
  });
});
