import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { formatSize } from "../../base/units.ts";
import { readCsv } from "./csv.ts";
import { question } from "./queries.ts";
import type { DemoContext } from "./demo-steps.ts";
import { company, type DemoSetup } from "./demo-setup.ts";
import type { Narrate } from "./narration.ts";

/** A report and files of two kinds, and whether they say the same as the mirror. */
export async function answer(stage: DemoSetup, _scene: DemoContext, tell: Narrate): Promise<boolean> {
  await stage.run(["publish"]);
  await tell(`   publish: ${named(stage.report)}; in it v_receivables, who owes us how much:`);
  for (const { client, invoices, owed } of question<Debtor>(stage.report, debtors)) {
    const count = String(invoices).padStart(3);
    await tell(
      `   ${client.replaceAll(/\s/g, " ").padEnd(40)} ${count} unpaid  ${owed.toFixed(2).padStart(12)} EUR`,
    );
  }
  const csv = await exported(stage, "csv");
  const parquet = await exported(stage, "parquet");
  const files = [...csv, ...parquet].map(({ place }) => named(place));
  await tell(`   export: ${files.join(", ")}`);
  const sums = await compareSums(stage, csv, tell);
  return (await compareRows(stage, [...csv, ...parquet], tell)) && sums;
}

function named(file: string): string {
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
  /** By the export's own account. */
  readonly rows: number;
  readonly place: string;
  /** It is the file that the account is of. */
  readonly intact: boolean;
}

async function exported(stage: DemoSetup, format: "csv" | "parquet"): Promise<ExportedFile[]> {
  const out = path.join(stage.folder, "export");
  await stage.run(["export", "invoices", "v_receivables", "--format", format, "--out", out]);
  const folder = path.join(out, company);
  const text = readFileSync(path.join(folder, "manifest.json"), "utf8");
  const { files } = JSON.parse(text) as {
    readonly files: readonly (Omit<ExportedFile, "place" | "intact"> &
      Record<"file" | "format" | "sha256", string>)[];
  };
  return files
    .filter((file) => file.format === format)
    .map(({ table, rows, file, sha256 }) => {
      const place = path.join(folder, file);
      const intact = createHash("sha256").update(readFileSync(place)).digest("hex") === sha256;
      return { table, rows, place, intact };
    });
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

async function compareSums(stage: DemoSetup, csv: readonly ExportedFile[], tell: Narrate): Promise<boolean> {
  const answers = [
    question<Owed>(stage.database, owedInMirror)[0],
    question<Owed>(stage.report, owedInReport)[0],
    owedInCsv(csv.find(({ table }) => table === "v_receivables")),
  ].map((found) => `${found?.owed?.toFixed(2) ?? "no"} EUR in ${found?.invoices ?? "no"} unpaid invoices`);
  const agree = new Set(answers).size === 1;
  await tell(
    agree
      ? `   the mirror, the report and the CSV agree: ${answers[0] ?? ""}`
      : `   the mirror, the report and the CSV differ: ${answers.join("; ")}`,
  );
  return agree;
}

function owedInCsv(file: ExportedFile | undefined): Owed | undefined {
  if (!file) return undefined;
  const rows = readCsv(readFileSync(file.place, "utf8")).filter(({ currency }) => currency === "EUR");
  const sum = (column: string) => rows.reduce((total, row) => total + Number(row[column]), 0);
  return { invoices: sum("invoices"), owed: Math.round(sum("to_be_paid") * 100) / 100 };
}

async function compareRows(
  stage: DemoSetup,
  files: readonly ExportedFile[],
  tell: Narrate,
): Promise<boolean> {
  const sql = "SELECT count(*) AS count FROM invoices WHERE _deleted_at IS NULL";
  const [mirror] = question<{ count: number }>(stage.database, sql);
  const invoices = files.filter(({ table }) => table === "invoices");
  const counts = invoices.map(({ place, rows }) =>
    place.endsWith(".csv") ? readCsv(readFileSync(place, "utf8")).length : rows,
  );
  await tell(`   invoices: ${mirror?.count ?? 0} in the mirror, ${counts.join(" and ")} rows in the files`);
  const intact = files.length === 4 && files.every((file) => file.intact);
  return intact && counts.length === 2 && counts.every((count) => count === mirror?.count);
}
