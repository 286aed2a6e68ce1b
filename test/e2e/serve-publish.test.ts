import { existsSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { aCompany, sync, type Company } from "../support/company.ts";
import { eventually, inMirror, serve, wholeRuns, writeServeConfig } from "../support/serve.ts";

const reportOf = (company: Company) => path.join(company.folder, "acme.report.db");

function invoicesIn(file: string): number {
  const db = new Database(file, { readonly: true });
  try {
    return Number(db.prepare("SELECT count(*) FROM invoices").pluck().get());
  } finally {
    db.close();
  }
}

test("after its run, serve has the report and the exports made that the config asks for", async () => {
  const company = await aCompany({ records: 5 });
  const exports = "exports: [{ format: csv, out: ./files, after: sync, tables: [invoices] }]";
  writeServeConfig(company, `schedule: { sync: off }\n${exports}`);
  const daemon = await serve(company);
  const csv = path.join(company.folder, "files/acme/invoices.csv");
  await eventually(() => existsSync(reportOf(company)) && existsSync(csv), "the report and the file");
  expect(wholeRuns(company)).toBe(1);
  expect(invoicesIn(reportOf(company))).toBe(inMirror(company, "SELECT count(*) FROM invoices"));
  expect((await daemon.end("SIGTERM")).code).toBe(0);
});

test("with a pattern of its own, publishing does not wait for a run", async () => {
  const company = await aCompany({ records: 5 });
  writeServeConfig(company, 'schedule: { sync: off, publish: "* * * * *" }');
  const daemon = await serve(company);
  await eventually(() => existsSync(reportOf(company)), "a report");
  const slot = "SELECT value FROM _meta WHERE key = 'publish_schedule'";
  await eventually(() => typeof inMirror(company, slot) === "string", "the slot, taken");
  expect((await daemon.end("SIGTERM")).code).toBe(0);
});

// Fault: files | the report cannot be written | its path, under a process of `serve` | logged, and the daemon continues
test("a failure to publish is logged, and the daemon goes on", async () => {
  const company = await aCompany({ records: 5 });
  writeServeConfig(
    company,
    `schedule: { sync: off }\nexports: [{ format: csv, out: ./config.yaml, after: sync }]`,
  );
  const daemon = await serve(company);
  await daemon.until("after-run did not succeed");
  expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
  expect((await daemon.end("SIGTERM")).code).toBe(0);
});

test("the report is made when everything listed is in, while the scrub goes on", async () => {
  const company = await aCompany({ records: 20 });
  await sync(company);
  rewind(company);
  company.sandbox.control.create("clients", { name: "Nová" });
  const details = Promise.withResolvers<undefined>();
  company.proxy.obstruct((asked) => (/\d$/.test(asked.path) ? details.promise : undefined));
  writeServeConfig(company, "schedule: { sync: off }");
  const daemon = await serve(company);
  await eventually(() => existsSync(reportOf(company)), "the report");
  expect(inMirror(company, "SELECT outcome FROM _runs ORDER BY id DESC LIMIT 1")).toBeNull();
  expect(inMirror(company, "SELECT count(*) FROM _work WHERE reason = 'scrub'")).toBeGreaterThan(10);
  const db = new Database(reportOf(company), { readonly: true });
  expect(db.prepare("SELECT count(*) FROM clients WHERE name = 'Nová'").pluck().get()).toBe(1);
  expect(db.prepare("SELECT value FROM _about WHERE fact = 'outcome'").pluck().get()).toBe("complete");
  db.close();
  details.resolve(undefined);
  await eventually(() => wholeRuns(company) === 1, "the end of the scrub");
  expect(inMirror(company, "SELECT count(*) FROM _work")).toBe(0);
  expect((await daemon.end("SIGTERM")).code).toBe(0);
});

/** As if everything had been read two days before, by runs that nobody remembers. */
function rewind(company: Company): void {
  const db = new Database(company.file);
  const agoMs = 2 * 86_400_000;
  const fences = "SELECT name FROM sqlite_master WHERE name GLOB '_fence_*'";
  for (const table of db.prepare(fences).pluck().all() as string[])
    db.exec(`UPDATE "${table}" SET read_at = read_at - ${agoMs}`);
  db.exec(`UPDATE _parents SET listed_at = listed_at - ${agoMs}`);
  db.exec("DELETE FROM _runs");
  db.close();
}
