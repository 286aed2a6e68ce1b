import { dates, newLine, said, someRecord, textOf, type Change } from "./change-context.ts";

/** Renames a client: its cases show the new name without an event. */
export const editClient: Change = (context) => {
  const client = someRecord(context, "clients");
  if (!client) return null;
  client.name = textOf(context, "Other client");
  client.city = context.choice.one([null, "Brno", ""]);
  client.updatedAtMs = context.nowMs();
  return said(context, "clients", client.id, "updated");
};

/** Renames a case. */
export const editCase: Change = (context) => {
  const one = someRecord(context, "business_cases");
  if (!one) return null;
  one.name = textOf(context, "Other case");
  one.updatedAtMs = context.nowMs();
  return said(context, "business_cases", one.id, "updated");
};

/** Changes what the list shows of an item, or moves its stock where only the detail shows it. */
export const editItem: Change = (context) => {
  const { choice } = context;
  const item = someRecord(context, "price_list_items");
  if (!item) return null;
  const kind = choice.below(4);
  if (kind === 0) item.name = `Item ${choice.below(4)}`;
  else if (kind === 1) item.priceCents = choice.below(10_000);
  else if (kind === 2) item.stocks = item.stocks.toReversed();
  else item.stocks = choice.one([[], [0, null], [choice.below(9), choice.below(9)]]);
  return said(context, "price_list_items", item.id, kind < 2 ? "updated" : "stock-updated");
};

/** Changes an invoice: what its list shows, its note, or its lines, down to none. */
export const editInvoice: Change = (context) => {
  const { choice } = context;
  const invoice = someRecord(context, "invoices");
  if (!invoice) return null;
  const kind = choice.below(6);
  if (kind === 0) invoice.issueDate = choice.one(dates);
  else if (kind === 1) invoice.note = choice.one([null, "", textOf(context, "A note")]);
  else if (kind === 2) invoice.lines = [];
  else if (kind === 3) invoice.lines.push(newLine(context));
  else if (kind === 4) invoice.lines.reverse();
  else for (const line of invoice.lines) line.name = textOf(context, "Other line");
  return said(context, "invoices", invoice.id, "updated");
};

/** Changes the text or the files of a CRM event. */
export const editActivity: Change = (context) => {
  const { company, choice, nowMs } = context;
  const activity = someRecord(context, "contact_activity_logs");
  if (!activity || !company.state[activity.parent.table].has(activity.parent.id)) return null;
  activity.content = textOf(context, "Other note");
  activity.attachments = choice.probability(0.5)
    ? []
    : [{ id: company.nextId("attachments"), name: "b.pdf" }];
  activity.updatedAtMs = nowMs();
  return said(context, "contact_activity_logs", activity.id, "updated");
};

/** Renames a unit: items show the new name; no event is sent. */
export const editUnit: Change = (context) => {
  const unit = someRecord(context, "units");
  if (!unit) return null;
  unit.name = textOf(context, "Other unit");
  return said(context, "units", unit.id, "updated");
};

/** The company gets another name; its documents show it too. No event is sent. */
export const renameCompany: Change = ({ company, choice }) => {
  company.state.name = `Acme ${choice.below(100)}`;
  company.touch("company", "invoices");
  company.publish();
  return `company is now ${company.state.name}`;
};

/** A new version of the service shows a field that no connector knows, or writes amounts otherwise. */
export const changeFormat: Change = (context) => {
  const { company, choice } = context;
  if (choice.probability(0.5)) return toggleUnknownField(context);
  const { state } = company;
  state.amountsAsText = !state.amountsAsText;
  company.touch("invoices", "document_payments", "price_list_items", "contact_activity_logs");
  company.publish();
  return `format: amounts ${state.amountsAsText ? "text" : "numbers"}`;
};

/** A new version of the service shows fields that no connector knows, or no more. */
export const toggleUnknownField: Change = ({ company }) => {
  company.state.hasUnknownField = !company.state.hasUnknownField;
  company.touch("clients", "invoices");
  company.publish();
  return `unknown field: ${company.state.hasUnknownField}`;
};

/** Events of received documents, which have no route, and of a type that no connector knows. */
export const oddEvent: Change = ({ company, choice }) => {
  const [type, resourceType] = choice.one([
    ["received-invoices.paid", "receivedInvoice"],
    ["loyalty-points.granted", "loyaltyPoint"],
    ["suppliers.updated", "supplier"],
  ] as const);
  const id = 1 + choice.below(99);
  company.emit(type, resourceType, id);
  return `event ${type} ${id}`;
};
