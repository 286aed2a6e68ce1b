import Database from "better-sqlite3";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { isoTime } from "../../src/base/clock.ts";
import { formatCount, formatSize } from "../../src/base/units.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { readStored } from "../../src/webhook/ingest/delivery.ts";
import { CompanyIngest } from "../../src/webhook/ingest/ingest.ts";
import { emptyKeyring } from "../../src/webhook/keys/keyring.ts";
import { openCompany, sync, type Company } from "../support/open-company.ts";
import type { BenchResult } from "./result.ts";

const documents = ["invoices", "credit_notes", "proformas", "orders", "quotations"];
const changedInvoices = 25;
const events = 10_000;
const runs = 10;

/** What a mirror takes on disk, and what a change, an event and a run add to it: the table in docs/operation.md. */
export async function benchDisk(): Promise<BenchResult[]> {
  console.log("| documents | records | after the first run | a changed invoice | an event | a run |");
  for (const records of [50, 500, 5_000]) console.log(await measure(records));
  return [];
}

async function measure(records: number): Promise<string> {
  const company = await openCompany({ records });
  try {
    await sync(company);
    const first = bytesOf(company);
    const counts = documents.map((table) => countOf(company, table));
    const all = countOf(company, "_raw");
    await changeInvoices(company);
    const changed = bytesOf(company);
    await storeEvents(company);
    const stored = bytesOf(company);
    for (let run = 0; run < runs; run++) await sync(company);
    const ran = bytesOf(company);
    const added = [
      (changed - first) / changedInvoices / 4,
      (stored - changed) / events,
      (ran - stored) / runs,
    ].map((bytes) => formatSize(Math.round(bytes)));
    const sum = counts.reduce((one, other) => one + other, 0);
    return `| ${[formatCount(sum), formatCount(all), formatSize(first), ...added].join(" | ")} |`;
  } finally {
    await company.close();
  }
}

/** Of all pages that something takes. */
function bytesOf({ file }: Company): number {
  return read(file, "SELECT sum(pgsize) FROM dbstat");
}

function countOf({ file }: Company, table: string): number {
  return read(file, `SELECT count(*) FROM "${table}"`);
}

function read(file: string, sql: string): number {
  const db = new Database(file, { readonly: true });
  try {
    return Number(db.prepare(sql).pluck().get());
  } finally {
    db.close();
  }
}

/** Four times, each found by a run that reads every detail. */
async function changeInvoices(company: Company): Promise<void> {
  const db = new Database(company.file, { readonly: true });
  const ids = db.prepare("SELECT id FROM invoices ORDER BY id LIMIT ?").pluck().all(changedInvoices);
  db.close();
  for (let time = 0; time < 4; time++) {
    for (const id of ids) company.sandbox.control.alter("invoices", Number(id), { note: `note ${time}` });
    await sync(company, { full: true });
  }
}

async function storeEvents({ file }: Company): Promise<void> {
  const mirror = await openMirror(file, manifest);
  const queue = new WorkQueue(mirror.db);
  const selected = new Set<string>();
  const ingest = new CompanyIngest({ mirror, queue, selected, keyring: emptyKeyring });
  const occurredAt = isoTime(Date.now());
  for (let from = 0; from < events; from += 10) {
    const some = Array.from({ length: 10 }, (_, at) => {
      const id = `0190a0b1-0000-7000-8000-${String(from + at).padStart(12, "0")}`;
      const resource = { type: "invoice", id: from + at };
      return readStored(id, JSON.stringify({ id, type: "invoices.updated", occurredAt, resource }));
    });
    ingest.store(some, Date.now());
  }
  mirror.close();
}
