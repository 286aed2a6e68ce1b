/** The config, declared once: its keys, their defaults and texts, and what the program reads from them. */
import { z } from "zod";
import { dayMs, minuteMs } from "../base/clock.ts";
import { logLevels } from "../base/logger.ts";
import { didYouMean } from "../base/names.ts";
import type { Protocol } from "../connector/service-protocol.ts";
import { transportDefaults } from "../connector/transport.ts";
import { alerts, notify } from "./alert-section.ts";
import { readBaseUrl } from "./address.ts";
import {
  durationText,
  folderText,
  integerBetween,
  onOrOff,
  oneOfWords,
  readableText,
  section,
  sizeText,
  tablesOf,
  within,
} from "./config-values.ts";
import { backup, retention, schedule, serve } from "./serve-sections.ts";
import { exportEntries } from "./export-section.ts";
import { fleet } from "./fleet-section.ts";
import { companies } from "./company-section.ts";
import type { ResolvedSecrets } from "./secrets.ts";

/** What the config must know of a connector; a ConnectorDeclaration is one. */
export interface KnownConnector {
  readonly name: string;
  readonly baseUrl: string;
  readonly protocol?: Pick<Protocol, "access" | "monthlyQuota">;
  readonly languages: readonly string[];
  readonly resources: readonly KnownResource[];
}

interface KnownResource {
  readonly name: string;
  readonly list: { readonly kind: string };
  /** Absent: its records have no files. */
  readonly files?: unknown;
}

/** Where the file is from: its folder, where relative paths start, and its secrets. */
interface SchemaPlace {
  readonly folder: string;
  readonly secrets: ResolvedSecrets;
  /** Names of the other connectors. */
  readonly others: readonly string[];
  /** For commands that take companies from Postgres: `fleet` must be there, companies need not. */
  readonly forFleet: boolean;
}

/** The file as people write it; what it gives has camelCase names, numbers with units and absolute folders. */
export function configSchema(known: KnownConnector, place: SchemaPlace) {
  const ofCompanies = companies(known.protocol?.access, place.secrets);
  const ofFleet = fleet(place).describe("Many machines: what `worker` and `fleet` share through Postgres.");
  return section({
    connector: oneOfWords([known.name, ...place.others])
      .default(known.name)
      .describe("The remote system."),
    // Without a slash at its end.
    base_url: readableText("a URL", readBaseUrl)
      .prefault(known.baseUrl)
      .describe("Where the service answers. http:// only for this machine."),
    data_dir: folderText(place.folder)
      .prefault("./data")
      .describe("Where mirrors and reports live; relative to this file."),
    language: language(known).default("en").describe("Accept-Language of every request, pinned."),
    companies: place.forFleet ? ofCompanies.prefault({}) : ofCompanies,
    resources: resources(known).prefault({}).describe("Which resources to mirror; all by default."),
    scrub: scrub(known).prefault({}).describe("How much is read again to find changes that no list shows."),
    rate_limit: rateLimit(known).prefault({}).describe("How the service's request budget is used."),
    http: http.prefault({}).describe("Limits of a single request, and how long to wait for the service."),
    schedule: schedule({ hasQuick: !hasChanges(known) })
      .prefault({})
      .describe("When `serve` does what."),
    serve: serve(place).prefault({}).describe("The receiver, status page and metrics."),
    exports: exportEntries(known, place).default([]).describe("Files made by itself."),
    backup: backup(place).prefault({}).describe("Copies of mirrors, made by `serve`."),
    files: files(known)
      .prefault({})
      .describe("Which files are fetched after runs, last of all; `files` fetches them at once."),
    report: report(place).prefault({}).describe("The published database."),
    retention: retention.prefault({}).describe("How long what only looks back is kept."),
    alerts: alerts(place).describe("Where word goes when something is wrong, and when it is over."),
    notify: notify(place, tablesOf(resourceName(known))).describe(
      "Who is sent every change by `serve`, signed and in order.",
    ),
    mcp: section({
      content: onOrOff()
        .prefault("off")
        .describe("Whether `mcp` shows what people wrote: the content of CRM events, names of files."),
    })
      .prefault({})
      .describe("What an assistant may read."),
    log: section({ level: oneOfWords(logLevels).default("info").describe("The least that is logged.") })
      .prefault({})
      .describe("What is logged."),
    // Null: this machine alone.
    fleet: place.forFleet ? ofFleet : ofFleet.optional(),
  });
}

