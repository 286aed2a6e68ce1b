/** The sections of the config that are for `serve`: what it does when, and what it needs of the machine. */
import { z } from "zod";
import { dayMs } from "../base/clock.ts";
import { valueOr } from "../base/errors.ts";
import { readHostName, readListen } from "./address.ts";
import {
  cronText,
  durationText,
  folderOrBucket,
  integerBetween,
  onOrOff,
  readableText,
  secretText,
  section,
} from "./config-values.ts";
import type { ResolvedSecrets } from "./secrets.ts";
import { pathText } from "./yaml.ts";

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
