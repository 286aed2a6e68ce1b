import { rmSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fakturoid } from "../../../connectors/fakturoid/declaration.ts";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { mirrorFiles } from "../../../src/store/mirror-files.ts";
import { openMirror, type Mirror } from "../../../src/state/mirror.ts";
import type { RedactRule } from "../../../src/store/snapshot/redaction.ts";
import { rememberIdentity } from "../../../src/state/meta.ts";
import { exportOf, orderRecord } from "../../support/export/export.ts";
import { pageQuery, readersOf } from "../../support/docs/docs.ts";
import { aReportStore } from "../../support/fleet/readers.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { openForTest } from "../../support/company/open-account.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { publishedCompany, type PublishedCompany } from "../../support/export/published.ts";
import { DuckDBInstance } from "@duckdb/node-api";
import { openHasty } from "../../support/mirror/mirror.ts";
import { put, putAs } from "../../support/mirror/store.ts";

interface Publication {
  readonly redact?: readonly RedactRule[];
  readonly day?: number;
  readonly tables?: readonly string[];
}

/** Companies whose reports are published into one folder. */
async function aLake() {
  const { folder, publishParquet, ask } = await aReportStore();
  const dataDir = tempFolder();
  /** Makes and publishes a company's files, as a worker does after a run. */
  const publish = async (company: string, mirror: Mirror, more: Publication = {}) => {
    const files = mirrorFiles({ dataDir, report: { out: null } }, company);
    const out = path.dirname(files.parquetFolder);
    const views = mirror.declaration.views?.some(({ name }) => name === ownViews[0]) ? ownViews : [];
    const { redact = [], day = 22, tables = ["invoices", ...views] } = more;
    const options = { redact, reportDate: `2027-11-${day}` };
    await exportOf(mirror, { format: "parquet", company, out, tables }, options);
    return publishParquet(company, files);
  };
  return { folder, publish, ask };
}

/** A company of the sandbox whose mirror is complete. */
let mirrored: PublishedCompany;

/** One that counts against the day of the report, and one that does not. */
const ownViews = ["v_receivables", "v_client_balance"];
const viewKey = (day: string, publication: string) =>
  `company=12/v_receivables/report_date=${day}/data-${publication}.parquet`;
const all = "FROM of_all('invoices')";

describeWithPostgres("the query of the page about many machines", () => {
  beforeAll(async () => {
    mirrored = await publishedCompany({ records: 60 });
    rememberIdentity(mirrored.mirror, { name: "Acme", salt: "5aac11c0", fingerprint: "", businessId: null });
  });
  afterAll(() => mirrored.close());

  test("sums amounts of all companies as DECIMAL: of two connectors, beside an empty and a redacted one, until a pointer is deleted", async () => {
    const lake = await aLake();
    const { mirror } = mirrored;
    await lake.publish("acme", mirror);
    await lake.publish("007", mirror, { redact: [{ columns: "invoices.note", mode: "hash" }] });
    await lake.publish("secret", mirror, { redact: [{ columns: "invoices.total_with_vat", mode: "drop" }] });
    const empty = await openMirror(path.join(tempFolder(), "empty.db"), declaration);
    await lake.publish("empty", empty);
    empty.close();
    const account = await openForTest({ invoices: 10 });
    await account.sync();
    const czech = await openMirror(account.files.mirror, fakturoid);
    await lake.publish("czech", czech);
    czech.close();

    const rows = await lake.ask(pageQuery);
    expect(new Set(rows.map(([company]) => company))).toEqual(new Set(["007", "acme", "czech", "secret"]));
    const of = (name: string) => rows.filter(([company]) => company === name).map(([, , ...rest]) => rest);
    expect(of("acme").length).toBeGreaterThan(1);
    expect(of("007")).toEqual(of("acme"));
    expect(of("secret")).toEqual(of("acme").map(([count]) => [count, null]));
    expect(of("czech")).toEqual([["10", null]]);
    const types = `SELECT typeof(any_value(total)), typeof(sum(total_with_vat)), typeof(any_value(company)) ${all}`;
    expect(await lake.ask(types)).toEqual([["DECIMAL(18,6)", "DECIMAL(38,6)", "VARCHAR"]]);
    const byName = `SELECT company, count(issued_on), count(issue_date) ${all} GROUP BY ALL ORDER BY ALL`;
    const dated = (await lake.ask(byName)).map(([company, cz, sk]) => [company, [cz !== "0", sk !== "0"]]);
    const slovak = [false, true];
    const expected = { "007": slovak, acme: slovak, czech: [true, false], secret: slovak };
    expect(Object.fromEntries(dated)).toEqual(expected);
    rmSync(path.join(lake.folder, "pointers/007.json"));
    expect((await lake.ask(byName)).map(([company]) => company)).toEqual(["acme", "czech", "secret"]);
  });

  test("has views with the day that their ages are counted against, stored again on another day, also where names of all companies are digits", async () => {
    const lake = await aLake();
    const { mirror } = mirrored;
    const written = await lake.publish("12", mirror);
    expect(written).toContain(viewKey("2027-11-22", "1-1"));
    expect(written).toContain("company=12/v_client_balance/data-1-1.parquet");
    expect(await lake.publish("12", mirror)).toEqual([]);
    expect(await lake.publish("12", mirror, { day: 24 })).toEqual([viewKey("2027-11-24", "3-2")]);
    await lake.publish("13", mirror, { day: 23 });
    const days = `SELECT company, report_date, count(*) FROM of_all('v_receivables') GROUP BY ALL ORDER BY ALL`;
    const count = String(mirrored.rows("v_receivables").length);
    expect(await lake.ask(days)).toEqual([
      ["12", "2027-11-24", count],
      ["13", "2027-11-23", count],
    ]);
    expect(await lake.ask(`SELECT DISTINCT typeof(company) ${all}`)).toEqual([["VARCHAR"]]);
    const late = `SELECT company, max(most_days_overdue) AS days FROM of_all('v_receivables') GROUP BY company`;
    expect(await lake.ask(`SELECT max(days) - min(days) FROM (${late})`)).toEqual([["1"]]);
  });

  test("refuses to add an amount that one company hashes; what is redacted later disappears from the files", async () => {
    const lake = await aLake();
    const { mirror, records } = mirrored;
    await lake.publish("acme", mirror);
    const numbers = `SELECT count(DISTINCT number) ${all}`;
    expect(await lake.ask(numbers)).toEqual([[String(records.get("invoices")?.length)]]);
    await lake.publish("acme", mirror, { redact: [{ columns: "invoices.number", mode: "drop" }] });
    expect(await lake.ask(numbers)).toEqual([["0"]]);
    await lake.publish("other", mirror, { redact: [{ columns: "invoices.total_with_vat", mode: "hash" }] });
    await expect(lake.ask(pageQuery)).rejects.toThrow("sum(VARCHAR)");
  });
});

