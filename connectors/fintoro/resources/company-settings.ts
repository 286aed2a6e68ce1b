import { z } from "zod";
import * as t from "../../../src/connector/record-schema.ts";
import { defineResource } from "../../../src/connector/resource.ts";
import { bank } from "./lookups.ts";
import { resource, wholeResource } from "./resource-builders.ts";

export const identity = t.record({ name: t.doc("Name of the company that the token belongs to", t.text()) });

export const company = defineResource({
  name: "company",
  singular: "company",
  title: "Company",
  origin: "stated",
  record: identity,
  list: { kind: "single", path: "/whoami" },
  doc: "The company this mirror belongs to; one row",
});

export const seriesDocumentTypes = t.namesIn("invoice proforma credit-note order quotation");

export const series = t.record({
  id: t.integer(),
  documentType: t.doc("Kind of document that the series numbers", t.oneOf(seriesDocumentTypes)),
  name: t.text(),
  pattern: t.doc("Pattern that numbers are formed by", t.text()),
  nextNumber: t.stated(t.doc("Internal counter's next value", t.integer())),
  nextDocumentNumber: t.stated(t.doc("Number that the next document will get", t.text())),
  nextVariableSymbol: t.stated(t.doc("Variable symbol that the next document will get", t.integer())),
  isDefault: t.doc("Used when a document names no series", t.boolean()),
});

export const numericalSeries = resource("numerical_series", "Numerical series", {
  singular: "numerical_series",
  origin: "stated",
  record: series,
  list: {
    kind: "whole",
    path: "/numerical-series",
    variants: { param: "documentType", values: seriesDocumentTypes, field: "documentType" },
  },
  doc: "How documents are numbered",
});

export const pairingStrategies = t.namesIn(
  "none by_variable_symbol by_price by_variable_symbol_and_price by_all_symbols by_all_symbols_and_price",
);

const bankOfAccount = { bankId: t.orNull(t.idOf("banks")), bank: t.orNull(t.nested("banks", bank)) };

export const bankAccount = t.record({
  id: t.integer(),
  ...bankOfAccount,
  bankId: t.doc("Null when the bank is not in the lookup", t.orNull(t.idOf("banks"))),
  isPrimary: t.doc("Used when a document names no account", t.boolean()),
  autoPaymentMatching: t.doc("Connected to open banking", t.boolean()),
  ...t.each("name iban", t.text()),
  swift: t.doc("SWIFT (BIC) code", t.text()),
  autoPairingStrategy: t.doc("How incoming payments find their document", t.oneOf(pairingStrategies)),
  balance: t.doc("Last balance known from open banking", t.orNull(t.decimal())),
  lastSyncedAt: t.doc("Last open banking read; local time of the service", t.orNull(t.timestamp())),
  openBankingValidUntil: t.doc("End of the open banking consent", t.orNull(t.date())),
  ...t.each("createdAt updatedAt", t.doc("Local time of the service", t.orNull(t.timestamp()))),
});

/** The account as a document shows it: as it is now, also after its deletion. */
export const bankAccountReference = t.record({
  id: t.integer(),
  ...bankOfAccount,
  ...t.each("name iban swift", t.text()),
  ...t.each("isPrimary autoPaymentMatching", t.boolean()),
});

export const bankAccounts = wholeResource("bank_accounts", "Bank accounts", {
  record: bankAccount,
  doc: "The company's own accounts",
});

export const webhookSubscription = t.record({
  id: t.integer(),
  companyId: t.doc("The service's number of the company", t.integer()),
  name: t.orNull(t.text()),
  url: t.stated(t.doc("Where events are delivered", t.text())),
  isActive: t.stated(t.doc("Off: no new deliveries, the history stays", t.boolean())),
  subscribedEvents: t.stated(t.doc("Names of the events it delivers", t.json(z.array(t.eventName())))),
  ...t.each("lastSuccessAt lastFailureAt disabledAt", t.orNull(t.timestamp())),
  disabledReason: t.orNull(t.text()),
  ...t.each("createdAt updatedAt", t.orNull(t.timestamp())),
});

/** The answer of create and rotate: the only time the secret is shown. Never stored in the mirror. */
export const webhookSubscriptionWithSecret = webhookSubscription.extend({
  plainTextSecret: t.stated(t.text()),
});

export const webhookSubscriptions = wholeResource("webhook_subscriptions", "Webhook subscriptions", {
  record: webhookSubscription,
  isTechnical: true,
  volatile: ["lastSuccessAt", "lastFailureAt"],
});
