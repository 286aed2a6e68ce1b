import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { reportName } from "../../../src/fleet/reports/publish-reports.ts";
import { formatFleetStatus } from "../../../src/fleet/status/format-fleet-status.ts";
import { fleetStatusOutcome, readFleetStatus } from "../../../src/fleet/status/read-fleet-status.ts";
import { readRadar } from "../../../src/fleet/postgres/tables/radar-view.ts";
import { duckRows } from "../../support/export/export.ts";
import { readersOf } from "../../support/docs/docs.ts";
import { lakeReaders, openLake, type LakeReader } from "../../support/fleet/lake.ts";
import { aWorkedFleet, startWorker, type WorkedFleet } from "../../support/fleet/worker.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { inMirror } from "../../support/company/served-company.ts";
import { odd } from "../../support/sandbox/odd-answers.ts";
import { eventually } from "../../support/eventually.ts";

describeWithPostgres("a worker", () => {
  // Fault: fleet | a subscription lacks events; the service begins to send a field | the sandbox, before a run of a worker | `fleet status` names both, and keeps exit 0
  test("publishes report and Parquet files after a run, for one query over all companies, the catalogue, the radar and status", async () => {
    const startedMs = Date.now();
    const fleet = await aWorkedFleet({ records: 5 });
    const { control } = fleet.company.sandbox;
    for (const id of control.snapshot().get("clients")?.keys() ?? [])
      control.alter("clients", id, { countryId: null });
    const url = "https://hooks.example.com/webhooks/acme";
    const lacking = { name: "ours", url, isActive: true, subscribedEvents: ["invoices.created"] };
    control.create("webhook_subscriptions", lacking);
    fleet.company.suffer({ ...odd("unknown_fields"), match: { path: "/suppliers" } });
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
    const report = (await fleet.tables.reports.current("acme"))?.files.find(
      ({ name }) => name === reportName,
    );
    expect(path.join(reports, report?.key ?? "none")).toSatisfy(existsSync);
    const acme = (await readRadar(fleet.tables.postgres, null)).get("acme");
    expect(acme?.mirror).toMatchObject({ token: "accepted", webhook: "differs", handed_over: null });
    expect(Date.parse(acme?.mirror?.read_since ?? "")).toBeGreaterThan(startedMs);
    expect(Object.keys(acme?.answers ?? { none: "" })).toEqual(["einvoice_readiness"]);
    const page = await fetch(worker.url);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("differs")]);
    const status = await readFleetStatus(fleet.postgres, null);
    expect(formatFleetStatus(status).join("\n")).toMatch(
      /\n! acme: subscription \d+ lacks \d+ of .*suppliers\.brand_new_field/,
    );
    expect(fleetStatusOutcome({ ...status, problems: [] })).toBe("complete");

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
