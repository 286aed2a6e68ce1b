import { decimal, divide } from "../base/decimal-money.ts";
import type { Call } from "../http/router.ts";
import { kindFacts } from "../model/catalogue.ts";
import type { Document, DocumentKind } from "../model/records.ts";
import { by, type Filter, type ListRules } from "../collections/record-list.ts";
import { balanceOf, paymentStatuses, totalsOf } from "./balance.ts";
import { successorOf } from "./checks.ts";
import { documentPreview } from "./document-view.ts";

const sorts: Readonly<Record<string, (document: Document) => string | number>> = {
  number: ({ number }) => number,
  issueDate: ({ issueDate }) => issueDate,
  dueDate: ({ dueDate }) => dueDate ?? "",
  deliveryDate: ({ deliveryDate }) => deliveryDate ?? "",
  validityDate: ({ validityDate }) => validityDate ?? "",
  total: (document) => Number(totalsOf(document).net),
  totalWithVat: (document) => Number(totalsOf(document).gross),
  totalWithVatEur: grossInEuro,
};

const isPayable = ({ kind }: Document) => kindFacts[kind].payable;
const isQuotation = ({ kind }: Document) => kind === "quotation";

/** Every kind takes all of them, and ignores those that are not its own. */
const filters: Readonly<Record<string, Filter<Document>>> = {
  clientId: by.int(({ clientId }, id) => clientId === id),
  number: by.text(({ kind, number }, part) =>
    kind === "order" ? number.startsWith(part) : number.includes(part),
  ),
  issueDateFrom: by.date(({ issueDate }, from) => issueDate >= from),
  issueDateTo: by.date(({ issueDate }, to) => issueDate <= to),
  dueDateFrom: by.date((one, from) => !isPayable(one) || (one.dueDate ?? "") >= from),
  dueDateTo: by.date((one, to) => !isPayable(one) || (one.dueDate ?? "") <= to),
  validityDateFrom: by.date((one, from) => !isQuotation(one) || (one.validityDate ?? "") >= from),
  validityDateTo: by.date((one, to) => !isQuotation(one) || (one.validityDate ?? "") <= to),
  status: by.word(
    ["waiting", "accepted", "rejected"],
    (one, answer) => !isQuotation(one) || one.answer === answer,
  ),
  withoutInvoice: by.flag(hasNoSuccessor("invoice")),
  withoutProforma: by.flag(hasNoSuccessor("proforma")),
  withoutOrder: by.flag(hasNoSuccessor("order")),
  paymentStatus: by.word(
    paymentStatuses,
    (one, status, { company }) => !isPayable(one) || balanceOf(company, one).status === status,
  ),
  totalFrom: by.number((one, from) => filteredTotal(one) >= from),
  totalTo: by.number((one, to) => filteredTotal(one) <= to),
};

/** The rules of the list of one kind of document. */
export function documentList(kind: DocumentKind): ListRules<Document> {
  return {
    filters,
    sorts: Object.fromEntries(
      kindFacts[kind].sorts.flatMap((name) => (sorts[name] ? [[name, sorts[name]]] : [])),
    ),
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
    successorOf(company, kind, id, result) === null;
}

/** Invoices filter by their total in euro with VAT, quotations by it with VAT, the others without. */
function filteredTotal(document: Document): number {
  if (document.kind === "invoice") return grossInEuro(document) / 100;
  const { net, gross } = totalsOf(document);
  return Number(isQuotation(document) ? gross : net) / 100;
}

/** Cents. */
function grossInEuro(document: Document): number {
  return Number(divide(totalsOf(document).gross * 1_000_000n, decimal(document.currencyRate)));
}
