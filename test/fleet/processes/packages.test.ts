import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { MonthManifest } from "../../../src/export/package/month-folder.ts";
import { readPackageStatus } from "../../../src/fleet/status/package-status.ts";
import { jsonReply } from "../../support/company/proxy.ts";
import { eventually } from "../../support/eventually.ts";
import { entriesOf } from "../../support/export/zip.ts";
import { aWorkedFleet, startNode, startWorker, type WorkedFleet } from "../../support/fleet/worker.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { eventOf } from "../../support/program/deliveries.ts";
import { inMirror } from "../../support/company/served-company.ts";
import { look } from "../../support/truth/compare.ts";

/** A company that `start` has a node read, and the month of it with the most invoices. */
async function aReadFleet<Node extends { readonly company: { readonly file: string } }>(
  start: (
    fleet: WorkedFleet,
    name: string,
    stores: { readonly reports: string; readonly snapshotEvery: string },
  ) => Promise<Node>,
) {
  const fleet = await aWorkedFleet({ records: 20, windowMs: 2_000 });
  const reports = tempFolder();
  await fleet.add("acme", { rate_limit: { window: "2s" } });
  const one = await start(fleet, "one", { reports, snapshotEvery: "1s" });
  const isRead = async () => (await fleet.tables.snapshots.current("acme"))?.facts["last_run"];
  await eventually(async () => Boolean(await isRead()), "a snapshot of a run");
  const sql = `SELECT substr(issue_date, 1, 7) AS month, min(id) AS id, count(*) AS invoices FROM invoices
    WHERE _deleted_at IS NULL AND issue_date < '2026-11' GROUP BY month ORDER BY count(*) DESC, month LIMIT 1`;
  type Month = { month: string; id: number; invoices: number };
  const found = look(one.company.file, (db) => db.prepare(sql).get() as Month);
  return { fleet, reports, one, ...found };
}

async function statusOf({ postgres }: WorkedFleet, month: string) {
  const { companies } = await readPackageStatus(postgres, month, ["acme"]);
  const { acme } = companies;
  if (!acme) throw new Error("acme is in the fleet");
  return acme;
}

async function until(fleet: WorkedFleet, month: string, outcome: string) {
  let status = await statusOf(fleet, month);
  const isSo = async () => (status = await statusOf(fleet, month)).outcome === outcome;
  await eventually(isSo, () => `${outcome}: ${JSON.stringify(status)}`);
  return status;
}

function textIn(zip: string, name: string): string {
  return entriesOf(readFileSync(zip)).find((entry) => entry.name === name)?.text ?? "";
}

function manifestIn(zip: string, month: string): MonthManifest {
  return JSON.parse(textIn(zip, `${month}/manifest.json`)) as MonthManifest;
}

