import { calls } from "../../support/http/client.ts";

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

export const documentCalls = calls(
  {
    operation: "invoices.list",
    call: (client) =>
      client.invoices.list({ paymentStatus: "overdue", issueDateFrom: "2026-01-01", perPage: 500 }),
    sends: "GET /invoices",
    query: { paymentStatus: "overdue", issueDateFrom: "2026-01-01", perPage: 500 },
  },
  {
    operation: "invoices.create",
    call: (client) => client.invoices.create(sale),
    sends: "POST /invoices",
    json: sale,
    keyed: true,
  },
  { operation: "invoices.show", call: (client) => client.invoices.show(7), sends: "GET /invoices/7" },
  {
    operation: "invoices.update",
    call: (client) => client.invoices.update(7, { ...sale, items: [kept] }),
    sends: "PUT /invoices/7",
    json: { ...sale, items: [kept] },
  },
  {
    operation: "invoices.delete",
    call: (client) => client.invoices.delete(7),
    sends: "DELETE /invoices/7",
    expects: "nothing",
  },
  {
    operation: "invoices.createCreditNote",
    call: (client) => client.invoices.createCreditNote(7, { note: null }),
    sends: "POST /invoices/7/credit-notes",
    json: { note: null },
    keyed: true,
  },
  {
    operation: "invoices.pdf",
    call: (client) => client.invoices.pdf(7),
    sends: "GET /invoices/7/pdf",
    expects: "bytes",
  },
  {
    operation: "creditNotes.list",
    call: (client) => client.creditNotes.list({ sortBy: "total", sortDirection: "desc" }),
    sends: "GET /credit-notes",
    query: { sortBy: "total", sortDirection: "desc" },
  },
  {
    operation: "creditNotes.create",
    call: (client) => client.creditNotes.create(creditNote),
    sends: "POST /credit-notes",
    json: creditNote,
    keyed: true,
  },
  {
    operation: "creditNotes.show",
    call: (client) => client.creditNotes.show(7),
    sends: "GET /credit-notes/7",
  },
  {
    operation: "creditNotes.update",
    call: (client) => client.creditNotes.update(7, { ...creditNote, items: [kept] }),
    sends: "PUT /credit-notes/7",
    json: { ...creditNote, items: [kept] },
  },
  {
    operation: "creditNotes.delete",
    call: (client) => client.creditNotes.delete(7),
    sends: "DELETE /credit-notes/7",
    expects: "nothing",
  },
  {
    operation: "creditNotes.pdf",
    call: (client) => client.creditNotes.pdf(7),
    sends: "GET /credit-notes/7/pdf",
    expects: "bytes",
  },
  {
    operation: "proformas.list",
    call: (client) => client.proformas.list({ withoutInvoice: true }),
    sends: "GET /proformas",
    query: { withoutInvoice: true },
  },
  {
    operation: "proformas.create",
    call: (client) => client.proformas.create({ client: { name: "Nový" }, items: [line] }),
    sends: "POST /proformas",
    json: { client: { name: "Nový" }, items: [line] },
    keyed: true,
  },
  { operation: "proformas.show", call: (client) => client.proformas.show(7), sends: "GET /proformas/7" },
  {
    operation: "proformas.update",
    call: (client) => client.proformas.update(7, sale),
    sends: "PUT /proformas/7",
    json: sale,
  },
  {
    operation: "proformas.delete",
    call: (client) => client.proformas.delete(7),
    sends: "DELETE /proformas/7",
    expects: "nothing",
  },
  {
    operation: "proformas.pdf",
    call: (client) => client.proformas.pdf(7),
    sends: "GET /proformas/7/pdf",
    expects: "bytes",
  },
  {
    operation: "orders.list",
    call: (client) => client.orders.list({ withoutProforma: false, totalTo: 100.5 }),
    sends: "GET /orders",
    query: { withoutProforma: false, totalTo: 100.5 },
  },
  {
    operation: "orders.create",
    call: (client) => client.orders.create({ ...sale, quotationId: 9 }),
    sends: "POST /orders",
    json: { ...sale, quotationId: 9 },
    keyed: true,
  },
  { operation: "orders.show", call: (client) => client.orders.show(7), sends: "GET /orders/7" },
  {
    operation: "orders.update",
    call: (client) => client.orders.update(7, sale),
    sends: "PUT /orders/7",
    json: sale,
  },
  {
    operation: "orders.delete",
    call: (client) => client.orders.delete(7),
    sends: "DELETE /orders/7",
    expects: "nothing",
  },
  {
    operation: "orders.pdf",
    call: (client) => client.orders.pdf(7),
    sends: "GET /orders/7/pdf",
    expects: "bytes",
  },
  {
    operation: "quotations.list",
    call: (client) => client.quotations.list({ status: "waiting", validityDateTo: "2026-12-31" }),
    sends: "GET /quotations",
    query: { status: "waiting", validityDateTo: "2026-12-31" },
  },
  {
    operation: "quotations.create",
    call: (client) => client.quotations.create({ ...sale, validityDate: null }),
    sends: "POST /quotations",
    json: { ...sale, validityDate: null },
    keyed: true,
  },
  { operation: "quotations.show", call: (client) => client.quotations.show(7), sends: "GET /quotations/7" },
  {
    operation: "quotations.update",
    call: (client) => client.quotations.update(7, sale),
    sends: "PUT /quotations/7",
    json: sale,
  },
  {
    operation: "quotations.delete",
    call: (client) => client.quotations.delete(7),
    sends: "DELETE /quotations/7",
    expects: "nothing",
  },
  {
    operation: "quotations.pdf",
    call: (client) => client.quotations.pdf(7),
    sends: "GET /quotations/7/pdf",
    expects: "bytes",
  },
  {
    operation: "documentPayments.list",
    call: (client) => client.documentPayments.list({ documentType: "received-invoice", documentId: 4 }),
    sends: "GET /document-payments",
    query: { documentType: "received-invoice", documentId: 4 },
  },
  {
    operation: "documentPayments.create",
    call: (client) =>
      client.documentPayments.create({ documentType: "invoice", documentId: 4, amount: 12.3 }),
    sends: "POST /document-payments",
    json: { documentType: "invoice", documentId: 4, amount: 12.3 },
    keyed: true,
  },
  {
    operation: "documentPayments.show",
    call: (client) => client.documentPayments.show(7),
    sends: "GET /document-payments/7",
  },
  {
    operation: "documentPayments.delete",
    call: (client) => client.documentPayments.delete(7),
    sends: "DELETE /document-payments/7",
    expects: "nothing",
  },
  {
    operation: "documentMails.send",
    call: (client) =>
      client.documentMails.send({
        documentType: "order",
        documentId: 4,
        to: ["jan@novák.sk"],
        type: "reminder",
      }),
    sends: "POST /document-mails",
    json: { documentType: "order", documentId: 4, to: ["jan@novák.sk"], type: "reminder" },
    expects: "nothing",
    keyed: true,
  },
);
