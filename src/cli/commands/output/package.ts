import path from "node:path";
import { isoTime, localDate } from "../../../base/clock.ts";
import { MirrorError, messageOf } from "../../../base/errors.ts";
import type { AskedMoment } from "../../../base/ids.ts";
import { mirrorFiles } from "../../../store/mirror-files.ts";
import { sheetOf, monthChanges, type MonthChanges } from "../../../export/package/month-changes.ts";
import { recordHandOver, handOversOf } from "../../../state/as-of/hand-overs.ts";
import { openDatabase } from "../../../store/database.ts";
import { someOf } from "../../../base/names.ts";
import { namesReadBy, type MonthPackage, type ReportView } from "../../../connector/report-view.ts";
import { exportTables, type ExportResult } from "../../../export/export-tables.ts";
import {
  documentsOfMonth,
  writeMonthFolder,
  type MonthDocument,
  type MonthFile,
  type MonthManifest,
} from "../../../export/package/month-folder.ts";
import { assertPackable, periodOfMonth } from "../../../export/plan/period.ts";
import type { MonthFindings } from "../../../verify/findings.ts";
import { findAsked, withMoment, withScratchFolder, withOverlay } from "../../mirror/as-of.ts";
import { type CompanyScope, readExisting } from "../../mirror/company-scope.ts";
import type { CommandOptions, CommandRun } from "../../program/command-table.ts";
import { forEachCompany, type CompanyResult } from "../../runs/each-company.ts";
import { resultOfMonth, verifyCompany } from "../upkeep/verify.ts";
import { filesOfDocuments, storedFilesOf } from "../upkeep/files.ts";
import { exportParts } from "./export.ts";
import { makeFolders } from "../../../base/files/atomic-file.ts";
import { translationTo } from "../../../export/plan/export-plan.ts";
import type { MirrorMoment } from "../../../state/as-of/moment.ts";
import { overlayAsOf } from "../../../state/as-of/overlays.ts";
import { openSnapshot } from "../../../state/mirror-snapshot.ts";

export const packageCommand: CommandRun<"package"> = (context, { options, config }) => {
  const { month, asOf, proved } = options;
  assertPackable("package", month, proved, localDate(context.clock.nowMs(), config.schedule.timezone));
  const out = path.resolve(context.cwd, options.out ?? "package");
  const pack = async (scope: CompanyScope): Promise<CompanyResult> => {
    if (!proved) return withMoment(scope, asOf, (then) => packageCompany(then, options, month, out, null));
    const proof = await proveMonth(scope, month);
    return proof.match
      ? packageCompany(scope, options, month, out, proof)
      : notProved(scope, proof, `\`verify --month ${month} --repair\` reads again what differs`);
  };
  return forEachCompany(context, config, pack, { isPartial: true });
};

/** Compares the documents of a month with the service. Throws as `verifyCompany`. */
export async function proveMonth(scope: CompanyScope, month: string): Promise<MonthFindings> {
  const by = `package --month ${month} --proved`;
  const proof = await verifyCompany(scope, { sample: "all", repair: false, by, month });
  if (!("month" in proof)) throw new Error("broken promise: a month has a report of its own");
  return proof;
}

interface PackageResult extends CompanyResult {
  /** Absent: the month is not proved. */
  readonly packed?: Pick<MonthManifest, "hand_over"> & { withoutPdf: string[] };
}

function notProved({ company: { name } }: CompanyScope, proof: MonthFindings, why: string): CompanyResult {
  const { lines, document, outcome } = resultOfMonth(name, proof);
  const isEqual = outcome === "complete";
  return {
    document: { ...document, match: false },
    outcome: isEqual ? "partial" : outcome,
    lines: [...lines, `  the month is not proved, nothing was written: ${why}`],
  };
}

const notWhole = "not read whole, or not since the month ended";

/** A busy mirror may change between the comparison and the workbook. */
const mostAttempts = 5;

/**
 * Packs a company's month for the accountant: workbook, PDFs, text and manifest. PDFs that are missing are fetched; one
 * that cannot be had is named in the text. With a proof, what is packed is what was proved, or nothing is written; null: none was asked for.
 *
 * @param deliver where the archive goes before it counts as handed over: it must be whole, so where details are still to be
 *   read, or the service does not answer, nothing is delivered. Null: it stays in `out`, and says what it lacks
 * @throws MirrorError `usage`: the connector has no such package; `database`, `locked`, `stopped`; with `deliver` those of
 *   the service and of the delivery
 */
