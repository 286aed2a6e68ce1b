import { afterWhoami, always, configOf, type ErrorRow } from "../../support/error-row.ts";

const at = (publicUrl: string) => (baseUrl: string) =>
  configOf(baseUrl, `    webhook: { secrets: ["\${file:hook}"], public_url: "${publicUrl}" }\n`);
const config = at("https://hooks.example.com/webhooks/acme");
const taken = always(422, { message: "The url is taken.", errors: { url: ["The url is taken."] } });
const noSubscription = {
  config,
  exit: 1,
  what: "there is no subscription",
  where: "999999",
  next: "there are ",
} as const;

/** Subscriptions, and events. */
export const webhookRows: readonly ErrorRow[] = [
  {
    situation: "a subscription without HTTPS",
    command: "webhooks create --url http://hooks.example.com/webhooks/acme",
    config,
    exit: 2,
    what: "is not https://",
    where: "http://hooks.example.com/webhooks/acme",
    next: "the service sends events over https:// only",
  },
  {
    situation: "a subscription to no URL",
    command: "webhooks create --url hooks",
    config,
    exit: 2,
    what: "is no URL",
    where: '"hooks"',
    next: "write it whole: https://hooks.example.com/webhooks/acme",
  },
  {
    situation: "a subscription without an address",
    command: "webhooks create",
    exit: 2,
    what: "where should events go?",
    where: "The config has no public_url",
    next: "set companies.acme.webhook.public_url, or give --url",
  },
  {
    situation: "an event with a slip",
    command: "webhooks create --events invoices.payd",
    config,
    exit: 2,
    what: "unknown event",
    where: "invoices.payd",
    next: "Did you mean invoices.paid?",
  },
  {
    situation: "an event that is none",
    command: "webhooks create --events everything-else",
    config,
    exit: 2,
    what: "unknown event",
    where: "everything-else",
    next: "there are clients.created",
  },
  {
    situation: "a subscription that the service refuses",
    command: "webhooks create",
    config,
    answer: afterWhoami((answer, asked, index) =>
      (asked.method === "GET" ? always(200, { data: [] }) : taken)(answer, asked, index),
    ),
    exit: 1,
    what: "422 The url is taken.",
    where: "POST /webhook-subscriptions",
    next: "the service does not accept these values",
  },
  {
    situation: "a token that may only read",
    command: "webhooks create",
    config,
    answer: afterWhoami((answer, asked, index) =>
      (asked.method === "GET"
        ? always(200, { data: [] })
        : always(403, { message: "Invalid ability provided." }))(answer, asked, index),
    ),
    exit: 1,
    what: "403 Invalid ability provided.",
    where: "POST /webhook-subscriptions",
    next: "--token-env NAME",
  },
  {
    situation: "a writing token that is not there",
    command: "webhooks create --token-env NO_SUCH",
    config,
    exit: 2,
    what: "is not set",
    where: "--token-env: the environment variable NO_SUCH",
    next: "NO_SUCH",
  },
  {
    situation: "a subscription's id that is none",
    command: "webhooks update abc --active off",
    config,
    exit: 2,
    what: "is not the id of a subscription",
    where: '"abc"',
    next: "`webhooks list` shows them",
  },
  {
    situation: "nothing to change",
    command: "webhooks update 1",
    config,
    exit: 2,
    what: "nothing to change",
    where: "--url, --events, --active",
    next: "give --url",
  },
  {
    situation: "a subscription that is not there: rotate",
    command: "webhooks rotate 999999",
    ...noSubscription,
  },
  {
    situation: "a subscription that is not there: delete",
    command: "webhooks delete 999999 --yes",
    ...noSubscription,
  },
  {
    situation: "a deletion that nobody confirms",
    command: "webhooks delete 999999",
    config,
    exit: 2,
    what: "must be confirmed",
    where: "subscription 999999",
    next: "give --yes",
  },
  {
    situation: "a public_url without HTTPS",
    command: "serve",
    config: at("http://hooks.example.com/webhooks/acme"),
    exit: 2,
    what: "http:// only for this machine",
    where: "companies.acme.webhook.public_url",
    next: "must use https://",
  },
  {
    situation: "the inbox before the first run",
    command: "webhooks inbox",
    config,
    exit: 10,
    what: "there is no mirror of acme yet",
    where: "data/acme.db",
    next: "Run `fintoro-mirror sync` first",
  },
  {
    situation: "an event that never came",
    command: "webhooks replay nothing",
    mirror: true,
    config,
    exit: 1,
    what: "no such event",
    where: "nothing",
    next: "`webhooks inbox` shows the ids",
  },
];
