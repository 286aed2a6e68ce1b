import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { formatSize } from "../../base/units.ts";
import { readDatabase } from "../../store/database.ts";
import { demoCompany, queryRow, type DemoSetup } from "./demo-setup.ts";

const debtors = `SELECT client_name AS client, sum(invoices) AS invoices, round(sum(to_be_paid), 2) AS owed
  FROM v_receivables WHERE currency = 'EUR' GROUP BY buyer ORDER BY owed DESC LIMIT 3`;

/** Publishes a report and files of two kinds, and compares them with the mirror. */
export async function publishFiles(demo: DemoSetup): Promise<boolean> {
  await demo.run(["publish"]);
  await demo.print(`publish: ${fileText(demo.report)}; in it v_receivables, who owes us how much:`);
  for (const row of readDatabase(demo.report, (db) => db.prepare(debtors).all())) {
    const { client, invoices, owed } = row as { client: string; invoices: number; owed: number };
    const name = client.replaceAll(/\s/g, " ").padEnd(40);
    await demo.print(`${name} ${String(invoices).padStart(3)} unpaid  ${owed.toFixed(2).padStart(12)} EUR`);
  }
  const args = ["export", "invoices", "v_receivables", "--out", demo.inFolder("export")];
  for (const format of ["csv", "parquet"]) await demo.run([...args, "--format", format]);
  const files = ["csv", "parquet"].flatMap((format) => [`invoices.${format}`, `v_receivables.${format}`]);
  await demo.print(`export: ${files.map((name) => fileText(exported(demo, name))).join(", ")}`);
  return compareFiles(demo);
}

/** Compares the report and the exported files with the mirror. */
export async function compareFiles(demo: DemoSetup): Promise<boolean> {
  const haveSums = await compareSums(demo);
  return (await compareRows(demo)) && haveSums;
}

function exported(demo: DemoSetup, name: string): string {
  return demo.inFolder(path.join("export", demoCompany, name));
}

function fileText(file: string): string {
  return `${path.basename(file)} (${formatSize(statSync(file).size)})`;
}

/** Null: there is nothing to add up. */
interface Owed {
  readonly invoices: number | null;
  readonly owed: number | null;
}

const owedInMirror = `SELECT count(*) AS invoices, round(sum(i.to_be_paid), 2) AS owed
  FROM invoices i JOIN currencies c ON c.id = i.currency_id
  WHERE i._deleted_at IS NULL AND i.to_be_paid > 0 AND i.status <> 'will_not_be_paid' AND c.symbol = 'EUR'`;

const owedInReport = `SELECT sum(invoices) AS invoices, round(sum(to_be_paid), 2) AS owed
  FROM v_receivables WHERE currency = 'EUR'`;

async function compareSums(demo: DemoSetup): Promise<boolean> {
  const answers = [
    queryRow(demo.database, owedInMirror) as Owed,
    queryRow(demo.report, owedInReport) as Owed,
    owedInCsv(exported(demo, "v_receivables.csv")),
  ].map(({ owed, invoices }) => `${owed?.toFixed(2) ?? "no"} EUR in ${invoices ?? "no"} unpaid invoices`);
  const areEqual = new Set(answers).size === 1;
  const finding = areEqual ? `agree: ${answers[0] ?? ""}` : `differ: ${answers.join("; ")}`;
  await demo.print(`the mirror, the report and the CSV ${finding}`);
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
  const lines = plain.trimEnd().split(/\r?\n/);
  return lines.map((line) => line.split(","));
}

/** Compares the rows of the CSV file, and those that the manifest says of Parquet. */
async function compareRows(demo: DemoSetup): Promise<boolean> {
  const sql = "SELECT count(*) AS count FROM invoices WHERE _deleted_at IS NULL";
  const { count: mirrored } = queryRow(demo.database, sql) as { readonly count: number };
  const { files } = JSON.parse(readFileSync(exported(demo, "manifest.json"), "utf8")) as {
    readonly files: readonly { readonly file: string; readonly rows: number }[];
  };
  const parquet = files.find(({ file }) => file === "invoices.parquet")?.rows;
  const csv = csvRows(exported(demo, "invoices.csv")).length - 1;
  await demo.print(`invoices: ${mirrored} in the mirror, ${csv} and ${parquet} rows in the files`);
  return csv === mirrored && parquet === mirrored;
}
