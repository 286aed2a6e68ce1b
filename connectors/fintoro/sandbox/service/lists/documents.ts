import { z } from "zod";
import { dayOf } from "../../base/calendar.ts";
import { balanceOf } from "../../domain/documents/balance.ts";
import { documentsOf, type Company } from "../../domain/company-state.ts";
import { successorOf } from "../../domain/documents/document-checks.ts";
import { collections, documentTable } from "../../model/catalogue.ts";
import type { Document, DocumentKind } from "../../model/company-records.ts";
import {
  parse,
  queryDate,
  queryFlag,
  queryInt,
  queryNumber,
  queryOneOf,
  queryText,
} from "../../rules/request-shape.ts";
import { shuffledTies } from "../../model/sort-orders.ts";
import { documentPreview } from "../../view/document-view.ts";
import type { Answer } from "../answer.ts";
import { paged } from "../paging.ts";
import type { Call } from "../route.ts";
import { columnsOf, filteredTotal, sortKeyOf } from "./columns.ts";

const statuses = ["paid", "unpaid", "partially_paid", "overdue", "will_not_be_paid"] as const;
const sortKeys: Readonly<Record<DocumentKind, readonly [string, ...string[]]>> = {
  invoice: ["number", "issueDate", "dueDate", "deliveryDate", "totalWithVatEur"],
  "credit-note": ["number", "issueDate", "dueDate", "total", "totalWithVat"],
  proforma: ["number", "issueDate", "dueDate", "total", "totalWithVat"],
  order: ["number", "issueDate", "total", "totalWithVat"],
  quotation: ["number", "issueDate", "validityDate", "total", "totalWithVat"],
};

const filters = z.object({
  number: queryText(),
  clientId: queryInt(),
  paymentStatus: queryOneOf(statuses),
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
  sortDirection: queryOneOf(["asc", "desc"]),
});
type Filters = z.output<typeof filters>;

export function listDocuments(call: Call, kind: DocumentKind): Answer {
  const { company, language } = call;
  const schema = filters.extend({ sortBy: queryOneOf(sortKeys[kind]) });
  const { sortBy = "issueDate", sortDirection = "desc", ...wanted } = parse(schema, call.query);
  const table = documentsOf(company, kind);
  const keyOf = sortKeyOf(company, kind, sortBy);
  const ascending = company.orders.by(table, `${kind}/${sortBy}`, keyOf);
  const kept = sortDirection === "asc" ? ascending : ascending.toReversed();
  const sorted = call.disorder === null ? kept : shuffledTies(kept, keyOf, call.disorder);
  const tests = testsOf(company, kind, wanted);
  const ids = tests.length === 0 ? sorted : sorted.filter((id) => tests.every((test) => test(id)));
  const path = `/${collections[documentTable[kind]].path}`;
  const view = (id: number) => documentPreview(company, table.get(id) as Document, language);
  return paged(call, path, ids, { most: 500, usual: 10 }, view);
}

type Test = (id: number) => boolean;

/** Cheap tests first: the expensive ones then see few. */
function testsOf(company: Company, kind: DocumentKind, wanted: Filters): Test[] {
  return [
    ...cheapTests(company, kind, wanted),
    ...linkTests(company, kind, wanted),
    ...wholeTests(company, kind, wanted),
  ];
}

function cheapTests(company: Company, kind: DocumentKind, wanted: Filters): Test[] {
  const columns = columnsOf(company, kind);
  const { number, clientId } = wanted;
  const tests: Test[] = [];
  if (clientId !== undefined) tests.push((id) => columns.clientId(id) === clientId);
  if (number !== undefined) {
    const found = (text: string) => (kind === "order" ? text.startsWith(number) : text.includes(number));
    tests.push((id) => found(columns.number(id)));
  }
  tests.push(...between(columns.issueDay, day(wanted.issueDateFrom), day(wanted.issueDateTo)));
  if (kind !== "order" && kind !== "quotation") {
    tests.push(...between(columns.dueDate, wanted.dueDateFrom, wanted.dueDateTo));
  }
  return tests;
}

function day(date: string | undefined): number | undefined {
  return date === undefined ? undefined : dayOf(date);
}

function between<T extends number | string>(
  column: (id: number) => T,
  from: T | undefined,
  to: T | undefined,
): Test[] {
  const tests: Test[] = [];
  if (from !== undefined) tests.push((id) => column(id) >= from);
  if (to !== undefined) tests.push((id) => column(id) <= to);
  return tests;
}

function linkTests(company: Company, kind: DocumentKind, wanted: Filters): Test[] {
  const without: readonly (readonly [DocumentKind, boolean | undefined, readonly DocumentKind[]])[] = [
    ["invoice", wanted.withoutInvoice, ["proforma", "order", "quotation"]],
    ["proforma", wanted.withoutProforma, ["order", "quotation"]],
    ["order", wanted.withoutOrder, ["quotation"]],
  ];
  return without
    .filter(([, flag, sources]) => flag === true && sources.includes(kind))
    .map(
      ([result]) =>
        (id: number) =>
          successorOf(company, kind, id, result) === null,
    );
}

function wholeTests(company: Company, kind: DocumentKind, wanted: Filters): Test[] {
  const table = documentsOf(company, kind);
  const whole = (test: (document: Document) => boolean) => (id: number) => test(table.get(id) as Document);
  const { paymentStatus, status, totalFrom, totalTo, validityDateFrom, validityDateTo } = wanted;
  const tests: Test[] = [];
  if (kind === "quotation") {
    if (status !== undefined) tests.push(whole((document) => document.answer === status));
    tests.push(...between((id) => table.get(id)?.validityDate ?? "", validityDateFrom, validityDateTo));
  } else if (paymentStatus !== undefined && kind !== "order") {
    tests.push(whole((document) => balanceOf(company, document).status === paymentStatus));
  }
  if (totalFrom !== undefined) tests.push(whole((document) => filteredTotal(kind, document) >= totalFrom));
  if (totalTo !== undefined) tests.push(whole((document) => filteredTotal(kind, document) <= totalTo));
  return tests;
}
