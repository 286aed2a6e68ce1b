import {
  choice,
  documentCount,
  durationMs,
  flag,
  month,
  text,
  texts,
  wholeNumber,
  type CommandSpec,
} from "./option-specs.ts";

/** For another token: managing subscriptions needs one that may write, mirroring does not. */
const accessOptions = {
  tokenEnv: text("--token-env <name>", "the environment variable of a token with scope write, for this call"),
};

const subscriptionId = [{ name: "<id>", doc: "of the subscription" }];

const inboxStates = ["waiting", "done", "kept", "excluded", "unknown", "unreadable"] as const;
const state = choice("--state <state>", "only events in this state", inboxStates);

const tag = text("--tag <tag>", "only companies with this tag");

export const usualInboxCount = 100;

export const servingCommands = {
  serve: {
    summary: "keep every mirror current: receive events, run by the schedule, until it is stopped",
    config: "required",
    options: { listen: text("--listen <address>", "HOST:PORT instead of the config's serve.listen") },
    examples: { "": "until Ctrl-C", "--listen 127.0.0.1:9000": "at another port" },
  },
  "webhooks list": {
    summary: "the service's subscriptions: where events go, which, and how it went",
    isPaged: true,
    options: accessOptions,
    examples: {
      "": "what the service delivers, and where to",
      "--company acme --json": "of one company, for a script",
    },
  },
  "webhooks create": {
    summary: "have the service send events here; shows the secret once and stores it where the config says",
    options: {
      url: text("--url <url>", "where to (default: the config's public_url)"),
      name: text("--name <text>", "what the service calls it (default fintoro-mirror)"),
      events: text("--events <list>", "names with commas between them, or all (default all)"),
      ...accessOptions,
    },
    examples: {
      "--token-env FINTORO_WRITE_TOKEN": "all events, to the config's address",
      "--events invoices.paid,clients.updated": "two events only",
    },
  },
  "webhooks update": {
    summary: "change a subscription; what is not named stays, the secret too",
    args: subscriptionId,
    options: {
      url: text("--url <url>", "where to"),
      events: text("--events <list>", "names with commas between them, or all"),
      active: choice("--active <state>", "whether it delivers", ["on", "off", "unchanged"], "unchanged"),
      name: text("--name <text>", "what the service calls it"),
      ...accessOptions,
    },
    examples: { "12 --active off": "pause it", "12 --events all": "deliver everything" },
  },
  "webhooks rotate": {
    summary: "a new secret for a subscription; the old one stays accepted for a while",
    args: subscriptionId,
    options: {
      keepOld: durationMs("--keep-old <duration>", "how long the old secret is accepted (default 24h)"),
      ...accessOptions,
    },
    examples: {
      "12": "a new secret; the old one is accepted for a day",
      "12 --keep-old 0s": "the old one is known to others: not at all",
    },
  },
  "webhooks delete": {
    summary: "end a subscription; `webhooks update ID --active off` only pauses it",
    args: subscriptionId,
    options: { yes: flag("--yes", "do not ask; needed where there is no terminal"), ...accessOptions },
    examples: { "12": "asks before", "12 --yes": "in a script" },
  },
  "webhooks inbox": {
    summary: "deliveries that were received and what became of them, the newest last",
    args: [{ name: "[id...]", doc: "only these events, with their bodies" }],
    isPaged: true,
    options: {
      since: text("--since <duration|time>", "received since: 2h, 3d, 2026-11-21, 2026-11-21T08:00Z"),
      state,
      resource: text("--resource <table>", "only events about this table"),
      limit: wholeNumber("--limit <n>", `the newest so many (default ${usualInboxCount})`, 1, 1_000_000),
    },
    examples: {
      "--since 2h": "what came in two hours",
      "--state waiting --resource invoices": "what is still to be read",
    },
  },
  "webhooks replay": {
    summary: "evaluate stored events again, so that their records are read once more",
    args: [{ name: "[id...]", doc: "event ids, as `webhooks inbox` shows them" }],
    options: {
      since: text("--since <duration|time>", "all events received since, instead of ids"),
      state,
    },
    examples: {
      "--since 3d": "all events of three days",
      "--since 1d --state unknown": "those that nobody knew",
    },
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
    examples: {
      "": "one of many, until Ctrl-C",
      "--role receive --listen 0.0.0.0:8787": "answer deliveries only, behind a load balancer",
    },
  },
  "fleet add": {
    summary: "share companies with all workers; again: as the config, or the list, says now",
    args: [{ name: "[company...]", doc: "of the config" }],
    forFleet: true,
    options: {
      all: flag("--all", "every company of the config"),
      from: text("--from <file>", "a CSV list: name, token or token_file, tags; each token is tried first"),
      tag: texts("--tag <tag>", "a tag that they have from now on; may be given several times"),
    },
    examples: {
      "--all": "every company of the config",
      "--from companies.csv": "those of a list; again: what has changed in it",
    },
  },
  "fleet remove": {
    summary: "take companies out of the fleet; what was published of them stays",
    args: [{ name: "[company...]", doc: "of the fleet" }],
    forFleet: true,
    options: {
      tag,
      forget: flag("--forget", "forget them at once, not after 30 days: added again they begin anew"),
    },
    examples: {
      acme: "its worker releases it; its snapshot stays",
      "acme --forget": "and `fleet add acme` reads it anew",
    },
  },
  "fleet list": {
    summary: "the companies of the fleet, and which worker has them",
    forFleet: true,
    isPaged: true,
    options: { tag },
    examples: { "": "who has which company", "--company acme --json": "what is shared of one" },
  },
  "fleet status": {
    summary: "how the fleet stands; exits 1 if data are old or work is left, 3 if not whole",
    forFleet: true,
    isPaged: true,
    options: {
      maxAge: durationMs(
        "--max-age <duration>",
        "exit 1 if a company was last read whole longer ago (default: as its schedule says)",
      ),
      tag,
      radar: flag(
        "--radar",
        "a line for each company: token, webhook, month, proof, and what its report says",
      ),
      package: month("--package <month>", "who has the package of this month, who is late, and why"),
    },
    conflicts: [["radar", "package", "maxAge"]],
    examples: {
      "": "what is wrong first, then who has which company",
      "--radar --tag monthly": "a line for each company with this tag; exits 0",
    },
  },
  "fleet package": {
    summary: "have workers pack a month of every company for the accountant, into fleet.reports",
    forFleet: true,
    options: {
      month: month("--month <month>", "such as 2026-10; documents by their date of issue"),
      tag,
      proved: flag("--proved", "compare the month with the service first; only an equal one is packed"),
    },
    examples: {
      "--month 2026-10": "of every company; again: of those that changed since",
      "--month 2026-10 --tag monthly --proved": "with certificates, of companies with this tag",
    },
  },
  "fleet drain": {
    summary: "have a worker release its companies and take no more, until it is started again",
    args: [{ name: "<node>", doc: "as `fleet status` names it" }],
    forFleet: true,
    options: {},
    examples: { "worker-1": "before its machine is taken away", "worker-1 --json": "for a script" },
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;

const address = {
  url: text("--url <base>", "of the running sandbox (default: base_url of the config)"),
  port: wholeNumber("--port <n>", "of the running sandbox on this machine", 1, 65_535),
};

export const sandboxCommands = {
  sandbox: {
    summary: "run a stand-in for the service, with made-up data, until it is stopped",
    config: "none",
    options: {
      connector: text("--connector <name>", "which service it stands in for (default fintoro)"),
      port: wholeNumber("--port <n>", "port on 127.0.0.1; 0 takes a free one (default 0)", 0, 65_535),
      seed: wholeNumber("--seed <n>", "the same seed makes the same data (default 1)", 0, 4_294_967_295),
      records: documentCount("--records <size>", "small, medium or a number of documents (default small)"),
      limit: wholeNumber("--limit <n>", "requests in a window (default the service's)", 1, 1_000_000),
      windowMs: durationMs("--window <duration>", "length of the window (default 60s)"),
      limiter: choice(
        "--limiter <kind>",
        "how the window behaves",
        ["fixed", "whole_seconds", "hit_time"],
        "fixed",
      ),
      latencyMs: durationMs("--latency <duration>", "wait before every answer (default 0ms)"),
      faults: text("--faults <list>", "what goes wrong how often: 500:0.05,reset:0.01,latency=200"),
      webhookUrl: text("--webhook-url <url>", "sends every event there; this machine is allowed, too"),
      secret: text("--secret <text>", "signs what goes to --webhook-url (otherwise made up and printed)"),
      webhookFaults: text("--webhook-faults <list>", "how often: duplicates:0.2,losses:0.1,reorder:0.5"),
    },
    examples: {
      "--port 8080 --records medium": "5,000 documents",
      "--limit 6000 --faults 500:0.05,reset:0.01": "fast, and failing at times",
    },
  },
  "sandbox trigger": {
    summary: "make an event happen in a running sandbox, by the change that causes it",
    args: [{ name: "<event>", doc: "invoices.paid, clients.updated, ..." }],
    config: "none",
    options: {
      id: wholeNumber("--id <n>", "of the record (otherwise one is chosen)", 1, 1e15 - 1),
      forge: flag("--forge", "send the event without the change"),
      ...address,
    },
    examples: {
      "invoices.paid --port 8080": "an invoice is paid",
      "clients.updated --id 7 --forge --port 8080": "the event without the change",
    },
  },
  "sandbox tick": {
    summary: "run a working day in a running sandbox, within a minute",
    config: "none",
    options: {
      duration: durationMs("--duration <duration>", "how long the day takes (default 60s)"),
      changes: wholeNumber("--changes <n>", "how much happens (default 200)", 1, 100_000),
      seed: wholeNumber("--seed <n>", "the same seed does the same work", 0, 4_294_967_295),
      ...address,
    },
    examples: {
      "--port 8080": "a working day in a minute",
      "--port 8080 --duration 10s --changes 20": "a shorter one",
    },
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;
