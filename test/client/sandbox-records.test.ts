import { expect, it } from "vitest";
import type { FintoroClient } from "../../connectors/fintoro/client/client.ts";
import { NotFoundError } from "../../src/connector/service-errors.ts";
import {
  first,
  newClient,
  openLive,
  receiptOf,
  slovakia,
  stockedItem,
  terms,
  work,
} from "../support/http/live-client.ts";

/** What most groups of the client promise. */
interface Group {
  readonly create: (input: never) => Promise<Made>;
  readonly show: (id: number) => Promise<object>;
  readonly update?: (id: number, input: never) => Promise<object>;
  readonly delete: (id: number) => Promise<void>;
  readonly pdf?: (id: number) => Promise<Buffer>;
}
type Made = { readonly id: number };

/** A record of each kind: what is sent, what a change sends, and what is shown then. */
interface Kind {
  readonly group: Group;
  readonly input: object;
  readonly change?: object;
  readonly shows?: object;
  readonly list: () => Promise<unknown>;
}

const party = {
  name: "Ďurko & synovia, s.r.o.",
  subjectId: "36421928",
  vatId: "SK2021234567",
  city: "Košice",
};
const hook = {
  name: "zrkadlo",
  url: "https://hooks.example.com/in",
  isActive: true,
  subscribedEvents: ["orders.created"],
};
const item = { name: "Podložka", unitPrice: 0.00123, unitId: 1, vatRate: 23, purchasePrice: -0.1 };
const phone = { content: "Volal", personName: "Eva", phoneNumber: "+421 900 000 001" };
const dates = { issueDate: "2026-11-20", dueDate: "2026-11-30", deliveryDate: "2026-11-20" };

