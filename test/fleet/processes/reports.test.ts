import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readRadar } from "../../../src/fleet/status/radar.ts";
import type { Company } from "../../support/company/open-company.ts";
import { duckRows } from "../../support/export/export.ts";
import { aWorkedFleet, startWorker } from "../../support/fleet/worker.ts";
import { tempFolder } from "../../support/mirror/mirror.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { deliver, eventAbout, inMirror } from "../../support/program/serve.ts";
import { eventually } from "../../support/eventually.ts";

describeWithPostgres("a worker", () => {
  test("publishes report and Parquet files after a run, for one query over all companies, and what the radar shows", async () => {
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
    const glob = `read_parquet('${reports}/parquet/invoices/*/data.parquet', hive_partitioning = true)`;
    const invoices = String(inMirror(worker.company, "SELECT count(*) FROM invoices"));
    expect(await duckRows(`SELECT company, count(*) FROM ${glob} GROUP BY company`)).toEqual([
      ["acme", invoices],
    ]);
    expect(existsSync(path.join(reports, "report/acme.report.db"))).toBe(true);
    const { acme } = await readRadar(fleet.tables.postgres, null);
    expect(acme?.mirror).toMatchObject({ token: "accepted", webhook: "no event yet", handed_over: null });
    expect(Date.parse(acme?.mirror?.read_since ?? "")).toBeGreaterThan(startedMs);
    expect(Object.keys(acme?.answers ?? { none: "" })).toEqual(["einvoice_readiness"]);
    expect((await worker.end("SIGTERM")).code).toBe(0);
  });
});

/** The name of a client in the published report; null: there is no such report. */
const publishedName = (company: Company, reports: string, id: number) =>
  inMirror(
    { ...company, file: path.join(reports, "report/acme.report.db") },
    "SELECT name FROM clients WHERE id = ?",
    id,
  );

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
    const event = eventAbout("clients.updated", "client", id);
    await expect.poll(() => deliver(two, event)).toBe(204);
    await two.until("claimed: restored from a snapshot");
    const isPublished = () => publishedName(two.company, reports, id) === "After the takeover";
    await eventually(isPublished, () => `the name in the report: ${two.said().join("; ")}`);
    const after = await fleet.tables.reports.current("acme");
    expect(Object.keys(after?.files ?? {}).toSorted()).toEqual(Object.keys(before?.files ?? {}).toSorted());
    expect((await two.end("SIGTERM")).code).toBe(0);
  });
});
