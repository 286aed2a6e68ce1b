import { z } from "zod";
import { logLevels } from "../base/logger.ts";
import { transportDefaults } from "../connector/transport.ts";
import { readBaseUrl, readListen, readPublicUrl } from "./address.ts";
import type { KnownConnector } from "./config.ts";
import {
  cronPattern,
  didYouMean,
  duration,
  oneOf,
  readable,
  share,
  size,
  timezone,
  toggle,
  wholeNumber,
  words,
} from "./config-values.ts";

const minuteMs = 60_000;
const section = { error: "must be a map of keys" };

/** The file as people write it; parsing gives numbers with units. Also the source of the JSON Schema. */
export function configShape(known: KnownConnector) {
  return z.strictObject(
    {
      connector: oneOf([known.name]).default(known.name).describe("The remote system."),
      base_url: readable("a URL", readBaseUrl)
        .prefault(known.baseUrl)
        .describe("Where the service answers. http:// only for this machine."),
      data_dir: words("a folder")
        .prefault("./data")
        .describe("Where mirrors and reports live; relative to this file."),
      language: language(known).default("en").describe("Accept-Language of every request, pinned."),
      companies: companies().describe("The companies to mirror, by a name of your choice."),
      resources: resources(known).prefault({}).describe("Which resources to mirror; all by default."),
      rate_limit: rateLimit.prefault({}).describe("How the service's request budget is used."),
      http: http.prefault({}).describe("Limits of a single request."),
      schedule: schedule.prefault({}).describe("When `serve` does what."),
      serve: serve.prefault({}).describe("The receiver, status page and metrics."),
      exports: z
        .array(exportShape, { error: "must be a list" })
        .default([])
        .describe("Files made by itself."),
      files: files.prefault({}).describe("Whether PDFs and attachments are fetched."),
      log: z
        .strictObject(
          { level: oneOf(logLevels).default("info").describe("The least that is logged.") },
          section,
        )
        .prefault({})
        .describe("What is logged."),
    },
    section,
  );
}

export type ShapedConfig = z.output<ReturnType<typeof configShape>>;

function language(known: KnownConnector) {
  return z
    .string({ error: "must be a language such as en" })
    .regex(/^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$/, { error: "must be a language such as en" })
    .meta({ examples: [...known.languages] });
}

const token = z
  .string({ error: "must be text; put it in quotes" })
  .min(1, { error: "must not be empty" })
  .describe("The access token: ${env:NAME}, ${file:/path}, or (with a warning) the token itself.");

const webhook = z
  .strictObject(
    {
      secrets: z
        .array(token, { error: "must be a list" })
        .default([])
        .describe("Signing secrets; the old and the new one during a rotation."),
      public_url: readable("a URL", readPublicUrl)
        .optional()
        .describe("Where the service reaches the receiver."),
    },
    section,
  )
  .prefault({})
  .describe("Incoming events.");

/** What a look at all names together tells is in company-names. Both cases stay apart in JSON Schema, which knows no case-blind patterns. */
const companyName = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/);

function companies() {
  const company = z.strictObject({ token, webhook }, section);
  return z.record(companyName, company, section);
}

function resources(known: KnownConnector) {
  const names = known.resources.map((resource) => resource.name);
  const name = z.enum(names, {
    error: (issue) => `must name a resource of ${known.name}${didYouMean(issue.input, names)}`,
  });
  const list = z.array(name, { error: "must be a list of resources" });
  const perParent = known.resources.filter((resource) => resource.list.kind === "parents");
  return z
    .strictObject(
      {
        include: list.optional().describe("Mirror only these."),
        exclude: list.default([]).describe("Mirror all but these."),
        ...Object.fromEntries(perParent.map((resource) => [resource.name, perParentOptions(resource.name)])),
      },
      section,
    )
    .refine((choice) => choice.include === undefined || choice.exclude.length === 0, {
      error: "must have include or exclude, not both",
    });
}

const parentsPerRun = z
  .union([z.literal("all"), wholeNumber(1, 1_000_000)], { error: "must be all or a number from 1" })
  .default("all")
  .describe("How many parents a run visits, the stalest first.");
export const parentsOptions = z.strictObject({ parents_per_run: parentsPerRun }, section);

function perParentOptions(resource: string) {
  return parentsOptions.optional().describe(`How ${resource} are read: one list for each parent.`);
}

const rateLimit = z.strictObject(
  {
    reserve: share(90).prefault("10%").describe("Left to other clients of the company, when there are any."),
    window: duration(100, 60 * minuteMs)
      .prefault("60s")
      .describe("The length of the service's window."),
    scrub_share: share(90).prefault("10%").describe("Spent on re-reading the oldest records in full."),
  },
  section,
);

const http = z.strictObject(
  {
    concurrency: wholeNumber(1, 32)
      .default(transportDefaults.concurrency)
      .describe("Requests in flight at once."),
    timeout: duration(100, 30 * minuteMs)
      .prefault(`${transportDefaults.timeoutMs / 1000}s`)
      .describe("For one attempt, head and body together."),
    max_response: size(64_000, 2_000_000_000)
      .prefault(`${transportDefaults.maxResponseBytes / 1e6}MB`)
      .describe("The largest answer taken, inflated."),
  },
  section,
);

const off = z.union([z.literal("off"), z.literal(false)]).transform(() => null);

const schedule = z.strictObject(
  {
    sync: off
      .or(cronPattern(", or off"))
      .prefault("15 2 * * *")
      .describe("When a run starts: a cron pattern, or off."),
    publish: off
      .or(z.literal("after_sync"))
      .or(cronPattern(", after_sync, or off"))
      .prefault("after_sync")
      .describe("When the report file is written."),
    timezone: timezone().default("Europe/Bratislava").describe("The patterns' time zone."),
  },
  section,
);

const serve = z.strictObject(
  { listen: readable("an address", readListen).prefault("127.0.0.1:8787").describe("Address and port.") },
  section,
);

const exportShape = z.strictObject(
  {
    format: oneOf(["csv", "parquet", "jsonl"]).describe("The kind of file."),
    out: words("a folder").describe("Where to; relative to this file."),
    to: readable("a place such as s3://bucket/prefix", (text) =>
      /^s3:\/\/[^/]/.test(text) ? { value: text } : { must: "be a place such as s3://bucket/prefix" },
    )
      .optional()
      .describe("Where the files are sent besides; keys and endpoint are in AWS_* variables."),
    after: oneOf(["sync"]).optional().describe("Made after every run."),
    dialect: oneOf(["standard", "excel-sk"]).default("standard").describe("CSV for machines or for Excel."),
    tables: z.array(words("a table")).optional().describe("Only these tables."),
    partition_by: oneOf(["year", "month"])
      .optional()
      .describe("One folder for each, by the documents' date."),
    nested: z
      .boolean({ error: "must be true or false" })
      .default(false)
      .describe("Parquet: items as a column of lists in place of tables of their own."),
  },
  section,
);

const files = z.strictObject(
  {
    pdf: toggle().prefault("off").describe("The documents' PDFs."),
    attachments: toggle().prefault("off").describe("The attachments of CRM events."),
  },
  section,
);
