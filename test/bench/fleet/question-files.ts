import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { manifest } from "../../../connectors/fintoro/manifest.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { exportTables } from "../../../src/export/export-tables.ts";
import { openMirror } from "../../../src/state/mirror.ts";
import { putAs } from "../../support/mirror/store.ts";
import { startSandbox } from "../../support/sandbox/control.ts";
import { truthOf } from "../../support/truth/truth.ts";

/** What questions ask; a pointer names all tables that a company has. */
export const askedTables = ["invoices", "v_receivables", "v_vat_by_month"] as const;
const otherTables = Array.from({ length: 50 }, (_, i) => `table_${i}`);
/** Half of them are invoices. */
const documents = 1_400;
/** Companies with rows of their own; the others have copies of their files. */
const samples = 50;
/** One that buys of every company. */
export const customer = "38627256";

const otherRows = `UPDATE invoices SET total_with_vat = round(total_with_vat * (0.5 + abs(random() % 1000) / 1000.0), 2),
  to_be_paid = round(to_be_paid * (0.5 + abs(random() % 1000) / 1000.0), 2), number = hex(randomblob(4)),
  uuid = hex(randomblob(16)), client_name = hex(randomblob(10)), variable_symbol = abs(random() % 100000000),
  client_subject_id = iif(id % 100 = 1, '${customer}', 10000000 + abs(random() % 89999999))`;

/** Fills a folder as workers publish companies of 700 invoices: files of the product's own writer, and pointers. */
export async function publishCompanies(folder: string, count: number): Promise<void> {
  const sandbox = await startSandbox({ records: documents });
  const mirror = await openMirror(path.join(folder, "sample.db"), manifest);
  mirror.db.pragma("synchronous = OFF");
  for (const [table, records] of truthOf(sandbox))
    for (const [id, { text }] of records) putAs(mirror, table, Number(id), text);
  await sandbox.close();
  mkdirSync(path.join(folder, "pointers"));
  const out = path.join(folder, "sample");
  const parts = { mirror: mirror.db.name, manifest, clock: systemClock, reportDate: "2026-11-27" };
  const request = {
    format: "parquet",
    out,
    company: "one",
    tables: askedTables,
    dialect: "standard",
  } as const;
  const rest = { partition: null, language: "en", since: null, period: null, nested: false } as const;
  for (let sample = 0; sample < Math.min(samples, count); sample++) {
    mirror.db.exec(otherRows);
    rmSync(out, { recursive: true, force: true });
    const { manifest: made } = await exportTables({ ...parts, version: "bench" }, { ...request, ...rest });
    for (let company = sample; company < count; company += samples)
      publishCompany(folder, `company_${company}`, made.files);
  }
  mirror.close();
}

interface MadeFile {
  readonly table: string;
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  readonly report_date?: string;
}

function publishCompany(folder: string, company: string, files: readonly MadeFile[]): void {
  const others = otherTables.map((name) => ({
    company,
    name,
    key: keyOf(company, name),
    rows: 1,
    bytes: 500,
  }));
  const made = files.map(({ table: name, file, rows, bytes, report_date: day }) => {
    const key = keyOf(company, day === undefined ? name : `${name}/report_date=${day}`);
    mkdirSync(path.dirname(path.join(folder, key)), { recursive: true });
    copyFileSync(path.join(folder, "sample/one", file), path.join(folder, key));
    return { company, name, key, rows, bytes };
  });
  writeFileSync(path.join(folder, `pointers/${company}.json`), `${JSON.stringify([...made, ...others])}\n`);
}

function keyOf(company: string, below: string): string {
  return `company=${company}/${below}/data-1-1.parquet`;
}
