import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { reportName } from "../../../src/fleet/reports/publish-reports.ts";
import type { FleetTables } from "../../../src/fleet/postgres/tables/fleet-tables.ts";
import { readRadar } from "../../../src/fleet/postgres/tables/radar-view.ts";
import { duckRows } from "../../support/export/export.ts";
import { readersOf } from "../../support/docs/docs.ts";
import { lakeReaders, openLake, type LakeReader } from "../../support/fleet/lake.ts";
import { aWorkedFleet, startWorker, type WorkedFleet } from "../../support/fleet/worker.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { deliver, eventOf } from "../../support/program/deliveries.ts";
import { inMirror } from "../../support/company/served-company.ts";
import { eventually } from "../../support/eventually.ts";

describeWithPostgres("a worker", () => {
  test("publishes report and Parquet files after a run, for one query over all companies, the catalogue and the radar", async () => {
    const startedMs = Date.now();
    const fleet = await aWorkedFleet({ records: 5 });
    const { control } = fleet.company.sandbox;
    for (const id of control.snapshot().get("clients")?.keys() ?? [])
      control.alter("clients", id, { countryId: null });
    const reports = tempFolder();
    await fleet.add("acme", { schedule: {} });
    const worker = await startWorker(fleet, "one", { reports });
    await worker.until("reports published");
    await eventually(async () => (await fleet.tables.reports.current("acme")) !== null, "a row of reports");
    const ask = (sql: string) => duckRows(sql, readersOf(reports));
    const invoices = String(inMirror(worker.company, "SELECT count(*) FROM invoices"));
    const counts = "SELECT company, count(*) FROM of_all('invoices') GROUP BY company";
    expect(await ask(counts)).toEqual([["acme", invoices]]);
    const days = `SELECT DISTINCT company, report_date::DATE > '2026-01-01' FROM of_all('v_invoices')`;
    expect(await ask(days)).toEqual([["acme", "true"]]);
    expect(existsSync(await publishedReport(fleet.tables, reports))).toBe(true);
    const acme = (await readRadar(fleet.tables.postgres, null)).get("acme");
    expect(acme?.mirror).toMatchObject({ token: "accepted", webhook: "no event yet", handed_over: null });
    expect(Date.parse(acme?.mirror?.read_since ?? "")).toBeGreaterThan(startedMs);
    expect(Object.keys(acme?.answers ?? { none: "" })).toEqual(["einvoice_readiness"]);
    const page = await fetch(worker.url);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("no event yet")]);

    const isThere = async () => (await fleet.postgres.query("SELECT FROM fintoro_lake.companies")).length > 0;
    await eventually(isThere, () => `the company in the catalogue: ${worker.said().join("; ")}`);
    for (const reader of lakeReaders) expect([reader, await lakeOf(reader, fleet)]).toEqual([reader, []]);
    expect((await worker.end("SIGTERM")).code).toBe(0);
  });
});

/** Tables and views of the catalogue of which a reader does not find every row and column of `acme`. */
async function lakeOf(reader: LakeReader, fleet: WorkedFleet): Promise<string[]> {
  const ask = await openLake(reader, fleet);
  const { files = [] } = (await fleet.tables.reports.current("acme")) ?? {};
  const tables = files.filter(({ rows }) => rows !== null);
  expect(tables.length).toBeGreaterThan(20);
  const wrong: string[] = [];
  for (const { name, key, rows, columns } of tables) {
    const all = await ask(`SELECT * FROM ${name}`);
    const [first] = await ask(`SELECT count(*) FROM (DESCRIBE SELECT * FROM ${name})`);
    const own = Number(first?.[0]) - (key.includes("report_date=") ? 2 : 1);
    if (all.length !== rows || own !== columns.length) wrong.push(name);
  }
  return wrong;
}

/** The file of the report that counts. */
async function publishedReport({ reports }: FleetTables, folder: string): Promise<string> {
  const row = await reports.current("acme");
  return path.join(folder, row?.files.find(({ name }) => name === reportName)?.key ?? "none");
}

describeWithPostgres("a worker that takes a company over", () => {
  // Fault: fleet | the owner is killed after its report was published, and a delivery comes | process `worker` by SIGKILL | the next owner publishes the report again with the change, and keeps the Parquet files
  test("publishes its report again after events, as the one before did", async () => {
    const fleet = await aWorkedFleet({ records: 5 });
    const reports = tempFolder();
    await fleet.add("acme", { schedule: { publish_every: "1s" }, rate_limit: { window: "2s" } });
    const one = await startWorker(fleet, "one", { reports });
    await one.until("reports published");
    const id = Number(inMirror(one.company, "SELECT min(id) FROM clients"));
    const two = await startWorker(fleet, "two", { reports });
    await one.end("SIGKILL");
    const before = await fleet.tables.reports.current("acme");
    fleet.company.sandbox.control.alter("clients", id, { name: "After the takeover" });
    // As the service does, until the node knows the company.
    const event = eventOf("clients.updated", id);
    await expect.poll(() => deliver(two, event)).toBe(204);
    await two.until("claimed: restored from a snapshot");
    const isPublished = async () => {
      const file = await publishedReport(fleet.tables, reports);
      const name = inMirror({ ...two.company, file }, "SELECT name FROM clients WHERE id = ?", id);
      return name === "After the takeover";
    };
    await eventually(isPublished, () => `the name in the report: ${two.said().join("; ")}`);
    const after = await fleet.tables.reports.current("acme");
    const namesOf = (row: typeof after) => row?.files.map(({ name }) => name).toSorted();
    expect(namesOf(after)).toEqual(namesOf(before));
    expect((await two.end("SIGTERM")).code).toBe(0);
  });
});
