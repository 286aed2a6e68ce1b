import type { Protocol } from "../../src/connector/service-protocol.ts";

const whole = ["account", "bank_accounts", "number_formats"];
const walked = ["subjects", "generators", "recurring_generators", "invoices", "expenses"];

/** The answers of the service itself carry its budget (introduction of its documents); the body of a 404 is not documented. */
const protocol: Protocol = {
  access: { kind: "client_credentials", tokenPath: "/oauth/token", accountPath: "/accounts/{account}" },
  budgetHeaders: "structured",
  ownHeader: "x-ratelimit",
  monthlyQuota: {
    requests: 1_500,
    stated: { path: "/account.json", limitField: "api_calls_limit", usedField: "api_calls_used" },
  },
};

/** What a config is checked against, without loading the resources; a test holds the names equal to the connector's. */
export const knownFakturoid = {
  name: "fakturoid",
  baseUrl: "https://app.fakturoid.cz/api/v3",
  protocol,
  // Answers have the account's language: the header says nothing.
  languages: ["en", "cs", "sk"],
  resources: [
    ...whole.map((name) => ({ name, list: { kind: "whole" } })),
    ...walked.map((name) => ({ name, list: { kind: "walked" } })),
  ],
};
