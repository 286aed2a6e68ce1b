/** The sections of the config about what is made by itself, and what `serve` does when and needs of the machine. */
import path from "node:path";
import { z } from "zod";
import { dayMs } from "../base/clock.ts";
import { valueOr } from "../base/errors.ts";
import { languages } from "../connector/translation.ts";
import { readHostName, readListen } from "./address.ts";
import {
  cronText,
  durationText,
  filledText,
  folderOrBucket,
  integerBetween,
  oneOfWords,
  onOrOff,
  readableText,
  secretText,
  section,
} from "./config-values.ts";
import { pathText } from "./config-problems.ts";
import type { ResolvedSecrets } from "./secrets.ts";

const off = z.union([z.literal("off"), z.literal(false)]).transform(() => null);

/** When runs start and the report is written. `quick` is obeyed where lists cannot show what changed. */
export function schedule({ hasQuick }: { readonly hasQuick: boolean }) {
  return section({ ...scheduleKeys, ...(hasQuick && { quick }) }).transform(({ publishEvery, ...same }) => ({
    ...same,
    publishEveryMs: publishEvery,
    quick: ("quick" in same ? same.quick : null) as string | null,
  }));
}

const quick = off
  .or(cronText(", or off"))
  .prefault("off")
  .describe("When a quick run starts, for companies without webhooks: a cron pattern, or off.");

const scheduleKeys = {
  sync: off
    .or(cronText(", or off"))
    .prefault("15 2 * * *")
    .describe("When a run starts: a cron pattern, or off."),
  publish: off
    .or(z.literal("after_sync"))
    .or(cronText(", after_sync, or off"))
    .prefault("after_sync")
    .describe("When the report file is written."),
  publish_every: off
    .or(durationText(1_000, dayMs, ", or off"))
    .prefault("15m")
    .describe("How often events alone may have the report written again, where it is made after_sync."),
  timezone: readableText("a time zone such as Europe/Bratislava", (text) =>
    isTimezone(text) ? { value: text } : null,
  )
    .default("Europe/Bratislava")
    .describe("The patterns' time zone."),
};

function isTimezone(name: string): boolean {
  return valueOr(
    () => new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "",
    false,
  );
}

/** The receiver, the pages, and how much is done at a time. */
export function serve({ secrets }: { readonly secrets: ResolvedSecrets }) {
  return section({
    listen: readableText('an address and a port such as "127.0.0.1:8787"', readListen)
      .prefault("127.0.0.1:8787")
      .describe("Address and port."),
    hosts: z
      .array(readableText("a host name", readHostName), { error: "must be a list" })
      .default([])
      .describe("Host names that the pages are asked for by, besides addresses, localhost and public_url's."),
    page_token: secretText
      .optional()
      .describe(
        "What the status page asks for: ${env:NAME}, ${file:/path}, or (with a warning) the token itself. Without it, where others can ask for the page, the one in data_dir/page-token.",
      ),
    after_run: integerBetween(1, 64)
      .default(1)
      .describe("For how many companies at a time report and exports are made; each takes a process."),
  }).transform(({ listen, afterRun, hosts }) => {
    const token = secrets.get(pathText(["serve", "page_token"]));
    // Null: none is set.
    const pageToken = token ? { secret: token.secret, place: token.place, isMade: false } : null;
    return { ...listen, hosts, afterRun, pageToken };
  });
}

/** Copies of mirrors; null: no place is named. */
export function backup({ folder }: { readonly folder: string }) {
  return section({
    to: folderOrBucket(folder)
      .optional()
      .describe("Where to: a folder, relative to this file, or s3://bucket/prefix."),
    schedule: off
      .or(cronText(", or off"))
      .prefault("45 4 * * *")
      .describe("When `serve` makes a backup of each company, if it knows where to: a cron pattern, or off."),
    keep: integerBetween(1, 10_000).default(14).describe("How many of a company's backups stay."),
    keys: onOrOff().prefault("on").describe("Webhook secrets from files are in it, as they are."),
  });
}

const keptFor = durationText(1_000, 36_500 * dayMs, ", or keep");
const keep = z.literal("keep").transform(() => null);

/** How long `prune` leaves what only looks back; null: for ever. */
export const retention = section({
  runs: keep.or(keptFor).prefault("400d").describe("Runs and their reports; the last ones always stay."),
  inbox_bodies: keep
    .or(keptFor)
    .prefault("400d")
    .describe("Bodies of events that were dealt with; their ids always stay."),
  changes: keep
    .or(keptFor)
    .prefault("keep")
    .describe("The change log. Who reads it must have read on by then: keep, or a duration."),
}).transform(({ runs, inboxBodies, changes }) => ({
  runsMs: runs,
  inboxBodiesMs: inboxBodies,
  changesMs: changes,
}));

/** By choice its usual value, and the formats that obey another one. */
const choices: Readonly<Record<string, { readonly usual: unknown; readonly formats: readonly string[] }>> = {
  dialect: { usual: "standard", formats: ["csv"] },
  language: { usual: "en", formats: ["csv", "xlsx"] },
  nested: { usual: false, formats: ["parquet"] },
  partition_by: { usual: null, formats: ["csv", "parquet", "jsonl"] },
  since: { usual: null, formats: ["csv", "parquet", "jsonl"] },
};

/** The choices that an export's format does not obey, each with the formats that do. */
export function unobeyed(format: string, given: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(choices).flatMap(([name, { usual, formats }]) =>
    (given[name] ?? usual) === usual || formats.includes(format) ? [] : [[name, formats.join(" or ")]],
  );
}

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

type Entry = Pick<z.output<ReturnType<typeof exportEntry>>, "format" | "out" | "to" | "tables">;

function isOfSameFiles({ resources }: Known, a: Entry, b: Entry): boolean {
  const isApart = a.out !== b.out && (a.to === null || a.to !== b.to);
  if (a.format !== b.format || isApart) return false;
  // A workbook of several tables is one file.
  if (a.format === "xlsx" && a.tables?.length !== 1 && b.tables?.length !== 1) return true;
  const all = resources.map(({ name }) => name);
  return (a.tables ?? all).some((name) => (b.tables ?? all).includes(name));
}

/** One entry of `exports`. */
export function exportEntry({ folder }: { readonly folder: string }) {
  const s3 = "a place such as s3://bucket/prefix";
  return section({
    format: oneOfWords(["csv", "parquet", "jsonl", "xlsx"]).describe("The kind of file."),
    out: filledText("a folder")
      .transform((text) => path.resolve(folder, text))
      .describe("Where to; relative to this file."),
    to: readableText(s3, (text) => (/^s3:\/\/[^/]/.test(text) ? { value: text.replace(/\/+$/, "") } : null))
      .optional()
      .describe("Where the files are sent besides; keys and endpoint are in AWS_* variables."),
    after: oneOfWords(["sync"]).optional().describe("Made after every run."),
    dialect: oneOfWords(["standard", "excel-sk"])
      .default("standard")
      .describe("CSV for machines or for Excel."),
    language: oneOfWords(languages)
      .default("en")
      .describe("Of headings, and of values that are words of the service; en: as they are."),
    tables: z.array(filledText("a table")).optional().describe("Only these tables; every table by default."),
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
  }).check(({ value, issues }) => {
    for (const [name, needs] of unobeyed(value.format, { ...value, partition_by: value.partitionBy }))
      issues.push({ code: "custom", path: [name], message: `needs format ${needs}`, input: needs });
  });
}