describeWithPostgres("the month of a company", () => {
  test("is packed into the store with all PDFs, once; changed since, again under another name with what changed", async () => {
    const { fleet, reports, one, month, id, invoices } = await aReadFleet(startNode);
    await fleet.tables.packages.ask(["acme"], month, false);
    const { made } = await until(fleet, month, "done");
    const [owner] = await fleet.tables.owners.ownersOf(["acme"]);
    const folder = path.join(reports, "packages", month, "acme");
    expect(made?.key).toBe(`packages/${month}/acme/acme-${month}-${owner?.epoch}-1.zip`);
    const bytes = readFileSync(path.join(reports, made?.key ?? ""));
    expect([made?.bytes, made?.sha256]).toEqual([bytes.length, hash("sha256", bytes)]);
    const manifest = manifestIn(path.join(reports, made?.key ?? ""), month);
    const pdfs = manifest.files.filter((file) => file.path.endsWith(".pdf"));
    expect(pdfs.length).toBeGreaterThanOrEqual(invoices);
    expect(manifest.hand_over).toMatchObject({ log: made?.log, position: made?.position });
    // What a snapshot has survives this node.
    expect((await fleet.tables.snapshots.current("acme"))?.seq).toBe(made?.position);

    const asked = fleet.company.proxy.asked.length;
    await fleet.tables.packages.ask(["acme"], month, false);
    expect((await until(fleet, month, "done")).made).toEqual(made);
    expect(fleet.company.proxy.asked.length).toBe(asked);
    expect(readdirSync(folder)).toEqual([path.basename(made?.key ?? "")]);

    fleet.company.sandbox.control.alter("invoices", id, { note: "changed after the hand-over" });
    await fleet.receive(eventOf("invoices.updated", id));
    const isRead = "SELECT note = 'changed after the hand-over' FROM invoices WHERE id = ?";
    await eventually(() => inMirror(one.company, isRead, id) === 1, "the change, read");
    await fleet.tables.packages.ask(["acme"], month, true);
    await eventually(async () => (await statusOf(fleet, month)).made?.proved === true, "a proved package");
    const again = await until(fleet, month, "done");
    expect(readdirSync(folder)).toHaveLength(2);
    expect(readFileSync(path.join(reports, made?.key ?? ""))).toEqual(bytes);
    const next = path.join(reports, again.made?.key ?? "");
    expect(manifestIn(next, month)).toMatchObject({ certificate: { match: true, month } });
    expect(textIn(next, `${month}/CITAJ-MA.txt`)).toContain("Overenie");
  });

  // Fault: fleet | the owner is killed while it packs a month | process `worker` by SIGKILL | status says it was lost; the next owner packs the month, under a name of its own
  test("is packed by the next owner where its worker was killed in the middle", async () => {
    const { fleet, reports, one, month } = await aReadFleet(startWorker);
    let pdfs = 0;
    const clear = fleet.company.proxy.obstruct(({ path: asked }) =>
      asked.endsWith("/pdf") && ++pdfs > 0 ? "hang" : undefined,
    );
    await fleet.tables.packages.ask(["acme"], month, false);
    await eventually(() => pdfs > 0, "a request for a PDF");
    expect(await statusOf(fleet, month)).toMatchObject({ outcome: "late", message: "one has it" });
    await one.end("SIGKILL");
    clear();
    const isLost = async () => (await statusOf(fleet, month)).message === "one was lost with it";
    await eventually(isLost, "a lost worker");
    await startNode(fleet, "two", { reports });
    const { made } = await until(fleet, month, "done");
    const names = readdirSync(path.join(reports, "packages", month, "acme"));
    expect(names).toEqual([path.basename(made?.key ?? "")]);
  });

  // Fault: service | the token is refused, a PDF is missing, or the month differs while a fleet packs it | answers of the service | status says which; what is not whole, or not proved, is not stored
  test("says why where the token is refused, where it differs, and which documents have no PDF", async () => {
    const { fleet, reports, month, id } = await aReadFleet(startNode);
    const { proxy, sandbox } = fleet.company;
    const refused = proxy.obstruct(() => jsonReply(401, { message: "Unauthenticated." }));
    await fleet.tables.packages.ask(["acme"], month, false);
    const { reason, message, due_at } = await until(fleet, month, "failed");
    expect([reason, message]).toEqual(["token_refused", expect.stringContaining("the token is refused")]);
    expect(Date.parse(due_at ?? "")).toBeGreaterThan(Date.now());
    refused();

    sandbox.control.alter("invoices", id, { note: "no event tells of it" });
    await fleet.tables.packages.ask(["acme"], month, true);
    const differs = async () => (await statusOf(fleet, month)).reason === "not_proved";
    await eventually(differs, "a month that differs");
    expect(readdirSync(reports)).not.toContain("packages");

    proxy.obstruct(({ path: asked }) =>
      asked === `/invoices/${id}/pdf` ? jsonReply(404, { message: "Not found." }) : undefined,
    );
    await fleet.tables.packages.ask(["acme"], month, false);
    const partial = await until(fleet, month, "partial");
    expect(partial.made?.without_pdf).toEqual([expect.any(String)]);
  });
});
