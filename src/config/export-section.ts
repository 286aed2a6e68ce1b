import path from "node:path";
import { z } from "zod";
import { languages } from "../connector/translation.ts";
import { filledText, oneOfWords, readableText, section } from "./config-values.ts";

/** One entry of `exports`. */
export function exportEntry({ folder }: { readonly folder: string }) {
  const s3 = "a place such as s3://bucket/prefix";
  return section({
    format: oneOfWords(["csv", "parquet", "jsonl", "xlsx"]).describe("The kind of file."),
    out: filledText("a folder")
      .transform((text) => path.resolve(folder, text))
      .describe("Where to; relative to this file."),
    to: readableText(s3, (text) => (/^s3:\/\/[^/]/.test(text) ? { value: text } : null))
      .optional()
      .describe("Where the files are sent besides; keys and endpoint are in AWS_* variables."),
    after: oneOfWords(["sync"]).optional().describe("Made after every run."),
    dialect: oneOfWords(["standard", "excel-sk"])
      .default("standard")
      .describe("CSV for machines or for Excel."),
    language: oneOfWords(languages)
      .default("en")
      .describe("Of headings, and of values that are words of the service; en: as they are."),
    tables: z.array(filledText("a table")).optional().describe("Only these tables."),
    partition_by: oneOfWords(["year", "month"])
      .optional()
      .describe("One folder for each, by the documents' date."),
    month: oneOfWords(["current", "previous"])
      .optional()
      .describe("Only rows of this month, by the day on which it is made, in schedule.timezone."),
    nested: z
      .boolean({ error: "must be true or false" })
      .default(false)
      .describe("Parquet: items as a column of lists in place of tables of their own."),
  })
    .check(({ value, issues }) => {
      const { format, partition_by: input } = value;
      const message = "does not fit format xlsx: a workbook is one file";
      if (format === "xlsx" && input !== undefined)
        issues.push({ code: "custom", path: ["partition_by"], message, input });
    })
    .transform(({ partition_by, to, after, tables, month, ...same }) => ({
      ...same,
      month: month ?? null,
      to: to ?? null,
      after: after ?? null,
      // null: every table.
      tables: tables ?? null,
      partitionBy: partition_by ?? null,
    }));
}