function language(known: KnownConnector) {
  const error = "must be a language such as en";
  const form = /^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$/;
  return z
    .string({ error })
    .regex(form, { error })
    .meta({ examples: [...known.languages] });
}

function mostParents(resource: string) {
  const error = "must be auto, all or a number from 1";
  const most = z.union([z.enum(["auto", "all"]), integerBetween(1, 1_000_000)], { error }).default("auto");
  const description =
    "How many parents a run and those that continue it visit, the stalest first; auto: with the scrub, all: every run.";
  return section({ parents_per_run: most.describe(description) })
    .transform((options) => options.parentsPerRun)
    .optional()
    .describe(`How ${resource} are read: one list for each parent.`);
}

function resourceName(known: KnownConnector) {
  const names = known.resources.map((resource) => resource.name);
  return z.enum(names, {
    error: (issue) => `must name a resource of ${known.name}${didYouMean(issue.input, names)}`,
  });
}

function resources(known: KnownConnector) {
  const list = z.array(resourceName(known), { error: "must be a list of resources" });
  const perParent = known.resources.filter((resource) => resource.list.kind === "parents");
  // Names of resources stay as they are.
  const keys = {
    include: list.optional().describe("Mirror only these."),
    exclude: list.default([]).describe("Mirror all but these."),
    ...Object.fromEntries(perParent.map((resource) => [resource.name, mostParents(resource.name)])),
  };
  return z
    .strictObject(keys, { error: "must be a map of keys" })
    .refine((choice) => choice.include === undefined || choice.exclude.length === 0, {
      error: "must have include or exclude, not both",
    })
    .transform(({ include = null, exclude, ...most }) => {
      const limits = Object.entries(most);
      // For resources listed parent by parent: how many parents a run visits; absent means auto.
      const parentsPerRun = Object.fromEntries(limits.filter(([, count]) => count !== "auto"));
      return { include, exclude, parentsPerRun: parentsPerRun as Record<string, number | "all"> };
    });
}

const auto = z.literal("auto").transform(() => null);

/** `lists` is obeyed where some list shows what changed. */
function scrub(known: KnownConnector) {
  const lists = durationText(dayMs, 365 * dayMs)
    .prefault("7d")
    .describe("How often whole lists are read, which show deletions; other nights read what changed.");
  return section({ ...scrubKeys, ...(hasChanges(known) && { lists }) }).transform((each) => ({
    timeMs: each.time,
    cycleMs: each.cycle,
    atMostMs: each.atMost,
    listsMs: "lists" in each ? Number(each.lists) : 0,
  }));
}

function hasChanges({ resources: all }: KnownConnector): boolean {
  return all.some(({ list }) => list.kind === "walked");
}

const scrubKeys = {
  time: auto
    .or(durationText(minuteMs, dayMs, ", or auto"))
    .prefault("auto")
    .describe("Of a day, at the full budget. auto: 30m, or 5m while webhooks arrive without a gap."),
  cycle: durationText(dayMs, 3_650 * dayMs)
    .prefault("30d")
    .describe("Within this time everything is read again, even if that takes more than scrub.time."),
  at_most: durationText(minuteMs, dayMs)
    .prefault("4h")
    .describe("Of a day: never more than this, whatever scrub.cycle needs."),
};

/** `monthly` is obeyed where plans have a monthly quota. */
function rateLimit({ protocol }: KnownConnector) {
  const monthly = auto
    .or(integerBetween(1, 10_000_000))
    .prefault("auto")
    .describe("Calls in a calendar month, the reserve for events included. auto: as the service says.");
  return section({ ...rateLimitKeys, ...(protocol?.monthlyQuota && { monthly }) }).transform((each) => ({
    // From 0 to 1.
    reserveShare: each.reserve,
    windowMs: each.window,
    // Null: as the service says.
    monthly: ("monthly" in each ? each.monthly : null) as number | null,
  }));
}

