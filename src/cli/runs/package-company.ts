import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import { someOf } from "../../base/names.ts";
import type { MonthPackage } from "../../connector/month-package.ts";
import { exportTables, type ExportResult } from "../../export/export-tables.ts";
import {
  documentsOfMonth,
  writeMonthFolder,
  type MonthDocument,
  type MonthFile,
  type WrittenMonth,
} from "../../export/package/month-folder.ts";
import type { ExportParts } from "../../export/plan/export-request.ts";
import { periodOfMonth } from "../../export/plan/period.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import { failureOf } from "../console/failure-text.ts";
import { filesOfDocuments } from "./files-company.ts";
import { withScratchFolder } from "../mirror/scratch-folder.ts";

/** Which month is packed, and where to. */
export interface PackageRequest {
  readonly month: string;
  readonly out: string;
  readonly zip: boolean;
}

/** What was packed. */
export interface CompanyPackaged extends WrittenMonth {
  /** Rows by sheet. */
  readonly rows: Readonly<Record<string, number>>;
  /** Names of documents without a PDF. */
  readonly withoutPdf: readonly string[];
  /** Resources of which details are missing. */
  readonly incomplete: readonly string[];
}

/**
 * Packs a company's month for the accountant: workbook, PDFs, text and manifest. PDFs that are missing are fetched; one
 * that cannot be had is named in the text.
 *
 * @throws MirrorError `usage`: the connector has no such package; `database`, `locked`, `stopped`
 */
export async function packageCompany(
  scope: CompanyScope,
  { month, out, zip }: PackageRequest,
): Promise<CompanyPackaged> {
  const { manifest, company } = scope;
  const { monthPackage } = manifest;
  if (!monthPackage) throw new MirrorError("usage", `${manifest.title} has no package of a month`);
  return withScratchFolder(scope, "package", async (scratch) => {
    const { exported, documents } = await exportSheets(scope, monthPackage, month, scratch);
    const { pdfs, withoutPdf } = await pdfsOf(scope, documents);
    const incomplete = incompleteOf(monthPackage, exported);
    const workbook = `${company.name}-${month}.xlsx`;
    const text = monthTextOf(monthPackage, {
      company: company.name,
      month,
      workbook,
      pdfs: pdfs.length,
      withoutPdf,
      incomplete,
    });
    const files: MonthFile[] = [
      { path: workbook, from: { file: path.join(scratch, exported.files[0] ?? "") } },
      { path: monthPackage.text.name, from: { text } },
      ...pdfs,
    ];
    const written = await writeMonthFolder(out, { company: company.name, month }, files, zip);
    const rows = Object.fromEntries(exported.manifest.files.map((file) => [file.table, file.rows]));
    return { ...written, rows, withoutPdf, incomplete };
  });
}

/** The workbook, whose ages and balances are those of the month's last day; and, of the same moment, the month's documents. */
async function exportSheets(
  { context, manifest, config, company, files }: CompanyScope,
  { sheets, language }: MonthPackage,
  month: string,
  out: string,
): Promise<{ exported: ExportResult; documents: readonly MonthDocument[] }> {
  const { clock, version, signal } = context;
  const period = periodOfMonth(month);
  let documents: readonly MonthDocument[] = [];
  const parts: ExportParts = {
    mirror: files.mirror,
    manifest: { ...manifest, views: [...(manifest.views ?? []), ...sheets] },
    clock,
    version,
    signal,
    reportDate: period.to,
    redact: config.report.redact,
    onSnapshot: (snapshot) => (documents = documentsOfMonth(snapshot, manifest, period)),
  };
  const exported = await exportTables(parts, {
    format: "xlsx",
    out,
    company: company.name,
    tables: sheets.map(({ name }) => name),
    dialect: "standard",
    language,
    partition: null,
    since: null,
    period,
    nested: false,
  });
  return { exported, documents };
}

interface Pdfs {
  readonly pdfs: readonly MonthFile[];
  readonly withoutPdf: readonly string[];
}

/** The PDFs of documents, under their archived names without year and month. A service that is away costs the missing ones. */
async function pdfsOf(scope: CompanyScope, documents: readonly MonthDocument[]): Promise<Pdfs> {
  const refs = documents.map(({ ref }) => ref);
  const found = await filesOfDocuments(scope, refs, { onFailure: (error) => warnOf(scope, error) });
  const pdfs = found.filter(({ kind }) => kind === "pdf");
  const has = new Set(pdfs.map(({ document, document_id: id }) => `${document} ${id}`));
  return {
    pdfs: pdfs.map(({ path: place, file, sha256 }) => ({
      path: `pdf/${place.split("/").slice(2).join("/")}`,
      from: { file },
      sha256,
    })),
    withoutPdf: documents.filter(({ ref }) => !has.has(`${ref.resource} ${ref.id}`)).map(({ name }) => name),
  };
}

function warnOf({ context, company }: CompanyScope, error: unknown): void {
  const { kind, message, hint } = failureOf(error);
  context.log.warn(`${company.name}: PDFs were not fetched: ${message}`, { kind, hint: hint ?? undefined });
}

function incompleteOf({ documents }: MonthPackage, { completeness }: ExportResult): string[] {
  return documents.filter((name) => completeness.get(name)?.isComplete === false);
}

interface TextFacts {
  readonly company: string;
  readonly month: string;
  readonly workbook: string;
  readonly pdfs: number;
  readonly withoutPdf: readonly string[];
  readonly incomplete: readonly string[];
}

const mostNamed = 50;

/** Pure: the text of a month's folder. */
function monthTextOf(
  { text }: Pick<MonthPackage, "text">,
  { withoutPdf, incomplete, ...facts }: TextFacts,
): string {
  const values: Readonly<Record<string, string | number>> = { ...facts, ...periodOfMonth(facts.month) };
  const fill = (line: string, names: readonly string[] = []) =>
    line.replaceAll(/\{(\w+)\}/g, (_, key: string) =>
      key === "names" ? someOf(names, mostNamed) : String(values[key] ?? ""),
    );
  const lines = [
    ...text.lines.map((line) => fill(line)),
    ...(withoutPdf.length > 0 ? ["", fill(text.withoutPdf, withoutPdf)] : []),
    ...(incomplete.length > 0 ? ["", fill(text.incomplete, incomplete)] : []),
  ];
  // A byte order mark, so that every editor of Windows reads UTF-8.
  return `\ufeff${lines.join("\r\n")}\r\n`;
}
