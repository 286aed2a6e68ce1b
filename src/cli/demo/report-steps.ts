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

function exported(demo: DemoSetup, name: string): string {
  return demo.inFolder(path.join("export", demoCompany, name));
}

function fileText(file: string): string {
  return `${path.basename(file)} (${formatSize(statSync(file).size)})`;
}

const owedInMirror = `SELECT count(*) AS invoices, round(sum(i.to_be_paid), 2) AS owed
  FROM invoices i JOIN currencies c ON c.id = i.currency_id
  WHERE i._deleted_at IS NULL AND i.to_be_paid > 0 AND i.status <> 'will_not_be_paid' AND c.symbol = 'EUR'`;

const owedInReport = `SELECT sum(invoices) AS invoices, round(sum(to_be_paid), 2) AS owed
  FROM v_receivables WHERE currency = 'EUR'`;

const invoicesInMirror = "SELECT count(*) AS count FROM invoices WHERE _deleted_at IS NULL";

/** Compares what the report adds up, and the rows of the exported files, with the mirror. */
export async function compareFiles(demo: DemoSetup): Promise<boolean> {
  const sums = [queryRow(demo.database, owedInMirror), queryRow(demo.report, owedInReport)].map((row) => {
    const { owed, invoices } = row as { owed: number | null; invoices: number | null };
    return `${owed?.toFixed(2) ?? "no"} EUR in ${invoices ?? "no"} unpaid invoices`;
  });
  const areEqual = sums[0] === sums[1];
  const finding = areEqual ? `agree: ${sums[0]}` : `differ: ${sums.join("; ")}`;
  await demo.print(`the mirror and the report ${finding}`);
  const { count } = queryRow(demo.database, invoicesInMirror) as { readonly count: number };
  const { files } = JSON.parse(readFileSync(exported(demo, "manifest.json"), "utf8")) as {
    readonly files: readonly { readonly file: string; readonly rows: number }[];
  };
  const rowsOf = (name: string) => files.find(({ file }) => file === name)?.rows;
  const [csv, parquet] = [rowsOf("invoices.csv"), rowsOf("invoices.parquet")];
  await demo.print(`invoices: ${count} in the mirror, ${csv} and ${parquet} rows in the files`);
  return areEqual && csv === count && parquet === count;
}
