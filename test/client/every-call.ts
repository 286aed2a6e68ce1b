import type { FintoroClient } from "../../connectors/fintoro/client/client.ts";

const note = { type: "note", metadata: { content: "Zavolať v pondelok 📞" } } as const;
const warehouse = {
  name: "Sklad",
  code: "S1",
  inboundNumericalSeriesPattern: "P{n}",
  inboundNumericalSeriesNextNumber: 1,
  outboundNumericalSeriesPattern: "V{n}",
  outboundNumericalSeriesNextNumber: 1,
};

const receipt = {
  number: "P1",
  warehouseId: 1,
  languageId: 1,
  issueDate: "2026-11-21",
  items: [{ priceListItemId: 5, quantity: 0.5, unitPrice: -3.1, vatRate: 23 }],
};

const item = { name: "Skrutka", unitPrice: 0.05, unitId: 1, vatRate: 23 };
const line = { name: "Práca", unitPrice: 40, vatRate: 23, quantity: 2 };
const kept = { ...line, uuid: "0198c2a0-0000-4000-8000-000000000001" };
const sale = { clientId: 3, items: [line] };
const creditNote = {
  invoiceId: 4,
  number: "D20260001",
  issueDate: "2026-11-21",
  dueDate: "2026-11-21",
  deliveryDate: "2026-11-21",
  bankAccountId: 1,
  variableSymbol: 9_999_999_999,
  transferTaxLiability: false,
  paymentMethodId: 1,
  currencyId: 1,
  currencyRate: 1,
  languageId: 1,
  items: [{ ...line, quantity: 1, unitPrice: -40 }],
};

type Groups = Omit<FintoroClient, "whoami">;
type Parameters<M> = M extends (...args: infer A extends unknown[]) => unknown ? A : never;

/** A method of the client, what it must send, and the arguments that it is called with. */
function row<G extends keyof Groups, M extends string & keyof Groups[G]>(
  group: G,
  method: M,
  sends: string,
  ...args: Parameters<Groups[G][M]>
) {
  const call = (client: FintoroClient) =>
    (client[group][method] as (...given: unknown[]) => Promise<unknown>)(...args);
  return { operation: `${group}.${method}`, sends, args: args as readonly unknown[], call };
}

