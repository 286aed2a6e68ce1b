import { choice, durationMs, flag, text, wholeNumber, type CommandSpec } from "./option-specs.ts";

const address = {
  url: text("--url <base>", "of the running sandbox (default: base_url of the config)"),
  port: wholeNumber("--port <n>", "of the running sandbox on this machine", 1, 65_535),
};

/** Commands that start and drive a stand-in for the service. */
export const sandboxCommands = {
  sandbox: {
    summary: "run a stand-in for the service, with made-up data, until it is stopped",
    config: "none",
    options: {
      connector: text("--connector <name>", "which service it stands in for (default fintoro)"),
      port: wholeNumber("--port <n>", "port on 127.0.0.1; 0 takes a free one (default 0)", 0, 65_535),
      seed: wholeNumber("--seed <n>", "the same seed makes the same data (default 1)", 0, 4_294_967_295),
      records: text("--records <size>", "small, medium or a number of documents (default small)"),
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
