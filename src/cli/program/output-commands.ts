import { languages } from "../../connector/translation.ts";
import { formats, partitions } from "../../export/plan/export-request.ts";
import {
  choice,
  day,
  durationMs,
  flag,
  moment,
  month,
  position,
  text,
  texts,
  wholeNumber,
  type CommandSpec,
} from "./option-specs.ts";

/** What ends a command early; what it did stays. */
export const limits = {
  maxRequests: wholeNumber(
    "--max-requests <n>",
    "stop after so many per company; the next run goes on",
    1,
    100_000_000,
  ),
  maxDuration: durationMs("--max-duration <duration>", "stop after that long; the next run goes on"),
};

const asOf = moment("--as-of <moment>", "as known at the end of this day, at this time or position");

/** Commands that give people and programs what they read: report, exports, packages, changes, files. */
export const outputCommands = {
  publish: {
    summary: "write the report file: a database for Datasette, Metabase, DuckDB, Excel and their like",
    options: {
      datasette: flag("--datasette", "also what Datasette shows about it: descriptions, facets, questions"),
      combined: flag("--combined", "also one report over all companies, each row with its company"),
      force: flag("--force", "write all of it anew, also when nothing changed"),
      asOf,
    },
    examples: {
      "": "the report, at once",
      "--datasette": "with what Datasette shows about it",
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
      language: choice("--language <language>", "of headings and of the service's words", languages, "en"),
      partitionBy: choice("--partition-by <part>", "one folder for each", ["none", ...partitions], "none"),
      since: position("--since <log:seq>", "only what changed since; seq alone: of now's log"),
      nested: flag("--nested", "parquet: items as a column of lists in place of tables of their own"),
      history: flag("--history", "each version of each row, with the period in which it held"),
      asOf,
    },
    examples: {
      "v_receivables --dialect excel-sk --out excel": "who owes us, for a Slovak Excel",
      "--format parquet --out lake --partition-by year": "all tables, by year",
    },
  },
  package: {
    summary: "a month for the accountant: workbook, PDFs, control totals; exits 3 if something is missing",
    options: {
      month: month("--month <month>", "such as 2026-10; documents by their date of issue"),
      out: text("--out <folder>", "where to: FOLDER/COMPANY/MONTH (default ./package)"),
      zip: flag("--zip", "a ZIP archive beside the folder, too"),
      proved: flag("--proved", "compare the month with the service first; only an equal one is written"),
      changesSince: moment("--changes-since <moment>", "what changed since then, not since the hand-over"),
      asOf,
    },
    examples: {
      "--month 2026-10": "a month in a folder",
      "--month 2026-10 --proved --zip": "with a certificate that it equals the service, and as a ZIP archive",
    },
  },
  changes: {
    summary: "the change log as JSON lines, oldest first",
    isPaged: true,
    options: {
      since: position("--since <log:seq>", "only changes since (default 0: all); seq alone: of now's log"),
      follow: flag("--follow", "stay and print new changes as they are committed"),
      resource: text("--resource <table>", "only this table"),
    },
    examples: {
      "--resource invoices": "every change of invoices, the oldest first",
      "--since 3f9a2c718b1d:28346876123001 --follow": "go on from there, stay, and print each new one",
    },
  },
  mcp: {
    summary: "answer an assistant's questions about the report, over stdin and stdout; reads only",
    options: { combined: flag("--combined", "the combined report in place of one company's") },
    examples: {
      "--company acme": "as the assistant's program starts it",
      "--combined": "of all companies, after `publish --combined`",
    },
  },
  files: {
    summary: "fetch PDFs of documents and receipts and attachments of CRM events that are missing or changed",
    options: {
      month: month("--month <month>", "only those of this month: 2026-10"),
      ...limits,
    },
    examples: {
      "--month 2026-10": "PDFs and attachments of a month",
      "--max-requests 500": "some of them; the next run goes on",
    },
  },
  "files check": {
    summary: "prove every byte of the stored files; exits 1 and names each that is damaged",
    options: {},
    examples: { "": "prove every byte", "--company acme --json": "of one company, for a script" },
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;
