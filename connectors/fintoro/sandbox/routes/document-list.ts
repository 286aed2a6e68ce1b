import type { z } from "zod";
import { decimal, divide } from "../base/decimal-money.ts";
import type { Company } from "../domain/company-state.ts";
import { balanceOf } from "../domain/documents/payment-rules.ts";
import { totalsOf } from "../domain/documents/document-totals.ts";
import { successorOf } from "../domain/documents/document-checks.ts";
import type { Answer } from "../http/answer.ts";
import { documentTable } from "../model/catalogue.ts";
import type { Document, DocumentKind } from "../model/company-records.ts";
import {
  queryDate,
  queryFlag,
  queryInt,
  queryNumber,
  queryOneOf,
  queryText,
} from "../rules/request-shape.ts";
import { documentPreview } from "../view/document-view.ts";
import { isWithin, recordList } from "./record-list.ts";
import type { Call } from "./router.ts";

const sortNames: Readonly<Record<DocumentKind, readonly string[]>> = {
  invoice: ["number", "issueDate", "dueDate", "deliveryDate", "totalWithVatEur"],
  "credit-note": ["number", "issueDate", "dueDate", "total", "totalWithVat"],
  proforma: ["number", "issueDate", "dueDate", "total", "totalWithVat"],
  order: ["number", "issueDate", "total", "totalWithVat"],
  quotation: ["number", "issueDate", "validityDate", "total", "totalWithVat"],
};

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

const filters = {
  number: queryText(),
  clientId: queryInt(),
  paymentStatus: queryOneOf(["paid", "unpaid", "partially_paid", "overdue", "will_not_be_paid"]),
  issueDateFrom: queryDate(),
  issueDateTo: queryDate(),
  dueDateFrom: queryDate(),
  dueDateTo: queryDate(),
  validityDateFrom: queryDate(),
  validityDateTo: queryDate(),
  status: queryOneOf(["waiting", "accepted", "rejected"]),
  totalFrom: queryNumber(),
  totalTo: queryNumber(),
  withoutInvoice: queryFlag(),
  withoutProforma: queryFlag(),
  withoutOrder: queryFlag(),
};
type Filters = z.output<z.ZodObject<typeof filters>>;

/** The handler of a document list; every kind takes all filters and applies those that are its own. */
export function documentList(kind: DocumentKind): (call: Call) => Answer {
  return recordList({
    table: documentTable[kind] as "invoices",
    sorts: Object.fromEntries(Object.entries(sorts).filter(([name]) => sortNames[kind].includes(name))),
    usualOrder: ["issueDate", "desc"],
    filters,
    pageSize: { most: 500, usual: 10 },
    view: documentPreview,
    shufflesTies: true,
    test: (wanted, { company }) => {
      const tests = testsOf(company, kind, wanted);
      return (document) => tests.every((test) => test(document));
    },
  });
}

type Test = (document: Document) => boolean;

/** Cheap tests first: the expensive ones then see few documents. */
function testsOf(company: Company, kind: DocumentKind, wanted: Filters): Test[] {
  const { number, clientId, paymentStatus, status } = wanted;
  const tests: Test[] = [];
  const between = <T extends string | number>(read: (document: Document) => T, from?: T, to?: T) => {
    if (from !== undefined || to !== undefined) tests.push((document) => isWithin(read(document), from, to));
  };
  if (clientId !== undefined) tests.push((document) => document.clientId === clientId);
  if (number !== undefined && kind === "order") tests.push((order) => order.number.startsWith(number));
  else if (number !== undefined) tests.push((document) => document.number.includes(number));
  between(({ issueDate }) => issueDate, wanted.issueDateFrom, wanted.issueDateTo);
  if (kind !== "order" && kind !== "quotation")
    between(({ dueDate }) => dueDate ?? "", wanted.dueDateFrom, wanted.dueDateTo);
  for (const [result, flag, sources] of successors)
    if (wanted[flag] === true && sources.includes(kind))
      tests.push(({ id }) => successorOf(company, kind, id, result) === null);
  if (kind === "quotation") {
    if (status !== undefined) tests.push((document) => document.answer === status);
    between(({ validityDate }) => validityDate ?? "", wanted.validityDateFrom, wanted.validityDateTo);
  } else if (paymentStatus !== undefined && kind !== "order")
    tests.push((document) => balanceOf(company, document).status === paymentStatus);
  between((document) => filteredTotal(kind, document), wanted.totalFrom, wanted.totalTo);
  return tests;
}

/** Which documents can follow from which; a filter asks for those from which none has followed. */
const successors: readonly (readonly [DocumentKind, keyof Filters, readonly DocumentKind[]])[] = [
  ["invoice", "withoutInvoice", ["proforma", "order", "quotation"]],
  ["proforma", "withoutProforma", ["order", "quotation"]],
  ["order", "withoutOrder", ["quotation"]],
];

/** Invoices filter by their total in euro with VAT, quotations by it with VAT, the others without. */
function filteredTotal(kind: DocumentKind, document: Document): number {
  if (kind === "invoice") return grossInEuro(document) / 100;
  const { net, gross } = totalsOf(document);
  return Number(kind === "quotation" ? gross : net) / 100;
}

/** Cents. */
function grossInEuro(document: Document): number {
  return Number(divide(totalsOf(document).gross * 1_000_000n, decimal(document.currencyRate)));
}
