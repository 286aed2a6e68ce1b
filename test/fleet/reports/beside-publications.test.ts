import path from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { mirrorFiles } from "../../../src/store/mirror-files.ts";
import { exportOf, orderRecord } from "../../support/export/export.ts";
import { readersOf } from "../../support/docs/docs.ts";
import { aReportStore } from "../../support/fleet/readers.ts";
import { openHasty } from "../../support/mirror/mirror.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { put, putAs } from "../../support/mirror/store.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

/** Seen once with 10,000. */
const queries = 60;
/** So many states must be seen: on a busy machine this takes more queries. */
const leastStates = 5;
const tables = ["people", "orders"];

/** Companies whose every publication has one more person and one more order each. */
async function aChangingLake() {
  const { folder, publishParquet } = await aReportStore();
  const dataDir = tempFolder();
  const openMember = async (company: string) => {
    const files = mirrorFiles({ dataDir, report: { out: null } }, company);
    return { company, files, mirror: await openHasty({ path: files.mirror }) };
  };
  const members = await Promise.all(["acme", "beta"].map(openMember));
  let publications = 0;
  /** Publishes all companies once more, each by a new owner. */
  const publish = async () => {
    publications += 1;
    for (const { company, files, mirror } of members) {
      put(mirror, "people", { id: publications, name: "somebody", email: null, score: 1 });
      putAs(mirror, "orders", publications, orderRecord(publications));
      const out = path.dirname(files.parquetFolder);
      await exportOf(mirror, { format: "parquet", company, tables, out });
      await publishParquet(company, files);
    }
  };
  return { folder, publish, publications: () => publications };
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
