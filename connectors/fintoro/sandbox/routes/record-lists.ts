import { z } from "zod";
import { toNumber } from "../base/decimal-money.ts";
import { latin } from "../base/values.ts";
import { documentsOf } from "../domain/company-state.ts";
import { logsOf } from "../domain/crm/activities.ts";
import { paymentsOf } from "../domain/documents/payment-rules.ts";
import { sides, type Side } from "../domain/warehouse/receipts.ts";
import { list, oneRecord, type Answer } from "../http/service-answer.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import { activityTargets, documentKinds, payableKinds, targetFields } from "../model/catalogue.ts";
import type { DocumentKind } from "../model/company-records.ts";
import type { Party, Subject } from "../model/contact-records.ts";
import type { Receipt } from "../model/warehouse-records.ts";
import { Missing, refuse } from "../rules/problems.ts";
import { parse, queryInt, queryOneOf } from "../rules/request-shape.ts";
import { seededSubject } from "../seed/contact-seed.ts";
import { logView } from "../view/activity-view.ts";
import { subjectView } from "../view/contact-view.ts";
import { paymentView } from "../view/document-view.ts";
import { seriesView } from "../view/settings-view.ts";
import { itemPreview, itemView } from "../view/stock-view.ts";
import { by, onePage, recordList } from "./list-rules.ts";
import type { Call } from "./router.ts";

const tenPerPage = { most: 200, usual: 10 };
const byTimes = {
  createdAt: ({ createdAtMs }: { readonly createdAtMs: number }) => createdAtMs,
  updatedAt: ({ updatedAtMs }: { readonly updatedAtMs: number }) => updatedAtMs,
};
const byParty = {
  name: ({ name }: Party) => latin(name),
  city: ({ city }: Party) => latin(city ?? ""),
  zip: ({ zip }: Party) => latin(zip ?? ""),
};

/** Is the text in one of the words, without regard to case and accents? */
function isIn(text: string, ...words: readonly (string | null)[]): boolean {
  return words.some((word) => word !== null && latin(word).includes(latin(text)));
}

/** Searches name, city, ZIP and country. */
function mentions({ name, city, zip, countryId }: Party, text: string, { language }: Call): boolean {
  const country = countryId === null ? null : lookup("countries", countryId, language);
  return isIn(text, name, city, zip, country && String(country["name"]));
}

/** All clients, in one answer. */
export const listClients = recordList("clients", {
  filters: {
    type: by.word(["person", "company"], ({ type }, wanted) => type === wanted),
    subjectId: by.text(({ subjectId }, wanted) => subjectId === wanted),
    taxId: by.text(({ taxId }, wanted) => taxId === wanted),
    vatId: by.text(({ vatId }, wanted) => vatId === wanted),
    countryId: by.int(({ countryId }, wanted) => countryId === wanted),
    search: by.text(mentions),
  },
  sorts: { ...byParty, countryId: ({ countryId }) => countryId ?? 0, ...byTimes },
  usualOrder: ["name", "asc"],
});

/** All suppliers, in one answer. */
export const listSuppliers = recordList("suppliers", {
  filters: { search: by.text(mentions) },
  sorts: { ...byParty, ...byTimes },
  usualOrder: ["name", "asc"],
});

/** What an empty `statusId` becomes: it asks for cases without a status. */
const noStatus = -1;

/** Without `sortBy` the newest id comes first; `id` itself is not a value that `sortBy` takes. */
const listAllCases = recordList("business_cases", {
  filters: {
    clientId: by.int((one, id) => one.contactType === "client" && one.contactId === id),
    supplierId: by.int((one, id) => one.contactType === "supplier" && one.contactId === id),
    statusId: {
      schema: z.preprocess((sent) => (sent === "" ? String(noStatus) : sent), queryInt()).optional(),
      test: ({ statusId }, wanted: number) => (statusId ?? noStatus) === wanted,
    },
    search: by.text(({ name, description }, text) => isIn(text, `${name}\n${description ?? ""}`)),
  },
  sorts: { name: ({ name }) => latin(name), ...byTimes, boardPosition: ({ boardPosition }) => boardPosition },
  usualOrder: ["id", "desc"],
  pageSize: tenPerPage,
});

/** The cases of one contact at most. */
export function listCases(call: Call): Answer {
  const { clientId, supplierId } = call.query;
  if (clientId !== undefined && supplierId !== undefined)
    refuse("supplierId", "not_together", { other: "clientId" });
  return listAllCases(call);
}