export function packageCompany(
  scope: CompanyScope,
  { zip: isZipped, changesSince }: Partial<CommandOptions<"package">> & { readonly zip: boolean },
  month: string,
  out: string,
  proof: MonthFindings | null,
  deliver: ((archive: string) => Promise<void>) | null = null,
): Promise<PackageResult> {
  const { declaration } = scope;
  const { name: company } = scope.company;
  const { monthPackage } = declaration;
  if (!monthPackage) throw new MirrorError("usage", `${declaration.title} has no package of a month`);
  const proved = proof && { ...proof, version: scope.context.version };
  const certificate = proved ? [certificateOf(monthPackage, proved)] : [];
  return withScratchFolder(scope, "package", async (scratch) => {
    const sheets = [...certificate, ...monthPackage.sheets];
    const packed = { ...monthPackage, sheets };
    const { exported, documents, since } = await exportMonth(scope, packed, month, scratch, changesSince);
    if (proof && exported.manifest.seq !== proof.position)
      return notProved(scope, proof, "the mirror changed meanwhile; try again");
    const incomplete = notReadWhole(scope, monthPackage, month, exported, proof !== null);
    if (deliver && incomplete.length > 0)
      throw new MirrorError("database", `${notWhole}: ${incomplete.join(", ")}`);
    const { pdfs, withoutPdf } = await pdfsOf(scope, documents, deliver === null);
    const workbook = `${company}-${month}.xlsx`;
    const handedOver = since && localDate(Date.parse(since.since.at), scope.config.schedule.timezone);
    const facts = { company, month, workbook, pdfs: pdfs.length, since: handedOver, ...periodOfMonth(month) };
    const changed = [...new Set((since?.changes.changed ?? []).map((row) => String(row["document"])))];
    const said = certificate.flatMap(({ title, columns }) => ["", title, ...columns.map(({ doc }) => doc)]);
    const text = monthTextOf(monthPackage, facts, said, { changed, withoutPdf, incomplete });
    const files: MonthFile[] = [
      { path: workbook, from: { file: path.join(scratch, exported.files[0] ?? "") } },
      { path: monthPackage.text.name, from: { text } },
      ...pdfs,
    ];
    const { log, seq: position } = exported.manifest;
    const handOver = { log, position, command: `package --month ${month}${proof ? " --proved" : ""}` };
    const head = { company, month, hand_over: handOver, ...(proved && { certificate: proved }) };
    const { folder, zip, manifest: written, isNew } = await writeMonthFolder(out, head, files, isZipped);
    await deliver?.(zip ?? folder);
    const isNoted = writeHandOver(scope, handOver, written, since?.isAgain ?? false);
    if (!isNew && !since && !isNoted)
      scope.context.log.warn(`${company}: what changed in ${month} since its last package is not known`, {
        hint: "The mirror was made anew, or restored from a backup made before: it notes no hand-over. `--changes-since` names a moment.",
      });
    const rows = Object.fromEntries(exported.manifest.files.map((file) => [file.table, file.rows]));
    const gaps = gapsOf(withoutPdf, incomplete);
    const outcome = gaps.length > 0 ? "partial" : "complete";
    return {
      packed: { hand_over: handOver, withoutPdf },
      outcome,
      document: {
        outcome,
        folder,
        zip,
        rows,
        withoutPdf,
        incomplete,
        hand_over: handOver,
        changed_since: since && { log, position: since.since.seq, at: since.since.at, documents: changed },
        files: written.files,
      },
      lines: [
        `${company}: ${written.files.length + 1} files: ${zip ?? folder}`,
        ...(changed.length > 0 ? [`  changed since ${handedOver}: ${someOf(changed, 10)}`] : []),
        ...gaps,
      ],
    };
  });
}

/** Tables that the workbook shows of which some may be missing. A proof, and a moment that was asked for, need no run after the month's end. */
function notReadWhole(
  { context: { clock }, config, declaration, resources, moment }: CompanyScope,
  { sheets }: MonthPackage,
  month: string,
  { completeness }: ExportResult,
  isProved: boolean,
): string[] {
  const isOver = (atMs: number) => localDate(atMs, config.schedule.timezone) > periodOfMonth(month).to;
  const mustFollow = !isProved && isOver(clock.nowMs());
  const read = new Set(sheets.flatMap((sheet) => namesReadBy(sheet, declaration.views ?? [])));
  return [...completeness].flatMap(([name, { isComplete, wholeAt }]) => {
    const isLeftOut = !resources.some((one) => one.name === name);
    const isOld = mustFollow && wholeAt !== null && !isOver(Date.parse(wholeAt));
    const isWhole = isComplete && (moment !== undefined || !(isLeftOut || isOld));
    return read.has(name) && !isWhole ? [name] : [];
  });
}

