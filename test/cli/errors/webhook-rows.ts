import {
  afterWhoami,
  always,
  configOf,
  otherConfig,
  errorRows,
  type ErrorSetups,
} from "../../support/program/error-row.ts";
import type { Answering } from "../../support/http/http.ts";

const at = (publicUrl: string) => (baseUrl: string) =>
  configOf(baseUrl, `    webhook: { secrets: ["\${file:hook}"], public_url: "${publicUrl}" }\n`);
const config = at("https://hooks.example.com/webhooks/acme");
/** There is no subscription, and what would make one is answered so. */
const written = (refusal: Answering) =>
  afterWhoami((answer, asked, index) =>
    (asked.method === "GET" ? always(200, { data: [] }) : refusal)(answer, asked, index),
  );
const setups: ErrorSetups = {
  hooked: { config },
  other: { config: otherConfig },
  taken: {
    config,
    answer: written(always(422, { message: "The url is taken.", errors: { url: ["The url is taken."] } })),
  },
  reading: { config, answer: written(always(403, { message: "Invalid ability provided." })) },
  absent: { config, exit: 1, what: "there is no subscription", where: "999999", next: "there are " },
  plainUrl: { config: at("http://hooks.example.com/webhooks/acme") },
  mirror: { mirror: true, config },
};

export const webhookRows = errorRows(setups, [
  "hooked 2 | a subscription without HTTPS | webhooks create --url http://hooks.example.com/webhooks/acme | is not https:// | http://hooks.example.com/webhooks/acme | the service sends events over https:// only",
  'hooked 2 | a subscription to no URL | webhooks create --url hooks | is no URL | "hooks" | write it whole: https://hooks.example.com/webhooks/acme',
  "hooked 2 | an event with a slip | webhooks create --events invoices.payd | unknown event | invoices.payd | Did you mean invoices.paid?",
  "hooked 2 | an event that is none | webhooks create --events everything-else | unknown event | everything-else | there are clients.created",
  "hooked 2 | a writing token that is not there | webhooks create --token-env NO_SUCH | is not set | --token-env: the environment variable NO_SUCH | NO_SUCH",
  'hooked 2 | a subscription\'s id that is none | webhooks update abc --active off | is not the id of a subscription | "abc" | `webhooks list` shows them',
  "hooked 2 | a change to an address without HTTPS | webhooks update 1 --url http://hooks.example.com/webhooks/acme | is not https:// | http://hooks.example.com/webhooks/acme | the service sends events over https:// only",
  "hooked 2 | nothing to change | webhooks update 1 | nothing to change | --url, --events, --active | give --url",
  "hooked 2 | a deletion that nobody confirms | webhooks delete 999999 | must be confirmed | subscription 999999 | give --yes",
  'hooked 2 | events since no time | webhooks inbox --since yesterday | must be a duration such as 2h | (it is "yesterday") | or a time such as 2026-11-21T08:00Z',
  'hooked 2 | events since a month that does not exist | webhooks inbox --since 2026-13-45 | must be a duration such as 2h | (it is "2026-13-45") | or a time such as',
  'hooked 2 | events since a day that does not exist | webhooks inbox --since 2026-02-31T08:00Z | must be a duration such as 2h | (it is "2026-02-31T08:00Z") | or a time such as',
  "hooked 2 | events of a table with a slip | webhooks inbox --resource clints | unknown table | clints | Did you mean clients?",
  "hooked 2 | a replay of nothing | webhooks replay | which events? | Give their ids, or --since | `webhooks inbox` shows the ids",
  "hooked 2 | a replay of ids and a time | webhooks replay evt_0 --since 1h | exclude each other | event ids and --since | exclude",
  "hooked 2 | a replay of an id and a state | webhooks replay evt_0 --state waiting | goes with | --state | --since",
  "hooked 2 | a subscription at a private address | webhooks create --url https://10.0.0.8/webhooks/acme | is not a public address | 10.0.0.8 | put a reverse proxy or a tunnel in front",
  "hooked 2 | a subscription with a password | webhooks create --url https://me:word@example.com/ | carries a user name or password | the URL | take them out",
  "hooked 10 | the inbox before the first run | webhooks inbox | there is no mirror of acme yet | data/acme.db | Run `fintoro-mirror sync` first",
  "2 | a subscription without an address | webhooks create | where should events go? | The config has no public_url | set companies.acme.webhook.public_url, or give --url",
  "other 2 | a subscription of a service where people make them | webhooks create | are not made here | subscriptions of Fakturoid | Make one at Fakturoid",
  "taken 1 | a subscription that the service refuses | webhooks create | 422 The url is taken. | POST /webhook-subscriptions | the service does not accept these values",
  "reading 1 | a token that may only read | webhooks create | 403 Invalid ability provided. | POST /webhook-subscriptions | --token-env NAME",
  "absent | a subscription that is not there: rotate | webhooks rotate 999999 |  |  | ",
  "absent | a subscription that is not there: delete | webhooks delete 999999 --yes |  |  | ",
  "plainUrl 2 | a public_url without HTTPS | serve | http:// only for this machine | companies.acme.webhook.public_url | must use https://",
  "mirror 1 | an event that never came | webhooks replay nothing | no such event | nothing | `webhooks inbox` shows the ids",
]);