/** Each method of the client once. What it sends besides the path is what it was given. */
export const everyCall = [
  {
    operation: "token.whoami",
    sends: "GET /whoami",
    args: [],
    call: (client: FintoroClient) => client.whoami(),
  },
  row("lookups", "banks", "GET /banks"),
  row("lookups", "countries", "GET /countries"),
  row("lookups", "languages", "GET /languages"),
  row("lookups", "currencies", "GET /currencies"),
  row("lookups", "deliveryMethods", "GET /delivery-methods"),
  row("lookups", "paymentMethods", "GET /payment-methods"),
  row("lookups", "qrTypes", "GET /qr-types"),
  row("lookups", "units", "GET /units"),
  row("numericalSeries", "list", "GET /numerical-series", { documentType: "credit-note" }),
  row("numericalSeries", "show", "GET /numerical-series/901", 901),
  row("subjects", "search", "GET /subjects", { searchQuery: "Novák & syn", legalForm: "company", limit: 20 }),
  row("subjects", "show", "GET /subjects/36421928", 36421928),
  row("bankAccounts", "list", "GET /bank-accounts"),
  row("bankAccounts", "create", "POST /bank-accounts", { name: "Hlavný", iban: "SK31", swift: "TATRSKBX" }),
  row("bankAccounts", "show", "GET /bank-accounts/7", 7),
  row("bankAccounts", "update", "PATCH /bank-accounts/7", 7, { isPrimary: true, bankId: null }),
  row("bankAccounts", "delete", "DELETE /bank-accounts/7", 7),
  row("webhookSubscriptions", "list", "GET /webhook-subscriptions"),
  row("webhookSubscriptions", "create", "POST /webhook-subscriptions", {
    url: "https://hooks.example.com/in",
    isActive: true,
    subscribedEvents: ["invoices.paid"],
  }),
  row("webhookSubscriptions", "show", "GET /webhook-subscriptions/7", 7),
  row("webhookSubscriptions", "update", "PUT /webhook-subscriptions/7", 7, {
    name: null,
    url: "https://hooks.example.com/in",
    isActive: false,
    subscribedEvents: ["invoices.viewed"],
  }),
  row("webhookSubscriptions", "delete", "DELETE /webhook-subscriptions/7", 7),
  row("webhookSubscriptions", "rotateSecret", "POST /webhook-subscriptions/7/rotate-secret", 7),
  row("clients", "list", "GET /clients", { search: "Žilina", sortBy: "countryId", type: "company" }),
  row("clients", "create", "POST /clients", { name: "Kováč s.r.o.", vatId: null }),
  row("clients", "show", "GET /clients/7", 7),
  row("clients", "update", "PUT /clients/7", 7, { name: "Kováč", preferredDueDays: 365 }),
  row("clients", "delete", "DELETE /clients/7", 7),
  row("suppliers", "list", "GET /suppliers"),
  row("suppliers", "create", "POST /suppliers", { name: "Dodávky a.s.", type: "company" }),
  row("suppliers", "show", "GET /suppliers/7", 7),
  row("suppliers", "update", "PUT /suppliers/7", 7, { name: "Dodávky" }),
  row("suppliers", "delete", "DELETE /suppliers/7", 7),
  row("businessCaseStatuses", "list", "GET /business-case-statuses"),
  row("businessCaseStatuses", "create", "POST /business-case-statuses", { name: "Nový", color: "#00ff00" }),
  row("businessCaseStatuses", "show", "GET /business-case-statuses/7", 7),
  row("businessCaseStatuses", "update", "PUT /business-case-statuses/7", 7, { name: "Nový", color: "#fff" }),
  row("businessCaseStatuses", "delete", "DELETE /business-case-statuses/7", 7),
  row("businessCases", "list", "GET /business-cases", {
    statusId: null,
    sortBy: "boardPosition",
    perPage: 200,
  }),
  row("businessCases", "create", "POST /business-cases", { clientId: 3, name: "Strecha", statusId: null }),
  row("businessCases", "show", "GET /business-cases/7", 7),
  row("businessCases", "update", "PATCH /business-cases/7", 7, { description: null }),
  row("businessCases", "delete", "DELETE /business-cases/7", 7),
  row("contactActivityLogs", "list", "GET /contact-activity-logs", {
    clientId: 3,
    type: "phone_call",
    page: 2,
  }),
  row("contactActivityLogs", "create", "POST /contact-activity-logs", {
    ...note,
    supplierId: 3,
    attachmentUploadTokens: ["t1"],
  }),
  row("contactActivityLogs", "show", "GET /contact-activity-logs/7", 7),
  row("contactActivityLogs", "update", "PATCH /contact-activity-logs/7", 7, {
    metadata: {},
    deletedAttachmentIds: [1, 2],
  }),
  row("contactActivityLogs", "delete", "DELETE /contact-activity-logs/7", 7),
  row("contactActivityLogs", "attachments", "GET /contact-activity-logs/7/attachments", 7),
  row("contactActivityAttachments", "upload", "POST /contact-activity-attachments", [
    new File(["obsah"], "zmluva.txt"),
  ]),
  row("warehouses", "list", "GET /warehouses"),
  row("warehouses", "create", "POST /warehouses", warehouse),
  row("warehouses", "show", "GET /warehouses/7", 7),
  row("warehouses", "update", "PUT /warehouses/7", 7, warehouse),
  row("warehouses", "delete", "DELETE /warehouses/7", 7),
  row("warehouseInboundReceipts", "list", "GET /warehouse-inbound-receipts", {
    warehouseId: 1,
    sortBy: "issue_date",
    perPage: 200,
  }),
  row("warehouseInboundReceipts", "create", "POST /warehouse-inbound-receipts", {
    ...receipt,
    supplier: { name: "Dodávky" },
  }),
  row("warehouseInboundReceipts", "show", "GET /warehouse-inbound-receipts/7", 7),
  row("warehouseInboundReceipts", "update", "PUT /warehouse-inbound-receipts/7", 7, receipt),
  row("warehouseInboundReceipts", "delete", "DELETE /warehouse-inbound-receipts/7", 7),
  row("warehouseInboundReceipts", "pdf", "GET /warehouse-inbound-receipts/7/pdf", 7),
  row("warehouseOutboundReceipts", "list", "GET /warehouse-outbound-receipts", { clientId: 3 }),
  row("warehouseOutboundReceipts", "create", "POST /warehouse-outbound-receipts", {
    ...receipt,
    clientId: 3,
  }),
  row("warehouseOutboundReceipts", "show", "GET /warehouse-outbound-receipts/7", 7),
  row("warehouseOutboundReceipts", "update", "PUT /warehouse-outbound-receipts/7", 7, receipt),
  row("warehouseOutboundReceipts", "delete", "DELETE /warehouse-outbound-receipts/7", 7),
  row("warehouseOutboundReceipts", "pdf", "GET /warehouse-outbound-receipts/7/pdf", 7),
  row("priceListItems", "list", "GET /price-list-items", {
    onlyWarehouseItems: true,
    priceFrom: 0.1,
    sortBy: "unit_price",
  }),
  row("priceListItems", "create", "POST /price-list-items", item),
  row("priceListItems", "show", "GET /price-list-items/7", 7),
  row("priceListItems", "update", "PUT /price-list-items/7", 7, item),
  row("priceListItems", "delete", "DELETE /price-list-items/7", 7),
  row("invoices", "list", "GET /invoices", {
    paymentStatus: "overdue",
    issueDateFrom: "2026-01-01",
    perPage: 500,
  }),
  row("invoices", "create", "POST /invoices", sale),
  row("invoices", "show", "GET /invoices/7", 7),
  row("invoices", "update", "PUT /invoices/7", 7, { ...sale, items: [kept] }),
  row("invoices", "delete", "DELETE /invoices/7", 7),
  row("invoices", "createCreditNote", "POST /invoices/7/credit-notes", 7, { note: null }),
  row("invoices", "pdf", "GET /invoices/7/pdf", 7),
  row("creditNotes", "list", "GET /credit-notes", { sortBy: "total", sortDirection: "desc" }),
  row("creditNotes", "create", "POST /credit-notes", creditNote),
  row("creditNotes", "show", "GET /credit-notes/7", 7),
  row("creditNotes", "update", "PUT /credit-notes/7", 7, { ...creditNote, items: [kept] }),
  row("creditNotes", "delete", "DELETE /credit-notes/7", 7),
  row("creditNotes", "pdf", "GET /credit-notes/7/pdf", 7),
  row("proformas", "list", "GET /proformas", { withoutInvoice: true }),
  row("proformas", "create", "POST /proformas", { client: { name: "Nový" }, items: [line] }),
  row("proformas", "show", "GET /proformas/7", 7),
  row("proformas", "update", "PUT /proformas/7", 7, sale),
  row("proformas", "delete", "DELETE /proformas/7", 7),
  row("proformas", "pdf", "GET /proformas/7/pdf", 7),
  row("orders", "list", "GET /orders", { withoutProforma: false, totalTo: 100.5 }),
  row("orders", "create", "POST /orders", { ...sale, quotationId: 9 }),
  row("orders", "show", "GET /orders/7", 7),
  row("orders", "update", "PUT /orders/7", 7, sale),
  row("orders", "delete", "DELETE /orders/7", 7),
  row("orders", "pdf", "GET /orders/7/pdf", 7),
  row("quotations", "list", "GET /quotations", { status: "waiting", validityDateTo: "2026-12-31" }),
  row("quotations", "create", "POST /quotations", { ...sale, validityDate: null }),
  row("quotations", "show", "GET /quotations/7", 7),
  row("quotations", "update", "PUT /quotations/7", 7, sale),
  row("quotations", "delete", "DELETE /quotations/7", 7),
  row("quotations", "pdf", "GET /quotations/7/pdf", 7),
  row("documentPayments", "list", "GET /document-payments", {
    documentType: "received-invoice",
    documentId: 4,
  }),
  row("documentPayments", "create", "POST /document-payments", {
    documentType: "invoice",
    documentId: 4,
    amount: 12.3,
  }),
  row("documentPayments", "show", "GET /document-payments/7", 7),
  row("documentPayments", "delete", "DELETE /document-payments/7", 7),
  row("documentMails", "send", "POST /document-mails", {
    documentType: "order",
    documentId: 4,
    to: ["jan@novák.sk"],
    type: "reminder",
  }),
];
