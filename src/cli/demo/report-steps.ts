import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { formatSize } from "../../base/units.ts";
import { demoCompany, type DemoSetup } from "./demo-setup.ts";
import { queryRows } from "./mirror-reader.ts";

/** Publishes a report and files of two kinds, and compares them with the mirror. */
export async function publishFiles(demo: DemoSetup): Promise<boolean> {
  await demo.processes.run(["publish"]);
  await demo.print(`   publish: ${fileText(demo.report)}; in it v_receivables, who owes us how much:`);
  for (const { client, invoices, owed } of queryRows<Debtor>(demo.report, debtors)) {
    const name = client.replaceAll(/\s/g, " ").padEnd(40);
    const amount = owed.toFixed(2).padStart(12);
    await demo.print(`   ${name} ${String(invoices).padStart(3)} unpaid  ${amount} EUR`);
  }
  for (const format of ["csv", "parquet"])
    await demo.processes.run(["export", ...exportedTables, "--format", format, "--out", exportFolder(demo)]);
  const files = exportedFiles(demo).map(({ place }) => fileText(place));
  await demo.print(`   export: ${files.join(", ")}`);
  return compareFiles(demo);
}

/** Compares the report and the exported files with the mirror. */
export async function compareFiles(demo: DemoSetup): Promise<boolean> {
  const files = exportedFiles(demo);
  const haveSums = await compareSums(demo, files);
  const haveRows = await compareRows(demo, files);
  return haveSums && haveRows && files.length === 4;
}

const exportedTables = ["invoices", "v_receivables"];

function exportFolder({ folder }: DemoSetup): string {
  return path.join(folder, "export");
}

function fileText(file: string): string {
  return `${path.basename(file)} (${formatSize(statSync(file).size)})`;
}

interface Debtor {
  readonly client: string;
  readonly invoices: number;
  readonly owed: number;
}

const debtors = `SELECT client_name AS client, sum(invoices) AS invoices, round(sum(to_be_paid), 2) AS owed
  FROM v_receivables WHERE currency = 'EUR' GROUP BY client_id ORDER BY owed DESC LIMIT 3`;

interface ExportedFile {
  readonly table: string;
  readonly format: string;
  /** As the manifest says. */
  readonly rows: number;
  readonly place: string;
}

/** The files of the manifest, CSV first. */
function exportedFiles(demo: DemoSetup): ExportedFile[] {
  const folder = path.join(exportFolder(demo), demoCompany);
  const text = readFileSync(path.join(folder, "manifest.json"), "utf8");
  const { files } = JSON.parse(text) as {
    readonly files: readonly (ExportedFile & { readonly file: string })[];
  };
  const found = files.map(({ table, format, rows, file }) => ({
    table,
    format,
    rows,
    place: path.join(folder, file),
  }));
  return found.toSorted((a, b) => a.format.localeCompare(b.format));
}

interface Owed {
  readonly invoices: number;
  /** Null: there is nothing to add up. */
  readonly owed: number | null;
}

const owedInMirror = `SELECT count(*) AS invoices, round(sum(i.to_be_paid), 2) AS owed
  FROM invoices i JOIN currencies c ON c.id = i.currency_id
  WHERE i._deleted_at IS NULL AND i.to_be_paid > 0 AND i.status <> 'will_not_be_paid' AND c.symbol = 'EUR'`;

const owedInReport = `SELECT sum(invoices) AS invoices, round(sum(to_be_paid), 2) AS owed
  FROM v_receivables WHERE currency = 'EUR'`;

async function compareSums(demo: DemoSetup, files: readonly ExportedFile[]): Promise<boolean> {
  const csv = files.find(({ table, format }) => table === "v_receivables" && format === "csv");
  const answers = [
    queryRows<Owed>(demo.database, owedInMirror)[0],
    queryRows<Owed>(demo.report, owedInReport)[0],
    csv && owedInCsv(csv.place),
  ].map((found) => `${found?.owed?.toFixed(2) ?? "no"} EUR in ${found?.invoices ?? "no"} unpaid invoices`);
  const areEqual = new Set(answers).size === 1;
  await demo.print(
    areEqual
      ? `   the mirror, the report and the CSV agree: ${answers[0] ?? ""}`
      : `   the mirror, the report and the CSV differ: ${answers.join("; ")}`,
  );
  return areEqual;
}

function owedInCsv(file: string): Owed {
  const [names = [], ...rows] = csvRows(file);
  const euros = rows.filter((row) => row[names.indexOf("currency")] === "EUR");
  const sum = (column: string) => euros.reduce((total, row) => total + Number(row[names.indexOf(column)]), 0);
  return { invoices: sum("invoices"), owed: Math.round(sum("to_be_paid") * 100) / 100 };
}

/** Rows of a CSV file, the head too; quoted cells, which may hold commas and line breaks, are left out as `""`. */
function csvRows(file: string): string[][] {
  const plain = readFileSync(file, "utf8").replaceAll(/"(?:[^"]|"")*"/g, '""');
  return plain
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => line.split(","));
}

async function compareRows(demo: DemoSetup, files: readonly ExportedFile[]): Promise<boolean> {
  const sql = "SELECT count(*) AS count FROM invoices WHERE _deleted_at IS NULL";
  const mirrored = queryRows<{ count: number }>(demo.database, sql)[0]?.count ?? 0;
  const counts = files
    .filter(({ table }) => table === "invoices")
    .map(({ place, format, rows }) => (format === "csv" ? csvRows(place).length - 1 : rows));
  await demo.print(`   invoices: ${mirrored} in the mirror, ${counts.join(" and ")} rows in the files`);
  return counts.length === 2 && counts.every((count) => count === mirrored);
}
