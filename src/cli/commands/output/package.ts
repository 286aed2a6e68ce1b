import path from "node:path";
import { localDate } from "../../../base/clock.ts";
import { MirrorError } from "../../../base/errors.ts";
import { someOf } from "../../../base/names.ts";
import type { MonthPackage } from "../../../connector/report-view.ts";
import { exportTables, type ExportResult } from "../../../export/export-tables.ts";
import {
  documentsOfMonth,
  writeMonthFolder,
  type MonthDocument,
  type MonthFile,
} from "../../../export/package/month-folder.ts";
import type { ExportParts } from "../../../export/plan/export-request.ts";
import { periodOfMonth } from "../../../export/plan/period.ts";
import { failureOf } from "../../console/failure-text.ts";
import { withMoment, type ScopeAsOf } from "../../mirror/as-of.ts";
import type { CompanyScope } from "../../mirror/company-scope.ts";
import { withScratchFolder } from "../../mirror/scratch-folder.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { forEachCompany, type CompanyResult } from "../../runs/each-company.ts";
import { filesOfDocuments, storedFilesOf } from "../upkeep/files.ts";

export const packageCommand: CommandRun<"package"> = (context, { options, loaded: { config } }) => {
  const { month, zip, asOf } = options;
  if (month === undefined) throw new MirrorError("usage", "package needs --month, such as --month 2026-10");
  const today = localDate(context.clock.nowMs(), config.schedule.timezone);
  if (month > today.slice(0, 7))
    throw new MirrorError("usage", `--month ${month} has not begun yet: today is ${today}`, {
      hint: "Give a month that is over, or the current one for what there is so far.",
    });
  const out = path.resolve(context.cwd, options.out ?? "package");
  const pack = (scope: CompanyScope) =>
    withMoment(scope, asOf, (then) => packageCompany(then, { month, out, zip }));
  return forEachCompany(context, config, pack, { isPartial: true });
};

/**
 * Packs a company's month for the accountant: workbook, PDFs, text and manifest. PDFs that are missing are fetched; one
 * that cannot be had is named in the text.
 *
 * @throws MirrorError `usage`: the connector has no such package; `database`, `locked`, `stopped`
 */
function packageCompany(
  scope: ScopeAsOf,
  { month, out, zip: isZipped }: { readonly month: string; readonly out: string; readonly zip: boolean },
): Promise<CompanyResult> {
  const { manifest } = scope;
  const { name: company } = scope.company;
  const { monthPackage } = manifest;
  if (!monthPackage) throw new MirrorError("usage", `${manifest.title} has no package of a month`);
  return withScratchFolder(scope, "package", async (scratch) => {
    const { exported, documents } = await exportSheets(scope, monthPackage, month, scratch);
    const { pdfs, withoutPdf } = await pdfsOf(scope, documents);
    const incomplete = monthPackage.documents.filter(
      (name) => exported.completeness.get(name)?.isComplete === false,
    );
    const workbook = `${company}-${month}.xlsx`;
    const facts = { company, month, workbook, pdfs: pdfs.length, ...periodOfMonth(month) };
    const text = monthTextOf(monthPackage, facts, withoutPdf, incomplete);
    const files: MonthFile[] = [
      { path: workbook, from: { file: path.join(scratch, exported.files[0] ?? "") } },
      { path: monthPackage.text.name, from: { text } },
      ...pdfs,
    ];
    const {
      folder,
      zip,
      manifest: written,
    } = await writeMonthFolder(out, { company, month }, files, isZipped);
    const rows = Object.fromEntries(exported.manifest.files.map((file) => [file.table, file.rows]));
    const gaps = [
      ...(withoutPdf.length > 0 ? [`  without a PDF: ${someOf(withoutPdf, 10)}`] : []),
      ...(incomplete.length > 0 ? [`  details still to be read: ${incomplete.join(", ")}`] : []),
    ];
    const outcome = gaps.length > 0 ? "partial" : "complete";
    return {
      outcome,
      document: { outcome, folder, zip, rows, withoutPdf, incomplete, files: written.files },
      lines: [`${company}: ${written.files.length + 1} files: ${zip ?? folder}`, ...gaps],
    };
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

/** The PDFs of documents, under their archived names without year and month. A service that is away costs the missing ones. */
async function pdfsOf(scope: ScopeAsOf, documents: readonly MonthDocument[]) {
  const refs = documents.map(({ ref }) => ref);
  const found = scope.moment
    ? await storedFilesOf(scope, refs)
    : await filesOfDocuments(scope, refs, (error) => {
        const { kind, message, hint } = failureOf(error);
        const name = scope.company.name;
        scope.context.log.warn(`${name}: PDFs were not fetched: ${message}`, {
          kind,
          hint: hint ?? undefined,
        });
      });
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

const mostNamed = 50;

function monthTextOf(
  { text }: MonthPackage,
  facts: Readonly<Record<string, string | number | null>>,
  withoutPdf: readonly string[],
  incomplete: readonly string[],
): string {
  const fill = (line: string, names: readonly string[] = []) =>
    line.replaceAll(/\{(\w+)\}/g, (_, key: string) =>
      key === "names" ? someOf(names, mostNamed) : String(facts[key] ?? ""),
    );
  const lines = [
    ...text.lines.map((line) => fill(line)),
    ...(withoutPdf.length > 0 ? ["", fill(text.withoutPdf, withoutPdf)] : []),
    ...(incomplete.length > 0 ? ["", fill(text.incomplete, incomplete)] : []),
  ];
  // A byte order mark, so that every editor of Windows reads UTF-8.
  return `\ufeff${lines.join("\r\n")}\r\n`;
}
