import { languages } from "../../connector/translation.ts";
import { dialects, formats, partitions } from "../../connector/export-choices.ts";
import type { Command, RunCommand } from "./command.ts";
import {
  choice,
  day,
  durationMs,
  flag,
  moment,
  month,
  path,
  place,
  position,
  shard,
  text,
  texts,
  wholeNumber,
  wordList,
  type CommandSpec,
  type OptionValues,
} from "./option-specs.ts";
import { sandboxCommands, servingCommands } from "./serving-commands.ts";

/** Files of the service that a config may ask for. */
export const keptFiles = ["pdf", "attachments"] as const;

export const usualSample = 100;

const connector = text("--connector <name>", "which service (default the config's, else fintoro)");

/** What ends a command early; what it did stays. */
const limits = {
  maxRequests: wholeNumber("--max-requests <n>", "stop after so many per company; the next run goes on"),
  maxDuration: durationMs("--max-duration <duration>", "stop after that long; the next run goes on"),
};

const asOf = moment("--as-of <moment>", "as known at the end of this day, at this time or position");

const outputCommands = {
  publish: {
    summary: "write the report file: a database for Datasette, Metabase, DuckDB, Excel and their like",
    options: {
      datasette: flag("--datasette", "also what Datasette shows about it: descriptions, facets, questions"),
      combined: flag("--combined", "also one report over all companies, each row with its company"),
      force: flag("--force", "write all of it anew, also when nothing changed"),
      asOf,
    },
    conflicts: [["combined", "asOf"]],
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
      out: path("--out <folder>", "where to; each company gets a folder of its own in it (default ./export)"),
      to: texts(
        "--to <place|day>",
        "s3://BUCKET/PREFIX: send the files there, too, or only there without --out; a day: only rows until then",
      ),
      from: day("--from <day>", "only rows since this day, by the table's or view's date"),
      month: month("--month <month>", "only rows of this month, such as 2026-10"),
      dialect: choice("--dialect <dialect>", "CSV for machines, or for a Slovak Excel", dialects, "standard"),
      language: choice("--language <language>", "of headings and of the service's words", languages, "en"),
      partitionBy: choice("--partition-by <part>", "one folder for each", ["none", ...partitions], "none"),
      since: position("--since <log:seq>", "only what changed since; seq alone: of now's log"),
      nested: flag("--nested", "parquet: items as a column of lists in place of tables of their own"),
      history: flag("--history", "each version of each row, with the period in which it held"),
      asOf,
    },
    conflicts: [
      // A history has all of its tables, of all times.
      ["history", "nested", "asOf", "since", "partitionBy", "month", "from"],
      ["since", "nested", "month", "from"],
      ["month", "from"],
    ],
    examples: {
      "v_receivables --dialect excel-sk --out excel": "who owes us, for a Slovak Excel",
      "--format parquet --out lake --partition-by year": "all tables, by year",
    },
  },
  package: {
    summary: "a month for the accountant: workbook, PDFs, control totals; exits 3 if something is missing",
    options: {
      month: month("--month <month>", "such as 2026-10; documents by their date of issue"),
      out: path("--out <folder>", "where to: FOLDER/COMPANY/MONTH (default ./package)"),
      zip: flag("--zip", "a ZIP archive beside the folder, too"),
      proved: flag("--proved", "compare the month with the service first; only an equal one is written"),
      changesSince: moment("--changes-since <moment>", "what changed since then, not since the hand-over"),
      asOf,
    },
    // The service shows what is now: nothing else is proved.
    conflicts: [["asOf", "changesSince", "proved"]],
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

/** What every command takes and does, in the order of help, without its code: help loads nothing else. */
const commandTable = {
  init: {
    summary: "write a config for Fintoro: asks for address and token, checks them, and shows how to go on",
    config: "none",
    options: {
      baseUrl: text("--base-url <url>", "where the service answers"),
      tokenEnv: text("--token-env <name>", "the token is in this environment variable"),
      tokenFile: text("--token-file <file>", "the token is in this file"),
      schedule: text("--schedule <pattern>", "when serve reads everything, as a cron pattern, or off"),
      webhookUrl: text("--webhook-url <url>", "where the service reaches the receiver"),
      exports: wordList(
        "--exports <list>",
        "files made after every run: formats with commas, or none",
        formats,
      ),
      files: wordList(
        "--files <list>",
        "files of the service that are kept, too: pdf, attachments or none",
        keptFiles,
      ),
      install: choice("--install <starter>", "have it started: a line of the crontab, or a user's unit", [
        "cron",
        "systemd",
      ]),
      input: flag("--no-input", "ask nothing"),
      force: flag("--force", "replace a config that is there"),
    },
    conflicts: [["tokenEnv", "tokenFile"]],
    examples: {
      "": "answer a few questions",
      "--token-env FINTORO_TOKEN --company acme --no-input": "in a script",
    },
  },
  check: {
    summary: "check config, data folder, disk, token, identity, clock, lock and webhook URL",
    config: "own",
    isPaged: true,
    options: {},
    examples: { "": "everything, before the first run", "--json > check.json": "for a report of a problem" },
  },
  demo: {
    summary: "a tour in a minute, on made-up data: a sync, a crash, a resume, webhooks, a report",
    config: "none",
    options: { out: path("--out <folder>", "where to leave what was made (default ./demo)") },
    examples: { "": "needs no account", "--out tour": "leave what was made in a folder of its own" },
  },
  sync: {
    summary: "bring the mirror up to date: one run until nothing is left",
    args: [{ name: "[resource...]", doc: "only these tables" }],
    config: "required",
    options: {
      full: flag("--full", "read every detail and child list again, not only what seems new or changed"),
      quick: flag("--quick", "read the lists of the last days: a few dozen requests that prove nothing"),
      scrub: flag("--no-scrub", "leave out the scrub: what was read longest ago is not read again"),
      dryRun: flag("--dry-run", "show the requests a run would need; nothing is written"),
      ...limits,
      allowMassDelete: flag("--allow-mass-delete", "believe in more than 5 % deletions; each is asked for"),
      acceptIdentity: flag("--accept-identity", "the token's company is right, but looks like another"),
      shard: shard("--shard <i/n>", "only this shard of the companies, for several jobs beside each other"),
    },
    conflicts: [["quick", "full", "dryRun"]],
    examples: {
      "": "everything that is new or changed; Ctrl-C loses nothing",
      "invoices clients --max-duration 10m": "two tables, ten minutes at most",
    },
  },
  status: {
    summary: "how fresh and how whole each mirror is; exits 3 if something is not whole",
    isPaged: true,
    options: {
      maxAge: durationMs("--max-age <duration>", "exit 1 if a table was last read whole longer ago"),
      all: flag("--all", "name each shard of `sync --shard` with its companies, also those with a run"),
      shard: shard("--shard <i/n>", "only this shard of the companies"),
    },
    examples: { "": "how things stand", "--max-age 26h -q": "for a monitor: the exit code says it" },
  },
  verify: {
    summary: "compare the mirror with the service: all lists and some details; exits 1 if anything differs",
    isPaged: true,
    options: {
      sample: wholeNumber(
        "--sample <n>",
        `compare so many details, half of them those read longest ago (default ${usualSample})`,
        0,
      ),
      all: flag("--all", "compare every detail and every parent's list"),
      month: month("--month <month>", "read every document of this month again, and say how many are equal"),
      local: flag("--local", "check the mirror against itself, without a request"),
      repair: flag("--repair", "read again what differs, and compare it; with --local rows are made anew"),
    },
    conflicts: [
      ["month", "sample", "all", "local"],
      ["all", "sample", "local"],
      ["local", "sample"],
    ],
    examples: {
      "--sample 500": "all lists and 500 details",
      "--local": "the mirror against itself, without a request",
    },
  },
  ...outputCommands,
  ...servingCommands,
  "alerts test": {
    summary: "send a test alert to each target of the config; exits 1 if one does not take it",
    options: {},
    examples: { "": "to every target", "--json": "for a script" },
  },
  backup: {
    summary: "copy mirror, webhook keys and documents to a folder or object store, also beside serve",
    options: {
      to: place("--to <place>", "a folder or s3://BUCKET/PREFIX (default: the config's backup.to)"),
      keep: wholeNumber("--keep <n>", "keep a company's last so many (default with --to: all)", 1, 10_000),
      keys: flag("--no-keys", "leave out webhook secrets (also the config's backup.keys)"),
    },
    examples: {
      "--to /mnt/backup": "also beside serve",
      "--to s3://bucket/mirror --keep 14": "to an object store, two weeks of them",
    },
  },
  restore: {
    summary: "put a backup where the mirror belongs; never over another company's",
    options: {
      from: place("--from <place>", "a folder, s3://BUCKET/PREFIX or a mirror's copy (default: backup.to)"),
      at: text("--at <backup>", "this one, by its name (default: the last one)"),
    },
    examples: {
      "--from /mnt/backup": "the last one",
      "--from s3://bucket/mirror --company acme": "of one company",
    },
  },
  prune: {
    summary: "remove old runs, event bodies and changes, as `retention` says, and give the space back",
    options: { dryRun: flag("--dry-run", "show what would go; nothing is written") },
    examples: { "--dry-run": "what would go", "--company acme": "of one company" },
  },
  completion: {
    summary: "print the completion script of a shell",
    args: [
      { name: "<shell>", doc: "bash, zsh or fish" },
      { name: "[word...]", doc: "as the script calls it: words of a command line, after --" },
    ],
    config: "none",
    options: {},
    examples: {
      "bash >> ~/.bash_completion": "bash, from the next shell on",
      "zsh > ~/.zfunc/_fintoro-mirror": "zsh, with ~/.zfunc in $fpath",
    },
  },
  "after-run": {
    summary: "what follows a run, for serve, which gives it the config on stdin: report and exports",
    config: "none",
    options: {
      connector: text("--connector <name>", "which service (default fintoro)"),
      only: choice(
        "--only <what>",
        "the report, a backup or files alone",
        ["all", "report", "backup", "files"],
        "all",
      ),
    },
    examples: { "": "as serve starts it, with the config on stdin", "--only report": "the report alone" },
  },
  schema: {
    summary: "print the config's JSON Schema, or describe every table and column",
    config: "own",
    isPaged: true,
    options: { connector, tables: flag("--tables", "describe the tables of the mirror and of the report") },
    examples: { "--tables": "every table, view and column", "> config.schema.json": "for an editor" },
  },
  ...sandboxCommands,
  "connector check": {
    summary: "compare the connector with a published OpenAPI reference; exits 1 if something would break",
    config: "own",
    options: { connector, openapi: text("--openapi <file>", "the reference, YAML or JSON") },
    examples: {
      "--openapi openapi.yaml": "what has drifted from the reference",
      "--openapi openapi.yaml --json": "for a script",
    },
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;

type CommandTable = typeof commandTable;

export type CommandRun<K extends keyof CommandTable> = RunCommand<CommandTable[K]>;

export type CommandOptions<K extends keyof CommandTable> = OptionValues<CommandTable[K]["options"]>;

type Loads = { readonly [K in keyof CommandTable]: () => Promise<CommandRun<K>> };

export function commandsOf(loads: Loads): Command[] {
  const names = Object.keys(commandTable) as (keyof CommandTable)[];
  return names.map((name) => ({ ...commandTable[name], name, load: loads[name] }));
}

/** Headings of help by the task, each by the first word of the command that it stands above; those below follow in the table. */
export const helpHeadings: Readonly<Record<string, string>> = {
  init: "First steps:",
  sync: "Every night:",
  publish: "Reports and files:",
  serve: "Seconds behind, by webhooks:",
  worker: "Many machines:",
  alerts: "Operation:",
  schema: "Development:",
};

export const groupSummaries: Readonly<Record<string, string>> = {
  alerts: "try the targets of alerts",
  fleet: "companies that workers on many machines share through Postgres",
  connector: "compare the connector with a published reference of the service",
  webhooks: "subscriptions at the service, and the deliveries received",
};
