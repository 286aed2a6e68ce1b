import type { EventRule, ConnectorDeclaration } from "../../src/connector/connector-declaration.ts";
import { knownFakturoid } from "./known.ts";
import { expenses, invoices } from "./resources/invoices-and-expenses.ts";
import * as own from "./resources/settings.ts";

/** Events by kind of record; each makes the record be read, `removed` to prove its deletion. */
const families: readonly (readonly [kind: string, events: string])[] = [
  [
    "invoice",
    `created updated removed restored overdue paid payment_added payment_removed sent locked unlocked cancelled
    cancellation_removed uncollectible uncollectible_removed`,
  ],
  ["expense", "created updated removed restored overdue paid payment_added payment_removed locked unlocked"],
  ["generator", "created updated removed restored"],
  ["recurring_generator", "created updated removed restored paused invoice_created"],
  ["subject", "created updated removed"],
];

function eventsOf([kind, events]: (typeof families)[number]): EventRule[] {
  return events.split(/\s+/).map((event) => {
    const action = event === "removed" ? "confirm" : "refetch";
    return { type: `${kind}_${event}`, resourceType: kind, resource: `${kind}s`, action };
  });
}

/** The Fakturoid API, version 3: reading only. */
export const fakturoid: ConnectorDeclaration = Object.freeze<ConnectorDeclaration>({
  ...knownFakturoid,
  title: "Fakturoid",
  limits: { requests: 400, windowMs: 60_000 },
  resources: [
    own.account,
    own.bankAccounts,
    own.numberFormats,
    own.subjects,
    own.generators,
    own.recurringGenerators,
    invoices,
    expenses,
  ],
  events: families.flatMap(eventsOf),
  webhooks: {
    deliveries: {
      kind: "secret",
      secretHeader: "authorization",
      idHeader: "idempotency-key",
      typeField: "event_name",
      atField: "created_at",
      recordField: "body",
    },
    // Up to five retries, but their pauses are not documented: each gap counts as a possible loss.
    retryDelays: [],
  },
  cascades: [],
  identity: {
    resource: own.account.name,
    nameField: "subdomain",
    businessIdColumn: "your_registration_no",
    businessIdIn: [invoices.name],
    proofs: [
      { field: "number", resources: [invoices.name] },
      { field: "name", resources: [own.subjects.name] },
    ],
  },
  operations: [],
  lastKnown: {
    number: ["number"],
    name: ["name", "client_name", "supplier_name"],
    total: ["total"],
    currency: ["currency"],
    date: ["issued_on"],
  },
});