const kinds: Readonly<Record<string, (client: FintoroClient, clientId: number) => Kind | Promise<Kind>>> = {
  "a client": ({ clients: group }) => ({
    group,
    input: { ...party, countryId: slovakia, preferredVariableSymbol: 9_999_999_999, deliveryCity: "Žilina" },
    change: { name: party.name },
    shows: { name: party.name, vatId: null, preferredVariableSymbol: null, hasDeliveryAddress: false },
    list: () => group.list({ subjectId: party.subjectId }),
  }),
  "a supplier": ({ suppliers: group }) => ({
    group,
    input: party,
    change: { name: "Ďurko a dcéry" },
    shows: { name: "Ďurko a dcéry", vatId: null },
    list: () => group.list({ search: "Ďurko" }),
  }),
  "a bank account": ({ bankAccounts: group }) => ({
    group,
    input: { name: "Druhý", iban: "SK31 1200 0000 1987 4263 7541", swift: "TATRSKBX", bankId: 23 },
    change: { name: "Premenovaný" },
    shows: { name: "Premenovaný", iban: "SK3112000000198742637541", bank: { id: 23 }, isPrimary: true },
    list: () => group.list(),
  }),
  "a status of business cases": ({ businessCaseStatuses: group }) => ({
    group,
    input: { name: "Čaká", color: "#12AB9f" },
    change: { name: "Trvá", color: "#000" },
    shows: { name: "Trvá", color: "#000" },
    list: () => group.list(),
  }),
  "a business case": async ({ businessCases: group, businessCaseStatuses }, clientId) => ({
    group,
    input: { clientId, name: "Strecha", statusId: first(await businessCaseStatuses.list()).id },
    change: { description: "do jari", statusId: null },
    shows: { name: "Strecha", description: "do jari", status: null, contactId: clientId },
    list: () => group.list({ clientId }),
  }),
  "a CRM event": ({ contactActivityLogs: group }, clientId) => ({
    group,
    input: { clientId, type: "phone_call", metadata: phone },
    change: { metadata: { ...phone, content: "Volal znova" } },
    shows: { clientId, metadata: { ...phone, content: "Volal znova" } },
    list: () => group.list({ clientId, type: "phone_call" }),
  }),
  "a price-list item": ({ priceListItems: group }) => ({
    group,
    input: { ...item, ean: "8580000000017" },
    change: { ...item, unitPrice: 9_999_999_999.99 },
    shows: { unitPrice: 9_999_999_999.99, ean: null, stock: 0 },
    list: () => group.list({ name: "Podložka" }),
  }),
  "a webhook subscription": ({ webhookSubscriptions: group }) => ({
    group,
    input: hook,
    change: { ...hook, isActive: false },
    shows: { ...hook, isActive: false },
    list: () => group.list(),
  }),
  "an inbound receipt": async (client) => {
    const { warehouse, item: stocked } = await stockedItem(client, 10.5);
    const receipt = (quantity: number) =>
      receiptOf(warehouse.id, "PR-2", { priceListItemId: stocked.id, quantity });
    const { warehouseInboundReceipts: group } = client;
    return {
      group,
      input: { ...receipt(2), supplier: { name: "Železiarstvo", vatId: "SK2999999999" } },
      change: receipt(12.25),
      shows: { number: "PR-2", items: [{ quantity: 12.25 }], supplierId: null },
      list: () => group.list({ number: "PR-2" }),
    };
  },
  "an outbound receipt": async (client, clientId) => {
    const { warehouse, item: stocked } = await stockedItem(client, 10);
    const receipt = (quantity: number) =>
      receiptOf(warehouse.id, "VR-1", { priceListItemId: stocked.id, quantity });
    const { warehouseOutboundReceipts: group } = client;
    return {
      group,
      input: { ...receipt(4), clientId },
      change: { ...receipt(10), clientId },
      shows: { clientId, total: 0.5, totalWithVat: 0.62 },
      list: () => group.list({ clientId }),
    };
  },
  "an invoice": ({ invoices: group }, clientId) => ({
    group,
    input: { clientId, number: "2026-A/1", items: [work], currencyId: 5, currencyRate: 24.31055 },
    change: { clientId, number: "2026-A/1", items: [{ ...work, quantity: 2 }] },
    shows: { number: "2026-A/1", currencyRate: 1, total: 80, totalWithVat: 98.4, status: "unpaid" },
    list: () => group.list({ number: "2026-A/1", clientId }),
  }),
  "a credit note": async ({ creditNotes: group, invoices }, clientId) => {
    const { id: invoiceId, bankAccount } = await invoices.create({ clientId, items: [work] });
    const body = (unitPrice: number) => {
      const own = { invoiceId, number: "D-1", bankAccountId: bankAccount.id, variableSymbol: 1 };
      return { ...own, ...dates, ...terms, items: [{ ...work, unitPrice }] };
    };
    const shows = { invoiceId, clientId, total: -0.01, totalWithVat: -0.01 };
    return { group, input: body(-10), change: body(-0.01), shows, list: () => group.list({ number: "D-1" }) };
  },
  "a proforma": ({ proformas: group }, clientId) => ({
    group,
    input: { clientId, number: "Z-1", items: [work], dueDateDays: 7, issueDate: "2026-11-20" },
    change: { clientId, number: "Z-1", items: [work], issueDate: "2026-11-20" },
    shows: { dueDate: "2026-12-04", toBePaid: 49.2 },
    list: () => group.list({ number: "Z-1" }),
  }),
  "an order": ({ orders: group }, clientId) => ({
    group,
    input: { clientId, number: "O-1", items: [work] },
    change: { clientId, number: "O-1", items: [work], discountType: "fixed", discountValue: 4 },
    shows: { total: 36, itemsTotal: 40 },
    list: () => group.list({ number: "O-1" }),
  }),
  "a quotation": ({ quotations: group }, clientId) => ({
    group,
    input: { clientId, number: "C-1", items: [work], validityDate: "2026-12-31" },
    change: { clientId, number: "C-1", items: [work], transferTaxLiability: true },
    shows: { totalWithVat: 40, hasVat: false, status: "waiting" },
    list: () => group.list({ number: "C-1" }),
  }),
  "a payment": async ({ documentPayments: group, invoices }, clientId) => {
    const { id: documentId } = await invoices.create({ clientId, items: [work] });
    const payment = {
      paymentDate: "2026-10-31",
      currencyRate: 25,
      amount: 1230,
      currencyId: 5,
      paymentMethodId: 6,
    };
    const input = { ...payment, documentType: "invoice", documentId };
    return { group, input, list: () => group.list({ documentType: "invoice", documentId }) };
  },
};

it.each(Object.entries(kinds))("%s is made, found, changed and deleted", async (_, kindOf) => {
  const { client } = await openLive();
  const { group, input, change, shows = {}, list } = await kindOf(client, (await newClient(client)).id);
  const { plainTextSecret: _secret, ...made } = (await group.create(input as never)) as Made & {
    plainTextSecret?: string;
  };
  expect(await group.show(made.id)).toEqual(made);
  expect(JSON.stringify(await list())).toContain(`"id":${made.id},`);
  if (change && group.update)
    expect(await group.update(made.id, change as never)).toMatchObject({ id: made.id, ...shows });
  if (group.pdf) expect((await group.pdf(made.id)).toString("latin1")).toMatch(/^%PDF-[^]*%%EOF\s*$/);
  expect(await group.delete(made.id)).toBeUndefined();
  await expect(group.show(made.id)).rejects.toBeInstanceOf(NotFoundError);
});
