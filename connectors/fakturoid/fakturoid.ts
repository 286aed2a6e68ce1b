import type { Manifest } from "../../src/connector/connector-manifest.ts";
import { knownFakturoid } from "./known-fakturoid.ts";
import { expenses, invoices } from "./resources/invoices-and-expenses.ts";
import {
  account,
  bankAccounts,
  generators,
  numberFormats,
  recurringGenerators,
  subjects,
} from "./resources/settings.ts";

/** The Fakturoid API, version 3: reading only. */
export const fakturoid: Manifest = Object.freeze({
  name: knownFakturoid.name,
  title: "Fakturoid",
  baseUrl: knownFakturoid.baseUrl,
  protocol: knownFakturoid.protocol,
  limits: { requests: 400, windowMs: 60_000 },
  languages: knownFakturoid.languages,
  resources: [
    account,
    bankAccounts,
    numberFormats,
    subjects,
    generators,
    recurringGenerators,
    invoices,
    expenses,
  ],
  events: [],
  cascades: [],
  identity: {
    resource: account.name,
    nameField: "subdomain",
    businessIdColumn: "your_registration_no",
    businessIdIn: [invoices.name],
    proofs: [
      { field: "number", resources: [invoices.name] },
      { field: "name", resources: [subjects.name] },
    ],
  },
  operations: [],
});
