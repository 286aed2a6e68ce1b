import { added, dates, newLine, someId, someRecord, textOf, type Change } from "./change-context.ts";

/** Adds a client. */
export const addClient: Change = (context) => {
  const id = context.company.nextId("clients");
  const name = textOf(context, "Client");
  return added(context, "clients", { id, name, city: null, updatedAtMs: context.nowMs() });
};

/** Adds a unit of measure; no event is sent. */
export const addUnit: Change = (context) => {
  const id = context.company.nextId("units");
  return added(context, "units", { id, name: textOf(context, "unit") });
};

/** Adds a business case of a client. */
export const addCase: Change = (context) => {
  const clientId = someId(context, "clients");
  if (clientId === null) return null;
  const id = context.company.nextId("business_cases");
  const name = textOf(context, "Case");
  const updatedAtMs = context.nowMs();
  return added(context, "business_cases", { id, clientId, name, description: null, updatedAtMs });
};

/** Adds an item with stock; names may be the same. */
export const addItem: Change = (context) => {
  const { company, choice } = context;
  const unitId = someId(context, "units");
  if (unitId === null) return null;
  const id = company.nextId("price_list_items");
  const name = `Item ${choice.below(4)}`;
  const stocks = [choice.below(9), choice.probability(0.5) ? choice.below(9) : null];
  const priceCents = choice.below(10_000);
  return added(context, "price_list_items", { id, name, unitId, priceCents, stocks, ean: null });
};

/** Adds an invoice with up to three lines. */
export const addInvoice: Change = (context) => {
  const { company, choice } = context;
  const client = someRecord(context, "clients");
  if (!client) return null;
  const id = company.nextId("invoices");
  return added(context, "invoices", {
    id,
    uuid: `${company.state.businessId}-${id}`,
    number: `2026${String(id).padStart(5, "0")}`,
    issueDate: choice.one(dates),
    clientId: client.id,
    clientName: client.name,
    note: null,
    lines: Array.from({ length: choice.below(4) }, () => newLine(context)),
  });
};

/** Adds a CRM event: a note, or one that shows an invoice. */
export const addActivity: Change = (context) => {
  const { company, choice, nowMs } = context;
  const table = choice.one(["clients", "business_cases"] as const);
  const parentId = someId(context, table);
  if (parentId === null) return null;
  const id = company.nextId("contact_activity_logs");
  const invoiceId = choice.probability(0.3) ? someId(context, "invoices") : null;
  const content = choice.probability(0.2) ? "" : textOf(context, "Note");
  const parent = { table, id: parentId };
  const attachments = choice.probability(0.3) ? [{ id: company.nextId("attachments"), name: "a.pdf" }] : [];
  const activity = { id, parent, content, invoiceId, attachments, updatedAtMs: nowMs() };
  return added(context, "contact_activity_logs", activity);
};

/** Records a payment; the invoice changes with it, mostly without an event of its own. */
export const addPayment: Change = (context) => {
  const { company, choice } = context;
  const invoice = someRecord(context, "invoices");
  if (!invoice) return null;
  const id = company.nextId("document_payments");
  const total = invoice.lines.reduce((sum, { cents }) => sum + cents, 0);
  const cents = choice.probability(0.5) ? total : 1 + choice.below(1_000);
  const payment = { id, invoiceId: invoice.id, cents, paymentDate: choice.one(dates) };
  const what = added(context, "document_payments", payment);
  if (cents === total && !context.silent) company.announce("invoices", invoice.id, "paid");
  return what;
};
