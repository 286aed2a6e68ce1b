import type { Command, CommandSpec, RunCommand } from "./command.ts";
import { webhookCommands } from "./webhook-commands.ts";
import {
  choice,
  durationMs,
  flag,
  month,
  shard,
  text,
  position,
  wholeNumber,
  type Given,
  type OptionValues,
} from "./option-specs.ts";
import { outputCommands } from "./output-commands.ts";

/** `verify` compares this many details without --sample. */
export const usualSample = 100;

/** What ends a command early; what it did stays. */
const limits = {
  maxRequests: wholeNumber(
    "--max-requests <n>",
    "stop after so many requests per company; the next run goes on",
    1,
    100_000_000,
  ),
  maxDuration: durationMs("--max-duration <duration>", "stop after that long; the next run goes on"),
};

const connector = text("--connector <name>", "which service (default fintoro)");

/** Summary and options of every command by its name, without its code: help loads nothing else. */
const commandTable = {
  init: {
    summary: "write a first config: asks for address and token, checks them, and shows how to go on",
    config: "none",
    options: {
      baseUrl: text("--base-url <url>", "where the service answers"),
      tokenEnv: text("--token-env <name>", "the token is in this environment variable"),
      tokenFile: text("--token-file <file>", "the token is in this file"),
      schedule: text("--schedule <pattern>", "when serve reads everything, as a cron pattern, or off"),
      webhookUrl: text("--webhook-url <url>", "where the service reaches the receiver"),
      exports: text(
        "--exports <list>",
        "files made after every run: formats with commas between them, or none",
      ),
      files: text("--files <list>", "files of the service that are kept, too: pdf, attachments or none"),
      install: choice("--install <starter>", "have it started: a line of the crontab, or a user's unit", [
        "cron",
        "systemd",
      ]),
      input: { flags: "--no-input", doc: "ask nothing", read: (given: Given) => given !== false },
      force: flag("--force", "replace a config that is there"),
    },
  },
  check: {
    summary: "check config, data folder, disk, token, identity, clock, lock and webhook URL",
    config: "none",
    readsConfig: true,
    isPaged: () => true,
    options: {},
  },
  sync: {
    summary: "bring the mirror up to date: one run until nothing is left",
    args: [{ name: "[resource...]", doc: "only these tables" }],
    config: "required",
    options: {
      full: flag("--full", "read every detail and child list again, not only what seems new or changed"),
      quick: flag(
        "--quick",
        "read what lists show of the last days: a few dozen requests that prove nothing",
      ),
      scrub: flag("--no-scrub", "leave out the scrub: what was read longest ago is not read again"),
      dryRun: flag("--dry-run", "show the requests a run would need; nothing is written"),
      ...limits,
      allowMassDelete: flag(
        "--allow-mass-delete",
        "believe in more deletions than 5 % of a resource; each is still asked for",
      ),
      acceptIdentity: flag(
        "--accept-identity",
        "the token's company is the right one, although it looks like another",
      ),
      shard: shard("--shard <i/n>", "only this shard of the companies, for several jobs beside each other"),
    },
  },
  serve: {
    summary: "keep every mirror current: receive events, run by the schedule, until it is stopped",
    config: "required",
    options: { listen: text("--listen <address>", "HOST:PORT instead of the config's serve.listen") },
  },
  worker: {
    summary: "hold companies of the fleet that have work, and answer deliveries, until it is stopped",
    config: "when_used",
    forFleet: true,
    options: {
      role: choice(
        "--role <role>",
        "hold companies (work), answer deliveries of all companies (receive), or both",
        ["all", "work", "receive"],
        "all",
      ),
      listen: text("--listen <address>", "HOST:PORT instead of the config's serve.listen"),
    },
  },
  status: {
    summary: "how fresh and how whole each mirror is; exits 3 if something is not whole",
    isPaged: () => true,
    options: {
      maxAge: durationMs(
        "--max-age <duration>",
        "exit 1 if any table was last read whole longer ago than this",
      ),
      all: flag(
        "--all",
        "name every shard of `sync --shard` with its companies, not only those without a run",
      ),
      shard: shard("--shard <i/n>", "only this shard of the companies"),
    },
  },
  "alerts test": {
    summary: "send a test alert to each target of the config; exits 1 if one does not take it",
    options: {},
  },
  verify: {
    summary: "compare the mirror with the service: all lists and some details; exits 1 if anything differs",
    isPaged: () => true,
    options: {
      sample: wholeNumber(
        "--sample <n>",
        `compare so many details, half of them those read longest ago (default ${usualSample})`,
        0,
        100_000_000,
      ),
      all: flag("--all", "compare every detail and every parent's list"),
      local: flag("--local", "check the mirror against itself, without a request"),
      repair: flag(
        "--repair",
        "read again what differs, and compare it once more; with --local make rows anew from their records",
      ),
    },
  },
  changes: {
    summary: "the change log as JSON lines, oldest first",
    isPaged: ({ follow = false }) => !follow,
    options: {
      since: position(
        "--since <log:seq>",
        "only changes after this position (default 0: all); seq alone: of the log of now",
      ),
      follow: flag("--follow", "stay and print new changes as they are committed"),
      resource: text("--resource <table>", "only this table"),
    },
  },
  prune: {
    summary: "remove old runs, event bodies and changes, as `retention` says, and give the space back",
    options: { dryRun: flag("--dry-run", "show what would go; nothing is written") },
  },
  ...outputCommands,
  files: {
    summary: "fetch PDFs of documents and receipts and attachments of CRM events that are missing or changed",
    options: {
      month: month("--month <month>", "only those of this month: 2026-10"),
      ...limits,
    },
  },
  "files check": {
    summary: "prove every byte of the stored files; exits 1 and names each that is damaged",
    options: {},
  },
  backup: {
    summary: "copy mirror, webhook keys and documents to a folder or object store, also beside serve",
    options: {
      to: text("--to <place>", "a folder or s3://BUCKET/PREFIX (default: the config's backup.to)"),
      keep: wholeNumber("--keep <n>", "keep a company's last so many (default with --to: all)", 1, 10_000),
      keys: flag("--no-keys", "leave out webhook secrets (also the config's backup.keys)"),
    },
  },
  restore: {
    summary: "put a backup where the mirror belongs; never over another company's",
    options: {
      from: text(
        "--from <place>",
        "a folder, s3://BUCKET/PREFIX, or the copy of one mirror (default: the config's backup.to)",
      ),
      at: text("--at <backup>", "this one, by its name (default: the last one)"),
    },
  },
  completion: {
    summary: "print the completion script of a shell",
    args: [
      { name: "<shell>", doc: "bash, zsh or fish" },
      { name: "[word...]", doc: "as the script calls it: words of a command line, after --" },
    ],
    config: "none",
    options: {},
  },
  "after-run": {
    summary: "what follows a run, for serve, which gives it the config on stdin: report and exports",
    config: "none",
    options: {
      connector,
      only: choice(
        "--only <what>",
        "the report, a backup or files alone",
        ["all", "report", "backup", "files"],
        "all",
      ),
    },
  },
  ...webhookCommands,
  "fleet add": {
    summary: "share companies of this config with all workers; again: as the config says now",
    args: [{ name: "[company...]", doc: "of the config" }],
    forFleet: true,
    options: { all: flag("--all", "every company of the config") },
  },
  "fleet remove": {
    summary: "take companies out of the fleet; what was published of them stays",
    args: [{ name: "[company...]", doc: "of the fleet" }],
    forFleet: true,
    options: {
      forget: flag(
        "--forget",
        "have Postgres forget them at once, not after 30 days: added again they begin anew",
      ),
    },
  },
  "fleet list": {
    summary: "the companies of the fleet, and which worker has them",
    forFleet: true,
    isPaged: () => true,
    options: {},
  },
  "fleet status": {
    summary:
      "how the fleet stands; exits 1 if data are old or work waits that nobody does, 3 if something is not whole",
    forFleet: true,
    isPaged: () => true,
    options: {
      maxAge: durationMs(
        "--max-age <duration>",
        "exit 1 if a company was last read whole longer ago (default: as its schedule says)",
      ),
    },
  },
  "fleet drain": {
    summary: "have a worker release its companies and take no more, until it is started again",
    args: [{ name: "<node>", doc: "as `fleet status` names it" }],
    forFleet: true,
    options: {},
  },
  "connector check": {
    summary: "compare the connector with a published OpenAPI reference; exits 1 if something would break",
    config: "none",
    options: { connector, openapi: text("--openapi <file>", "the reference, YAML or JSON") },
  },
  schema: {
    summary: "print the config's JSON Schema, or describe every table and column",
    config: "none",
    isPaged: () => true,
    options: { connector, tables: flag("--tables", "describe the tables of the mirror and of the report") },
  },
  demo: {
    summary: "a tour in a minute, on made-up data: a sync, a crash, a resume, webhooks, a report",
    config: "none",
    options: { out: text("--out <folder>", "where to leave what was made (default ./demo)") },
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;

type Table = typeof commandTable;

/** The code of a command of the table. */
export type CommandRun<K extends keyof Table> = RunCommand<Table[K]>;

/** The options that a command of the table is given. */
export type CommandOptions<K extends keyof Table> = OptionValues<Table[K]["options"]>;

/** Makes a command of a row of the table and the import of its code. */
export function lazyCommand<K extends keyof Table>(name: K, load: () => Promise<CommandRun<K>>): Command {
  return { ...commandTable[name], name, load };
}