function gapsOf(withoutPdf: readonly string[], incomplete: readonly string[]): string[] {
  return [
    ...(withoutPdf.length > 0 ? [`  without a PDF: ${someOf(withoutPdf, 10)}`] : []),
    ...(incomplete.length > 0 ? [`  ${notWhole}: ${incomplete.join(", ")}`] : []),
  ];
}

/** The sheets of a month, with those of what changed since it was handed over where anything did. */
async function exportMonth(
  scope: CompanyScope,
  monthPackage: MonthPackage,
  month: string,
  scratch: string,
  asked: AskedMoment | undefined,
) {
  const { changed, corrected } = monthPackage.changes.sheets;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const place = path.join(scratch, `attempt-${attempt}`);
    const since = await sinceHandOver(scope, monthPackage, month, asked, place);
    const rows = since?.changes;
    const more = [
      ...(rows && rows.changed.length > 0 ? [sheetOf(changed, rows.changed)] : []),
      ...(rows && rows.corrected.length > 0 ? [sheetOf(corrected, rows.corrected)] : []),
    ];
    const sheets = [...monthPackage.sheets, ...more];
    const made = await exportSheets(scope, { ...monthPackage, sheets }, month, scratch);
    if (since === null || since.seq === made.exported.manifest.seq) return { ...made, since };
  }
  throw new MirrorError("database", "the mirror changes too fast to say what changed since the hand-over", {
    retryable: true,
    hint: "Run it again, or after the sync that is writing.",
  });
}

/** Into the live mirror, beside whoever writes it. Gives whether one of the month was noted before. */
function writeHandOver(
  { context, config, company }: CompanyScope,
  { log, position: seq, command }: MonthManifest["hand_over"],
  { month, files }: MonthManifest,
  isAgain: boolean,
): boolean {
  using db = openDatabase(mirrorFiles(config, company.name).mirror);
  const isNoted = handOversOf(db, month).length > 0;
  const hashes = Object.fromEntries(files.map((file) => [file.path, file.sha256]));
  const at = isoTime(context.clock.nowMs());
  recordHandOver(db, { log, seq, command, month, at, files: hashes }, isAgain);
  return isNoted;
}

/** The workbook, whose ages and balances are those of the month's last day; and, of the same moment, the month's documents. */
async function exportSheets(
  scope: CompanyScope,
  { sheets, language }: MonthPackage,
  month: string,
  out: string,
): Promise<{ exported: ExportResult; documents: readonly MonthDocument[] }> {
  const { declaration, company } = scope;
  const period = periodOfMonth(month);
  let documents: readonly MonthDocument[] = [];
  const shown = { ...declaration, views: [...(declaration.views ?? []), ...sheets] };
  const parts = exportParts({ ...scope, declaration: shown, moment: undefined }, period.to);
  const form = { format: "xlsx", dialect: "standard", language, partition: null, nested: false } as const;
  const tables = sheets.map(({ name }) => name);
  const request = { ...form, out, company: company.name, tables, since: null, period };
  const exported = await exportTables(parts, request, {
    onSnapshot: (snapshot) => (documents = documentsOfMonth(snapshot, declaration, period)),
  });
  return { exported, documents };
}

/** The PDFs of documents, under their archived names without year and month. A service that is away costs the missing ones. */
async function pdfsOf(scope: CompanyScope, documents: readonly MonthDocument[], isStoredEnough: boolean) {
  const refs = documents.map(({ ref }) => ref);
  const found = scope.moment
    ? await storedFilesOf(scope, refs)
    : await filesOfDocuments(scope, refs, isStoredEnough);
  const pdfs = found.filter(({ kind }) => kind === "pdf");
  const has = new Set(pdfs.map(({ document, document_id: id }) => `${document} ${id}`));
  return {
    pdfs: pdfs.map(({ path: place, content, sha256 }) => ({
      path: `pdf/${place.split("/").slice(2).join("/")}`,
      from: { content },
      sha256,
    })),
    withoutPdf: documents.filter(({ ref }) => !has.has(`${ref.resource} ${ref.id}`)).map(({ name }) => name),
  };
}

const mostNamed = 50;

type MonthFacts = Readonly<Record<string, string | number | null>>;

