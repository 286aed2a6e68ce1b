import type { CommandSpec } from "./command.ts";
import { choice, durationMs, flag, text, wholeNumber } from "./option-specs.ts";

/** For another token: managing subscriptions needs one that may write, mirroring does not. */
const accessOptions = {
  tokenEnv: text(
    "--token-env <name>",
    "take the token from this environment variable, for this call only: subscriptions need scope write",
  ),
};

const subscriptionId = [{ name: "<id>", doc: "of the subscription" }];

const inboxStates = ["waiting", "done", "kept", "excluded", "unknown", "unreadable"] as const;
const state = choice("--state <state>", "only events in this state", inboxStates);

/** `webhooks inbox` shows this many events without --limit. */
export const usualInboxCount = 100;

/** The rows of the command table that begin with `webhooks`. */
export const webhookCommands = {
  "webhooks list": {
    summary: "the service's subscriptions: where events go, which, and how it went",
    isPaged: () => true,
    options: accessOptions,
  },
  "webhooks create": {
    summary: "have the service send events here; shows the secret once and stores it where the config says",
    options: {
      url: text("--url <url>", "where to (default: the config's public_url)"),
      name: text("--name <text>", "what the service calls it (default fintoro-mirror)"),
      events: text("--events <list>", "names with commas between them, or all (default all)"),
      ...accessOptions,
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
  },
  "webhooks rotate": {
    summary: "a new secret for a subscription; the old one stays accepted for a while",
    args: subscriptionId,
    options: {
      keepOld: durationMs(
        "--keep-old <duration>",
        "how long deliveries signed with the old secret are accepted; 0s: not at all (default 24h)",
      ),
      ...accessOptions,
    },
  },
  "webhooks delete": {
    summary: "end a subscription; `webhooks update ID --active off` only pauses it",
    args: subscriptionId,
    options: { yes: flag("--yes", "do not ask; needed where there is no terminal"), ...accessOptions },
  },
  "webhooks inbox": {
    summary: "deliveries that were received and what became of them, the newest last",
    args: [{ name: "[id...]", doc: "only these events, with their bodies" }],
    isPaged: () => true,
    options: {
      since: text("--since <duration|time>", "received since: 2h, 3d, 2026-11-21, 2026-11-21T08:00Z"),
      state,
      resource: text("--resource <table>", "only events about this table"),
      limit: wholeNumber("--limit <n>", `the newest so many (default ${usualInboxCount})`, 1, 1_000_000),
    },
  },
  "webhooks replay": {
    summary: "evaluate stored events again, so that their records are read once more",
    args: [{ name: "[id...]", doc: "event ids, as `webhooks inbox` shows them" }],
    options: {
      since: text("--since <duration|time>", "all events received since, instead of ids"),
      state,
    },
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;
