import { decimal, divide } from "../base/decimal-money.ts";
import { by, type Filter, type ListRules } from "../collections/record-list.ts";
import type { Call } from "../http/router.ts";
import { kindFacts } from "../model/catalogue.ts";
import { documentsOf } from "../model/company-state.ts";
import type { Document, DocumentKind } from "../model/records.ts";
import { balanceOf, paymentStatuses, totalsOf } from "./balance.ts";
import { documentPreview } from "./document-view.ts";

const sorts: ListRules<Document>["sorts"] = {
  number: ({ number }) => number,
  issueDate: ({ issueDate }) => issueDate,
  dueDate: ({ dueDate }) => dueDate ?? "",
  deliveryDate: ({ deliveryDate }) => deliveryDate ?? "",
  validityDate: ({ validityDate }) => validityDate ?? "",
  total: (document) => Number(totalsOf(document).net),
  totalWithVat: (document) => Number(totalsOf(document).gross),
  totalWithVatEur: grossInEuro,
};

/** Filters that a document passes which has not what they ask for: every kind takes all of them. */
const among = (field: "dueDate" | "validityDate", isIn: (date: string, limit: string) => boolean) =>
  by.date<Document>((one, limit) => one[field] === null || isIn(one[field], limit));
const isFrom = (value: string | number, limit: string | number) => value >= limit;
const isTo = (value: string | number, limit: string | number) => value <= limit;

const filters: Readonly<Record<string, Filter<Document>>> = {
  clientId: by.int(({ clientId }, id) => clientId === id),
  number: by.text(({ kind, number }, part) =>
    kind === "order" ? number.startsWith(part) : number.includes(part),
  ),
  issueDateFrom: by.date(({ issueDate }, from) => isFrom(issueDate, from)),
  issueDateTo: by.date(({ issueDate }, to) => isTo(issueDate, to)),
  dueDateFrom: among("dueDate", isFrom),
  dueDateTo: among("dueDate", isTo),
  validityDateFrom: among("validityDate", isFrom),
  validityDateTo: among("validityDate", isTo),
  status: by.word(
    ["waiting", "accepted", "rejected"],
    ({ kind, answer }, wanted) => kind !== "quotation" || answer === wanted,
  ),
  withoutInvoice: by.flag(hasNoSuccessor("invoice")),
  withoutProforma: by.flag(hasNoSuccessor("proforma")),
  withoutOrder: by.flag(hasNoSuccessor("order")),
  paymentStatus: by.word(
    paymentStatuses,
    (one, status, { company }) => !kindFacts[one.kind].payable || balanceOf(company, one).status === status,
  ),
  totalFrom: by.number((one, from) => isFrom(filteredTotal(one), from)),
  totalTo: by.number((one, to) => isTo(filteredTotal(one), to)),
};

/** The rules of the list of one kind of document. */
export function documentList(kind: DocumentKind): ListRules<Document> {
  const names = new Set(["number", "issueDate", ...kindFacts[kind].sorts]);
  return {
    filters,
    sorts: Object.fromEntries(Object.entries(sorts).filter(([name]) => names.has(name))),
    usualOrder: ["issueDate", "desc"],
    pageSize: { most: 500, usual: 10 },
    preview: documentPreview,
    shufflesTies: true,
  };
}

/** Is there no document of the kind `result` that was made from this one? True where none can be. */
function hasNoSuccessor(result: DocumentKind) {
  return ({ kind, id }: Document, { company }: Call) =>
    !kindFacts[result].sources.some((source) => source === kind) ||
    documentsOf(company, result).findBy(kind, id).length === 0;
}

/** Invoices filter by their total in euro with VAT, quotations by it with VAT, the others without. */
function filteredTotal(document: Document): number {
  if (document.kind === "invoice") return grossInEuro(document) / 100;
  const { net, gross } = totalsOf(document);
  return Number(document.kind === "quotation" ? gross : net) / 100;
}

/** Cents. */
function grossInEuro(document: Document): number {
  return Number(divide(totalsOf(document).gross * 1_000_000n, decimal(document.currencyRate)));
}