const rateLimitKeys = {
  reserve: readableText('a percentage from 0% to 90% such as "10%"', (text) => {
    const match = /^(\d+(?:\.\d+)?)\s*%$/.exec(text);
    return within(match ? Number(match[1]) / 100 : null, 0, 0.9);
  })
    .prefault("10%")
    .describe("Left to other programs of the company, when there are any."),
  window: durationText(100, 60 * minuteMs)
    .prefault("60s")
    .describe("The length of the service's window."),
};

const http = section({
  concurrency: integerBetween(1, 32)
    .default(transportDefaults.concurrency)
    .describe("Requests in flight at once."),
  timeout: durationText(100, 30 * minuteMs)
    .prefault(`${transportDefaults.timeoutMs / 1000}s`)
    .describe("For one attempt, head and body together."),
  max_response: sizeText(64_000, 2_000_000_000)
    .prefault(`${transportDefaults.maxResponseBytes / 1e6}MB`)
    .describe("The largest answer taken, inflated."),
  patience: durationText(100, dayMs)
    .prefault("15m")
    .describe("How long a run waits for a service that is away."),
}).transform(({ concurrency, timeout, maxResponse, patience }) => ({
  concurrency,
  timeoutMs: timeout,
  maxResponseBytes: maxResponse,
  patienceMs: patience,
}));

/** Obeyed where records have files. */
function files({ resources: all }: KnownConnector) {
  const hasFiles = all.some((one) => one.files !== undefined);
  return section(hasFiles ? fileKeys : {}).transform((each: { pdf?: boolean; attachments?: boolean }) => ({
    pdf: each.pdf ?? false,
    attachments: each.attachments ?? false,
    // Where a worker keeps them, by its own config. Null: in the data folder.
    store: null as string | null,
  }));
}

const fileKeys = {
  pdf: onOrOff().prefault("off").describe("PDFs of documents and receipts."),
  attachments: onOrOff().prefault("off").describe("The attachments of CRM events."),
};

function report(place: SchemaPlace) {
  return section({
    out: folderText(place.folder)
      .optional()
      .describe("A folder for reports alone, for readers under another user; by default data_dir."),
    mode: readableText('a mode in quotes such as "0640"', (text) =>
      /^0?[46][04]{2}$/.test(text) ? { value: Number.parseInt(text, 8) } : null,
    )
      .optional()
      .describe('Who may read it, as "0640": for its group too. By default its owner, or as set by hand.'),
    redact: redact.prefault({}).describe("Columns whose values are in no report and no export."),
  });
}

/** Keys are checked against the connector's tables when those are loaded (`check-redaction.ts`). */
const redact = z
  .object(
    {
      unknown: oneOfWords(["drop", "keep"])
        .optional()
        .describe("Fields that the connector does not know. By default drop where anything is redacted."),
    },
    { error: "must be a map such as { TABLE.COLUMN: drop }" },
  )
  .catchall(
    oneOfWords(["drop", "hash"]).describe(
      "drop: always null. hash: a keyed hash, by which equal values still join.",
    ),
  )
  .transform(({ unknown, ...modes }) => {
    const named = Object.entries(modes).map(([columns, mode]) => ({ columns, mode }));
    const isDropped = unknown === "drop" || (unknown === undefined && named.length > 0);
    return isDropped ? [...named, { columns: "unknown", mode: "drop" as const }] : named;
  });

/** The config's JSON Schema, draft 7: the one that editors read. A file for workers alone has no companies. */
export function configJsonSchema(known: KnownConnector): Record<string, unknown> {
  const nowhere: SchemaPlace = { folder: ".", secrets: new Map(), others: [], forFleet: false };
  const schema = z.toJSONSchema(configSchema(known, nowhere), { io: "input", target: "draft-7" });
  const { required: _, ...described } = schema;
  const anyOf = ["companies", "fleet"].map((key) => ({
    properties: { [key]: { description: "Every config has companies or fleet." } },
    required: [key],
  }));
  return { title: "fintoro-mirror config", ...described, anyOf };
}
