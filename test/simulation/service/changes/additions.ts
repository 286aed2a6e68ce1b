import { dates, newLine, said, someId, textOf, type Change } from "./change-context.ts";

/** Adds a client. */
export const addClient: Change = (context) => {
  const { company, nowMs } = context;
  const id = company.nextId("clients");
  const client = { id, name: textOf(context, "Client"), city: null, updatedAtMs: nowMs() };
  company.state.clients.set(id, client);
  return said(context, "clients", id, "created");
};

/** Adds a unit of measure; no event is sent. */
export const addUnit: Change = (context) => {
  const { company } = context;
  const id = company.nextId("units");
  company.state.units.set(id, { id, name: textOf(context, "unit") });
  return said(context, "units", id, "created");
};

/** Adds a business case of a client. */
export const addCase: Change = (context) => {
  const { company, nowMs } = context;
  const clientId = someId(context, "clients");
  if (clientId === null) return null;
  const id = company.nextId("business_cases");
  const name = textOf(context, "Case");
  company.state.business_cases.set(id, { id, clientId, name, description: null, updatedAtMs: nowMs() });
  return said(context, "business_cases", id, "created");
};

/** Adds an item with stock; names may be the same. */
export const addItem: Change = (context) => {
  const { company, choice } = context;
  const unitId = someId(context, "units");
  if (unitId === null) return null;
  const id = company.nextId("price_list_items");
  const name = `Item ${choice.below(4)}`;
  const stocks = [choice.below(9), choice.probability(0.5) ? choice.below(9) : null];
  const item = { id, name, unitId, priceCents: choice.below(10_000), stocks, ean: null };
  company.state.price_list_items.set(id, item);
  return said(context, "price_list_items", id, "created");
};

/** Adds an invoice with up to three lines. */
export const addInvoice: Change = (context) => {
  const { company, choice } = context;
  const clientId = someId(context, "clients");
  if (clientId === null) return null;
  const id = company.nextId("invoices");
  const { businessId } = company.state;
  company.state.invoices.set(id, {
    id,
    uuid: `${businessId}-${id}`,
    number: `2026${String(id).padStart(5, "0")}`,
    issueDate: choice.one(dates),
    clientId,
    clientName: company.state.clients.get(clientId)?.name ?? "",
    note: null,
    lines: Array.from({ length: choice.below(4) }, () => newLine(context)),
  });
  return said(context, "invoices", id, "created");
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
  company.state.contact_activity_logs.set(id, activity);
  return said(context, "contact_activity_logs", id, "created");
};

/** Records a payment; the invoice changes with it, mostly without an event of its own. */
export const addPayment: Change = (context) => {
  const { company, choice } = context;
  const invoiceId = someId(context, "invoices");
  const invoice = invoiceId === null ? undefined : company.state.invoices.get(invoiceId);
  if (!invoice) return null;
  const id = company.nextId("document_payments");
  const total = invoice.lines.reduce((sum, { cents }) => sum + cents, 0);
  const cents = choice.probability(0.5) ? total : 1 + choice.below(1_000);
  const payment = { id, invoiceId: invoice.id, cents, paymentDate: choice.one(dates) };
  company.state.document_payments.set(id, payment);
  const what = said(context, "document_payments", id, "created");
  if (cents === total && !context.silent) company.announce("invoices", invoice.id, "paid");
  return what;
};
