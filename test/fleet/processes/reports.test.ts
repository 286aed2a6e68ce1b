import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { duckRows } from "../../support/export/export.ts";
import { aWorkedFleet, startWorker } from "../../support/fleet/worker.ts";
import { tempFolder } from "../../support/mirror/mirror.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { inMirror } from "../../support/program/serve.ts";
import { eventually } from "../../support/eventually.ts";

describeWithPostgres("a worker", () => {
  test("publishes report and Parquet files after a run, for one query over all companies", async () => {
    const fleet = await aWorkedFleet({ records: 5 });
    const reports = tempFolder();
    await fleet.add("acme", { schedule: {} });
    const worker = await startWorker(fleet, "one", { reports });
    await worker.until("reports published");
    await eventually(async () => (await fleet.tables.reports.current("acme")) !== null, "a row of reports");
    const glob = `read_parquet('${reports}/parquet/invoices/*/data.parquet', hive_partitioning = true)`;
    const invoices = String(inMirror(worker.company, "SELECT count(*) FROM invoices"));
    expect(await duckRows(`SELECT company, count(*) FROM ${glob} GROUP BY company`)).toEqual([
      ["acme", invoices],
    ]);
    expect(existsSync(path.join(reports, "report/acme.report.db"))).toBe(true);
    expect((await worker.end("SIGTERM")).code).toBe(0);
  });
});
