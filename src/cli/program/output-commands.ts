import { languages } from "../../connector/translation.ts";
import { formats, partitions } from "../../export/plan/export-request.ts";
import type { CommandSpec } from "./command.ts";
import { choice, day, flag, month, position, text, texts } from "./option-specs.ts";

/** Commands that write what people and programs read: report, exports, packages. */
export const outputCommands = {
  publish: {
    summary: "write the report file: a database for Datasette, Metabase, DuckDB, Excel and their like",
    options: {
      datasette: flag(
        "--datasette",
        "also write what Datasette shows about it: descriptions, facets, questions",
      ),
      combined: flag("--combined", "also one report over all companies, each row with its company"),
      force: flag("--force", "write all of it anew, also when nothing changed"),
    },
  },
  export: {
    summary: "write tables or views as CSV, Parquet, JSON lines or a workbook",
    args: [{ name: "[table...]", doc: "only these tables or views; all tables by default" }],
    options: {
      format: choice("--format <format>", "the kind of file", formats, "csv"),
      out: text("--out <folder>", "where to; each company gets a folder of its own in it (default ./export)"),
      to: texts(
        "--to <place|day>",
        "s3://BUCKET/PREFIX: send the files there, too, or only there without --out; a day: only rows until then",
      ),
      from: day("--from <day>", "only rows since this day, by the table's or view's date"),
      month: month("--month <month>", "only rows of this month, such as 2026-10"),
      dialect: choice(
        "--dialect <dialect>",
        "CSV for machines, or for a Slovak Excel",
        ["standard", "excel-sk"],
        "standard",
      ),
      language: choice(
        "--language <language>",
        "of headings, and of values that are words of the service",
        languages,
        "en",
      ),
      partitionBy: choice("--partition-by <part>", "one folder for each", ["none", ...partitions], "none"),
      since: position(
        "--since <log:seq>",
        "only what changed after this position; seq alone: of the log of now",
      ),
      nested: flag("--nested", "parquet: items as a column of lists in place of tables of their own"),
    },
  },
  package: {
    summary: "a month for the accountant: workbook, PDFs, control totals; exits 3 if something is missing",
    options: {
      month: month("--month <month>", "such as 2026-10; documents by their date of issue"),
      out: text("--out <folder>", "where to: FOLDER/COMPANY/MONTH (default ./package)"),
      zip: flag("--zip", "a ZIP archive beside the folder, too"),
    },
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;