function fill(line: string, facts: MonthFacts, names: readonly string[] = []): string {
  return line.replaceAll(/\{(\w+)\}/g, (_, key: string) =>
    key === "names" ? someOf(names, mostNamed) : String(facts[key] ?? ""),
  );
}

/** The first sheet of a proved month: one row. What the text says of a column is its `doc`. */
function certificateOf(
  { certificate: { title, facts } }: MonthPackage,
  proof: MonthFindings & { readonly version: string },
): ReportView {
  const { month, compared, equal, finished_at, version, log, position } = proof;
  const said = { month, compared, equal, finished_at, version, log, position };
  const cells = Object.entries(facts).map(([name, value]) => [name, fill(value, said)] as const);
  const columns = cells.map(([name, value]) => ({ name, type: "TEXT", doc: `  ${name}: ${value}` }) as const);
  const words = { question: "Does the month equal the service?", doc: "What `verify --month` found" };
  const sheet = { name: title, title, ...words, columns, date: columns[0]?.name ?? "" };
  return sheetOf(sheet, [Object.fromEntries(cells)]);
}

function monthTextOf(
  { text }: MonthPackage,
  facts: MonthFacts,
  said: readonly string[],
  named: Readonly<Record<"changed" | "withoutPdf" | "incomplete", readonly string[]>>,
): string {
  const lines = [
    ...text.lines.map((line) => fill(line, facts)),
    ...said,
    ...(["changed", "withoutPdf", "incomplete"] as const).flatMap((what) =>
      named[what].length > 0 ? ["", fill(text[what], facts, named[what])] : [],
    ),
  ];
  // A byte order mark, so that every editor of Windows reads UTF-8.
  return `\ufeff${lines.join("\r\n")}\r\n`;
}

interface SinceHandOver {
  /** The mirror that was compared. */
  readonly seq: number;
  readonly since: MirrorMoment;
  readonly changes: MonthChanges;
  /** Has nothing changed since the last hand-over? Then `since` is the one before, with which that one was compared. */
  readonly isAgain: boolean;
}

/**
 * Compares a month with its last hand-over, or with the moment asked for; null: there was none. The same month again is
 * compared as the last time, so that it gives the same files.
 *
 * @throws MirrorError `usage` where the change log does not reach back to the moment asked for
 */
async function sinceHandOver(
  scope: CompanyScope,
  monthPackage: MonthPackage,
  month: string,
  asked: AskedMoment | undefined,
  scratch: string,
): Promise<SinceHandOver | null> {
  const { context, declaration, config, files, company, moment } = scope;
  // An overlay as of a moment has no log of its own.
  const ofNow = mirrorFiles(config, company.name);
  const moments = await readExisting({ ...scope, files: ofNow }, (db) => {
    if (asked) return [findAsked(scope, db, asked)];
    return handOversOf(db, month)
      .filter(({ seq }) => !moment || seq <= moment.seq)
      .slice(-2)
      .toReversed()
      .flatMap(({ seq, at: handedOver }) => {
        try {
          // What a mirror was restored with is in its log, which had another name then.
          const found = findAsked(scope, db, { kind: "position", position: { log: null, seq } });
          return [{ ...found, at: handedOver > found.at ? handedOver : found.at }];
        } catch (error) {
          if (!(error instanceof MirrorError)) throw error;
          const what = `${company.name}: what changed in ${month} since it was handed over on ${handedOver} is not known`;
          context.log.warn(`${what}: ${messageOf(error)}`);
          return [];
        }
      });
  });
  const period = periodOfMonth(month);
  const shown = { ...declaration, views: [...(declaration.views ?? []), ...monthPackage.sheets] };
  const options = { reportDate: period.to, redact: config.report.redact };
  const words = translationTo(declaration, monthPackage.language);
  makeFolders(scratch);
  let compared: SinceHandOver | null = null;
  for (const [i, since] of moments.entries()) {
    const copy = path.join(scratch, `handed-over-${i}.db`);
    using then = await withOverlay(
      () => overlayAsOf(ofNow.mirror, copy, declaration, since, context),
      () => openSnapshot(copy, shown, options),
    );
    using now = openSnapshot(files.mirror, shown, options);
    const changes = monthChanges(then, now, monthPackage, period, words);
    compared = { seq: now.seq, since, changes, isAgain: i > 0 };
    if (changes.changed.length + changes.corrected.length > 0) return compared;
  }
  return compared && { ...compared, isAgain: asked === undefined };
}