/** Seen once with 10,000. */
const queries = 60;
/** So many states must be seen: on a busy machine this takes more queries. */
const leastStates = 5;

/** Companies that are published again and again, with one more person and one more order each. */
async function aChangingLake() {
  const { folder, publish } = await aLake();
  const mirrors = { acme: await openHasty(), beta: await openHasty() };
  let publications = 0;
  const publishAll = async () => {
    publications += 1;
    for (const [company, mirror] of Object.entries(mirrors)) {
      put(mirror, "people", { id: publications, name: "somebody", email: null, score: 1 });
      putAs(mirror, "orders", publications, orderRecord(publications));
      await publish(company, mirror, { tables: ["people", "orders"] });
    }
  };
  return { folder, publish: publishAll, publications: () => publications };
}

const counts = `SELECT company, people, orders
  FROM (SELECT company, count(*)::INTEGER AS people FROM of_all('people') GROUP BY company)
  JOIN (SELECT company, count(*)::INTEGER AS orders FROM of_all('orders') GROUP BY company) USING (company)
  ORDER BY company`;

describeWithPostgres("a query over all companies", () => {
  // Fault: fleet | reports are published all the time while DuckDB reads them | a folder, two companies, a join of two tables | no query fails, none sees two states of a company
  test("sees one state of each company, whatever is published meanwhile", async () => {
    const lake = await aChangingLake();
    await lake.publish();
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    const wrong: unknown[] = [];
    const seen = new Set<unknown>();
    const closed = new AbortController();
    const reading = async () => {
      for (let query = 0; query < queries || (seen.size < leastStates && query < 10_000); query++)
        try {
          await connection.run(readersOf(lake.folder));
          const rows = (await connection.runAndReadAll(counts)).getRows();
          const isOfOne = rows.length === 2 && rows.every(([, people, orders]) => people === orders);
          if (!isOfOne) wrong.push(rows);
          seen.add(rows[0]?.[1]);
        } catch (error) {
          wrong.push(error);
        }
      closed.abort();
    };
    const publishing = async () => {
      while (!closed.signal.aborted) await lake.publish();
    };
    await Promise.all([reading(), publishing()]);
    connection.closeSync();
    expect(wrong).toEqual([]);
    expect(seen.size).toBeGreaterThanOrEqual(leastStates);
    expect(lake.publications()).toBeGreaterThanOrEqual(seen.size);
  });
});