function receiptList(side: Side) {
  const { table, partner } = sides[side];
  return recordList(table, {
    filters: {
      warehouseId: by.int(({ warehouseId }: Receipt, id) => warehouseId === id),
      [`${partner}Id`]: by.int(({ partnerId }: Receipt, id) => partnerId === id),
      number: by.text(({ number }: Receipt, part) => number.includes(part)),
    },
    sorts: {
      number: ({ number }) => number,
      issue_date: ({ issueDate }) => issueDate,
      created_at: byTimes.createdAt,
      updated_at: byTimes.updatedAt,
    },
    usualOrder: ["created_at", "desc"],
    pageSize: tenPerPage,
  });
}

/** Receipts of one direction, by page. */
export const listInbound = receiptList("inbound");
export const listOutbound = receiptList("outbound");

const stockOf = ({ id }: { readonly id: number }, { stock }: Call["company"]) => toNumber(stock.total(id));

/** The price list, by page. */
export const listItems = recordList("price_list_items", {
  filters: {
    name: by.text(({ name, warehouseCode, ean }, text) => isIn(text, name, warehouseCode, ean)),
    priceFrom: by.number(({ unitPrice }, from) => unitPrice >= from),
    priceTo: by.number(({ unitPrice }, to) => unitPrice <= to),
    stockFrom: by.number((item, from, { company }) => stockOf(item, company) >= from),
    stockTo: by.number((item, to, { company }) => stockOf(item, company) <= to),
    onlyWarehouseItems: by.flag(({ useWarehouse }) => useWarehouse),
  },
  sorts: { name: ({ name }) => latin(name), unit_price: ({ unitPrice }) => unitPrice, stock: stockOf },
  usualOrder: ["name", "asc"],
  changingSort: "stock",
  pageSize: { most: 200, usual: 50 },
  view: (company, item, language) =>
    (company.settings.stocksInLists ? itemView : itemPreview)(company, item, language),
});

const logQuery = z.object({
  businessCaseId: queryInt(),
  clientId: queryInt(),
  supplierId: queryInt(),
  type: queryOneOf(["note", "email", "phone_call", "document_linked"]),
});

/** The CRM events of one business case, client or supplier. */
export function listLogs(call: Call): Answer {
  const { company, language } = call;
  const wanted = parse(logQuery, call.query);
  const [only, ...others] = activityTargets.filter(({ field }) => wanted[field] !== undefined);
  if (!only || others.length > 0)
    refuse(only?.field ?? "businessCaseId", "exactly_one", { fields: targetFields.join(", ") });
  const { field, kind, table } = only;
  const id = wanted[field] ?? 0;
  if (!company.tables[table].has(id)) refuse(field, "exists");
  const all = logsOf(company, { kind, id });
  const logs = all.filter(({ type }) => wanted.type === undefined || type === wanted.type);
  return onePage(call, "/contact-activity-logs", logs, tenPerPage, (log) => logView(company, log, language));
}

const kinds = (allowed: readonly DocumentKind[]) => z.enum(allowed as [DocumentKind, ...DocumentKind[]]);
const documentId = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
const paymentQuery = z.object({ documentType: kinds(payableKinds), documentId });

/** The payments of one document. */
export function listPayments({ company, query, language }: Call): Answer {
  const { documentType, documentId: id } = parse(paymentQuery, query);
  if (!documentsOf(company, documentType).has(id)) refuse("documentId", "exists");
  const payments = paymentsOf(company, documentType, id);
  return list(payments.map((payment) => paymentView(company, payment, language)));
}

const seriesQuery = z.object({ documentType: kinds(documentKinds) });

/** The numerical series of one kind of document. */
export function listSeries({ company, query }: Call): Answer {
  const { documentType } = parse(seriesQuery, query);
  const series = [...company.tables.numerical_series.values()];
  const own = series.filter(({ documentKind }) => documentKind === documentType);
  return list(own.map((one) => seriesView(company, one)));
}

/** The public register of companies; the same for everybody. */
const subjects: readonly Subject[] = Array.from({ length: 400 }, (_, index) => seededSubject(index));

const subjectQuery = z.object({
  searchQuery: z.string().min(3).max(255),
  legalForm: queryOneOf(["freelancer", "company"]),
  limit: queryInt(1, 20),
});

/** Subjects of the register by a part of the name or the beginning of the business id. */
export function listSubjects(call: Call): Answer {
  const { searchQuery, legalForm, limit = 20 } = parse(subjectQuery, call.query);
  const wanted = latin(searchQuery);
  const found = subjects.filter(
    (subject) =>
      (legalForm === undefined || subject.legalForm === legalForm) &&
      (latin(subject.name).includes(wanted) || (subject.subjectId ?? "").startsWith(searchQuery)),
  );
  return list(found.slice(0, limit).map(subjectView));
}

/** One subject of the register. */
export function showSubject({ id }: Call): Answer {
  const subject = subjects.find((one) => one.id === id);
  if (!subject) throw new Missing();
  return oneRecord(subjectView(subject));
}
