import { z } from "zod";
import { languages } from "../connector/translation.ts";
import { dialects, formats, partitions, unobeyed } from "../connector/export-choices.ts";
import { filledText, folderText, oneOfWords, readableText, section, tablesOf } from "./config-values.ts";

type Known = { readonly resources: readonly { readonly name: string }[] };

/** `exports`: no two entries write the same files, of which only those of the later one would stay. */
export function exportEntries(known: Known, place: { readonly folder: string }) {
  return z.array(exportEntry(place), { error: "must be a list" }).check(({ value, issues }) => {
    for (const [index, entry] of value.entries()) {
      const same = value.slice(0, index).findIndex((earlier) => isOfSameFiles(known, earlier, entry));
      if (same < 0) continue;
      const key = value[same]?.out === entry.out ? "out" : "to";
      const message = `must be another one: exports[${same}] writes the same files there`;
      issues.push({ code: "custom", path: [index, key], message, input: entry[key] });
    }
  });
}

type Entry = z.output<ReturnType<typeof exportEntry>>;

/** Only an entry that names them writes these: views, and what is no table of the service. */
const namedOnly = /^(v_.*|_about|deleted_records|document_files)$/;

function isOfSameFiles({ resources }: Known, a: Entry, b: Entry): boolean {
  const isApart = a.out !== b.out && (a.to === null || a.to !== b.to);
  if (a.format !== b.format || isApart) return false;
  // A workbook of several tables is one file.
  if (a.format === "xlsx" && a.tables?.length !== 1 && b.tables?.length !== 1) return true;
  const names = a.tables ?? b.tables;
  const writes = ({ tables, nested }: Entry, name: string) =>
    tables?.includes(name) ?? (nested ? resources.some((one) => one.name === name) : !namedOnly.test(name));
  return names === null || names.some((name) => writes(a, name) && writes(b, name));
}

/** One entry of `exports`. */
export function exportEntry({ folder }: { readonly folder: string }) {
  const s3 = "a place such as s3://bucket/prefix";
  return section({
    format: oneOfWords(formats).describe("The kind of file."),
    out: folderText(folder).describe("Where to; relative to this file."),
    to: readableText(s3, (text) => (/^s3:\/\/[^/]/.test(text) ? { value: text.replace(/\/+$/, "") } : null))
      .optional()
      .describe("Where the files are sent besides; keys and endpoint are in AWS_* variables."),
    after: oneOfWords(["sync"]).optional().describe("Made after every run."),
    dialect: oneOfWords(dialects).default("standard").describe("CSV for machines or for Excel."),
    language: oneOfWords(languages)
      .default("en")
      .describe("Of headings, and of values that are words of the service; en: as they are."),
    tables: tablesOf(filledText("a table")).optional().describe("Only these tables; every table by default."),
    partition_by: oneOfWords(partitions).optional().describe("One folder for each, by the documents' date."),
    month: oneOfWords(["current", "previous"])
      .optional()
      .describe("Only rows of this month, by the day on which it is made, in schedule.timezone."),
    nested: z
      .boolean({ error: "must be true or false" })
      .default(false)
      .describe("Parquet: items as a column of lists in place of tables of their own."),
  }).check(({ value, issues }) => {
    for (const [name, needs] of unobeyed(value.format, { ...value, partition_by: value.partitionBy }))
      issues.push({ code: "custom", path: [name], message: `needs format ${needs}`, input: needs });
  });
}
