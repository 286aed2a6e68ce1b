import { singular, nameList } from "../base/values.ts";
import { lookupNames } from "../lookups/lookup-lists.ts";

/** The names of the collections, which are those of the tables of a mirror; number series have no events. */
export const tableNames = [
  ...nameList("clients suppliers bank_accounts business_case_statuses business_cases contact_activity_logs"),
  ...nameList("warehouses warehouse_inbound_receipts warehouse_outbound_receipts price_list_items"),
  ...nameList("invoices credit_notes proformas orders quotations document_payments webhook_subscriptions"),
];
export type TableName = (typeof tableNames)[number];
/** A collection's path, which is also the prefix of its event types. */
export const pathOf = (table: TableName) => table.replaceAll("_", "-");

/** Fields of requests that name a record: `clientId`, `statusId`, `preferredCurrencyId`, ... */
const references = new Map<string, TableName | "numerical_series" | (typeof lookupNames)[number]>([
  ...[...tableNames, "numerical_series" as const, ...lookupNames].map(
    (name) => [`${singular(name)}Id`, name] as const,
  ),
  ["statusId", "business_case_statuses"],
]);

/** The table or the lookup that a field of a request names a record of. */
export function referenceOf(field: string) {
  const name = field.replace(/^preferred|^delivery(?=Country)/, "");
  return references.get(name.charAt(0).toLowerCase() + name.slice(1));
}

export type DocumentKind = "invoice" | "credit-note" | "proforma" | "order" | "quotation";
type OwnField = "invoiceId" | "willBePaid" | "validityDate" | "qrTypeId";

/** How a kind of document differs from the others. Rules, views and lists read it here. */
interface KindFacts {
  readonly table: TableName;
  /** It has payments, and with them a status, a bank account and symbols. */
  readonly payable?: true;
  /** Its lines show ids that last and a price-list item. */
  readonly keepsLines?: true;
  /** Fields of an answer that not all kinds have. */
  readonly shown: readonly (OwnField | (typeof dated | typeof methods)[number])[];
}

const methods = ["deliveryMethodId", "paymentMethodId"] as const;
const dated = ["dueDate", "deliveryDate", "currencyRate"] as const;
const bill = { payable: true, keepsLines: true } as const;

export const kindFacts: Readonly<Record<DocumentKind, KindFacts>> = {
  invoice: { ...bill, table: "invoices", shown: [...dated, ...methods, "qrTypeId"] },
  "credit-note": { ...bill, table: "credit_notes", shown: ["invoiceId", ...dated, "paymentMethodId"] },
  proforma: { table: "proformas", payable: true, shown: ["dueDate", ...methods, "qrTypeId", "willBePaid"] },
  order: { table: "orders", shown: methods },
  quotation: { table: "quotations", shown: ["validityDate"] },
};
export const documentKinds = Object.keys(kindFacts) as readonly DocumentKind[];
export const payableKinds = documentKinds.filter((kind) => kindFacts[kind].payable);

export const eventTypes: readonly string[] = [
  ...tableNames
    .filter((table) => table !== "document_payments" && table !== "webhook_subscriptions")
    .flatMap((table) => ["created", "updated", "deleted"].map((change) => `${pathOf(table)}.${change}`)),
  "document-payments.created",
  "document-payments.deleted",
  "price-list-items.stock-updated",
  ...["invoices", "credit-notes", "proformas", "received-invoices", "received-receipts"].map(
    (path) => `${path}.paid`,
  ),
];

/** What a CRM event can belong to, by the field that names it. */
export const activityTargets = {
  businessCaseId: "business_cases",
  clientId: "clients",
  supplierId: "suppliers",
} as const;
export const targetFields = Object.keys(activityTargets) as readonly (keyof typeof activityTargets)[];
