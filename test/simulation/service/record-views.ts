import type { ActivityModel, CompanyState, InvoiceModel, PaymentModel, RecordOf } from "./record-models.ts";
import type { Shown, TableName } from "./service-types.ts";

type View = (state: CompanyState, id: number) => Shown | null;

/** What each resource shows of a record now; null where the record is not there. */
export const views: Readonly<Record<TableName, View>> = {
  company: (state) => full({ name: state.name }),
  units: viewOf("units", (_state, { id, name }) => full({ id, name })),
  clients: viewOf("clients", client),
  business_cases: viewOf("business_cases", businessCase),
  price_list_items: viewOf("price_list_items", priceListItem),
  invoices: viewOf("invoices", invoice),
  document_payments: viewOf("document_payments", (state, payment) => full(paymentOf(state, payment))),
  contact_activity_logs: viewOf("contact_activity_logs", activityShown),
};

function viewOf<T extends Exclude<TableName, "company">>(
  table: T,
  show: (state: CompanyState, record: RecordOf<T>) => Shown,
): View {
  return (state, id) => {
    const record = (state[table] as Map<number, RecordOf<T>>).get(id);
    return record ? show(state, record) : null;
  };
}

/** More digits than a number of JavaScript holds. */
const longNumber = "1234567890123456789#";

/** PHP writes long numbers as they are. */
function full(record: object, keys: Shown["keys"] = {}): Shown {
  const text = textOf(record);
  return { detail: text, listed: text, keys };
}

/** A full record that its list may write in another order. */
function asListed({ reordersKeys }: CompanyState, record: object, keys: Shown["keys"] = {}): Shown {
  const listed = reordersKeys ? Object.fromEntries(Object.entries(record).toReversed()) : record;
  return { detail: textOf(record), listed: textOf(listed), reordered: textOf(listed), keys };
}

function textOf(record: object): string {
  return JSON.stringify(record).replace(/"(\d+)#"/, "$1");
}

function iso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** PHP may give a number as text. */
function amount({ amountsAsText }: CompanyState, cents: number): number | string {
  return amountsAsText ? (cents / 100).toFixed(2) : cents / 100;
}

function client(state: CompanyState, { id, name, city, updatedAtMs }: RecordOf<"clients">): Shown {
  const unknown = state.hasUnknownField ? { loyalty: [id % 3], registry: longNumber } : {};
  return asListed(state, { id, name, type: "company", city, updatedAt: iso(updatedAtMs), ...unknown });
}

function businessCase(state: CompanyState, one: RecordOf<"business_cases">): Shown {
  const { id } = one;
  const contact = state.clients.get(one.clientId);
  const updatedAt = iso(one.updatedAtMs);
  const record = {
    id,
    contactType: "client",
    contactId: one.clientId,
    client: contact ? { id: contact.id, name: contact.name } : null,
    name: one.name,
    description: one.description,
    status: null,
    boardPosition: id,
    updatedAt,
  };
  return asListed(state, record, { updatedAt });
}

function priceListItem(state: CompanyState, item: RecordOf<"price_list_items">): Shown {
  const unit = state.units.get(item.unitId);
  const preview = {
    id: item.id,
    name: item.name,
    unitId: item.unitId,
    unit: unit ? { id: unit.id, name: unit.name } : null,
    unitPrice: amount(state, item.priceCents),
    stock: amount(state, item.stocks.reduce<number>((sum, quantity) => sum + (quantity ?? 0), 0) * 100),
    ean: item.ean,
  };
  const stocks = item.stocks.flatMap((quantity, index) =>
    quantity === null
      ? []
      : [
          {
            warehouseId: index + 1,
            warehouseName: `W${index}`,
            stockQuantity: amount(state, quantity * 100),
          },
        ],
  );
  const detail = JSON.stringify({ ...preview, stocks });
  return { detail, listed: JSON.stringify(preview), keys: { name: item.name } };
}

/** What is still to be paid of an invoice, and its state. */
function balance(state: CompanyState, { id, lines }: InvoiceModel) {
  const totalCents = lines.reduce((sum, { cents }) => sum + cents, 0);
  let paidCents = 0;
  for (const { invoiceId, cents } of state.document_payments.values())
    if (invoiceId === id) paidCents += cents;
  const status = paidCents === 0 ? "unpaid" : paidCents < totalCents ? "partially_paid" : "paid";
  return { totalCents, openCents: totalCents - paidCents, status };
}

function invoice(state: CompanyState, one: InvoiceModel): Shown {
  const { id, number, issueDate, clientId, clientName } = one;
  const { totalCents, openCents, status } = balance(state, one);
  const preview = {
    id,
    uuid: one.uuid,
    type: "invoice",
    number,
    clientId,
    client: { name: clientName, type: "company" },
    issueDate,
    totalWithVat: amount(state, totalCents),
    toBePaid: amount(state, openCents),
    status,
  };
  const payments = [...state.document_payments.values()].filter(({ invoiceId }) => invoiceId === id);
  const record = {
    ...preview,
    company: { name: state.name, subjectId: state.businessId },
    note: one.note,
    items: one.lines.map((line) => ({
      id: line.id,
      name: line.name,
      quantity: 1,
      priceListItemId: line.priceListItemId,
      totalWithVat: amount(state, line.cents),
    })),
    payments: payments.map((payment) => paymentOf(state, payment)),
    ...(state.hasUnknownField && { campaign: `c${id % 2}` }),
  };
  return {
    detail: JSON.stringify(record),
    listed: JSON.stringify(preview),
    keys: { number, issueDate, status },
  };
}

function paymentOf(state: CompanyState, { id, invoiceId, cents, paymentDate }: PaymentModel): object {
  const record = { id, documentType: "invoice", documentId: invoiceId, paymentDate };
  return { ...record, amount: amount(state, cents), currencyRate: 1, receiptInvoice: null };
}

/** Its parent may be gone: then only its own route shows it. */
function activityShown(state: CompanyState, activity: ActivityModel): Shown {
  const { id, parent, updatedAtMs } = activity;
  const isListed = state[parent.table].has(parent.id);
  const shown = asListed(state, {
    id,
    type: activity.invoiceId === null ? "note" : "document_linked",
    metadata: metadataOf(state, activity),
    attachments: activity.attachments,
    businessCaseId: parent.table === "business_cases" ? parent.id : null,
    clientId: parent.table === "clients" ? parent.id : null,
    supplierId: null,
    updatedAt: iso(updatedAtMs),
  });
  return {
    ...shown,
    listed: isListed ? shown.listed : null,
    keys: { parent: `${parent.table} ${parent.id}` },
  };
}

/** PHP writes an empty map as a list. */
function metadataOf(state: CompanyState, { content, invoiceId }: ActivityModel): object {
  if (invoiceId === null) return content === "" ? [] : { content };
  const document = state.invoices.get(invoiceId);
  if (!document) return { relatedDocument: null };
  const { number, issueDate } = document;
  const { totalCents } = balance(state, document);
  const relatedDocument = {
    documentType: "invoice",
    documentId: invoiceId,
    name: `Invoice ${number}`,
    number,
    issueDate,
    totalWithVat: amount(state, totalCents),
  };
  return { relatedDocument };
}
