import { calls } from "../../support/http/client.ts";

export const basicCalls = calls(
  { operation: "token.whoami", call: (client) => client.whoami(), sends: "GET /whoami" },
  { operation: "lookups.banks", call: (client) => client.lookups.banks(), sends: "GET /banks" },
  { operation: "lookups.countries", call: (client) => client.lookups.countries(), sends: "GET /countries" },
  { operation: "lookups.languages", call: (client) => client.lookups.languages(), sends: "GET /languages" },
  {
    operation: "lookups.currencies",
    call: (client) => client.lookups.currencies(),
    sends: "GET /currencies",
  },
  {
    operation: "lookups.deliveryMethods",
    call: (client) => client.lookups.deliveryMethods(),
    sends: "GET /delivery-methods",
  },
  {
    operation: "lookups.paymentMethods",
    call: (client) => client.lookups.paymentMethods(),
    sends: "GET /payment-methods",
  },
  { operation: "lookups.qrTypes", call: (client) => client.lookups.qrTypes(), sends: "GET /qr-types" },
  { operation: "lookups.units", call: (client) => client.lookups.units(), sends: "GET /units" },
  {
    operation: "numericalSeries.list",
    call: (client) => client.numericalSeries.list({ documentType: "credit-note" }),
    sends: "GET /numerical-series",
    query: { documentType: "credit-note" },
  },
  {
    operation: "numericalSeries.show",
    call: (client) => client.numericalSeries.show(901),
    sends: "GET /numerical-series/901",
  },
  {
    operation: "subjects.search",
    call: (client) => client.subjects.search({ searchQuery: "Novák & syn", legalForm: "company", limit: 20 }),
    sends: "GET /subjects",
    query: { searchQuery: "Novák & syn", legalForm: "company", limit: 20 },
  },
  {
    operation: "subjects.show",
    call: (client) => client.subjects.show(36421928),
    sends: "GET /subjects/36421928",
  },
  {
    operation: "bankAccounts.list",
    call: (client) => client.bankAccounts.list(),
    sends: "GET /bank-accounts",
  },
  {
    operation: "bankAccounts.create",
    call: (client) => client.bankAccounts.create({ name: "Hlavný", iban: "SK31", swift: "TATRSKBX" }),
    sends: "POST /bank-accounts",
    json: { name: "Hlavný", iban: "SK31", swift: "TATRSKBX" },
  },
  {
    operation: "bankAccounts.show",
    call: (client) => client.bankAccounts.show(7),
    sends: "GET /bank-accounts/7",
  },
  {
    operation: "bankAccounts.update",
    call: (client) => client.bankAccounts.update(7, { isPrimary: true, bankId: null }),
    sends: "PATCH /bank-accounts/7",
    json: { isPrimary: true, bankId: null },
  },
  {
    operation: "bankAccounts.delete",
    call: (client) => client.bankAccounts.delete(7),
    sends: "DELETE /bank-accounts/7",
    expects: "nothing",
  },
  {
    operation: "webhookSubscriptions.list",
    call: (client) => client.webhookSubscriptions.list(),
    sends: "GET /webhook-subscriptions",
  },
  {
    operation: "webhookSubscriptions.create",
    call: (client) =>
      client.webhookSubscriptions.create({
        url: "https://hooks.example.com/in",
        isActive: true,
        subscribedEvents: ["invoices.paid"],
      }),
    sends: "POST /webhook-subscriptions",
    json: { url: "https://hooks.example.com/in", isActive: true, subscribedEvents: ["invoices.paid"] },
    keyed: true,
  },
  {
    operation: "webhookSubscriptions.show",
    call: (client) => client.webhookSubscriptions.show(7),
    sends: "GET /webhook-subscriptions/7",
  },
  {
    operation: "webhookSubscriptions.update",
    call: (client) =>
      client.webhookSubscriptions.update(7, {
        name: null,
        url: "https://hooks.example.com/in",
        isActive: false,
        subscribedEvents: ["invoices.viewed"],
      }),
    sends: "PUT /webhook-subscriptions/7",
    json: {
      name: null,
      url: "https://hooks.example.com/in",
      isActive: false,
      subscribedEvents: ["invoices.viewed"],
    },
  },
  {
    operation: "webhookSubscriptions.delete",
    call: (client) => client.webhookSubscriptions.delete(7),
    sends: "DELETE /webhook-subscriptions/7",
    expects: "nothing",
  },
  {
    operation: "webhookSubscriptions.rotateSecret",
    call: (client) => client.webhookSubscriptions.rotateSecret(7),
    sends: "POST /webhook-subscriptions/7/rotate-secret",
  },
);
