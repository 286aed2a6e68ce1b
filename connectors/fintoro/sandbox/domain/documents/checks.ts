import { dateOf, dayOf } from "../../base/calendar.ts";
import { decimal } from "../../base/decimal-money.ts";
import { kindFacts } from "../../model/catalogue.ts";
import type { DocumentKind } from "../../model/company-records.ts";
import { expectLookups, type Problems } from "../../rules/problems.ts";
import { primaryAccount } from "../settings-writes.ts";
import { documentsOf, type Company } from "../company-state.ts";
import type { DocumentInput, DocumentWrite, ItemInput } from "./shapes.ts";
import { expectNumber } from "./number-series.ts";

/** Adds every problem that can be seen before anything is made of the request. */
export function expectDocument(problems: Problems, write: DocumentWrite): void {
  const { company, kind, sent, own } = write;
  expectLookups(problems, sent);
  expectNumber(problems, write, own?.id ?? null);
  if (kind === "credit-note") expectInvoice(problems, write);
  else {
    expectClient(company, problems, sent);
    expectNear(company, problems, sent);
    expectDiscount(problems, sent);
  }
  expectDates(problems, { ...sent, issueDate: sent.issueDate ?? dateOf(company.settings.today) });
  expectSources(problems, write);
  if (kindFacts[kind].payable) expectAccount(company, problems, sent.bankAccountId);
  expectItems(problems, write);
}

function expectInvoice(problems: Problems, { company, sent }: DocumentWrite): void {
  const invoice = documentsOf(company, "invoice").get(sent.invoiceId ?? 0);
  problems.expect(invoice !== undefined, "invoiceId", "exists");
  if (invoice) expectCase(company, problems, sent.businessCaseId, invoice.clientId);
}

function expectClient(company: Company, problems: Problems, sent: DocumentInput): void {
  const { clientId = null, client, businessCaseId } = sent;
  if (clientId !== null) {
    problems.expect(company.tables.clients.has(clientId), "clientId", "exists");
    expectCase(company, problems, businessCaseId, clientId);
  } else if (client) problems.expect(client.name !== undefined, "client.name", "required");
  else problems.add("clientId", "required");
  if (client) expectLookups(problems, client, "client.");
}

/** The issue date lies after 2009-01-01 and less than a year ahead. */
function expectNear({ settings }: Company, problems: Problems, { issueDate }: DocumentInput): void {
  const day = issueDate === undefined ? settings.today : dayOf(issueDate);
  const near = day > dayOf("2009-01-01") && day < settings.today + 365;
  problems.expect(near, "issueDate", "too_far");
}

type Dates = Pick<DocumentInput, "dueDate" | "deliveryDate" | "validityDate"> & {
  readonly issueDate: string;
};

/** Delivery is not after the issue date; the due date and the validity are not before it. */
export function expectDates(problems: Problems, dates: Dates): void {
  const { issueDate, dueDate, deliveryDate, validityDate } = dates;
  const issue = { other: "issueDate" };
  problems.expect((deliveryDate ?? issueDate) <= issueDate, "deliveryDate", "not_after", issue);
  problems.expect((dueDate ?? issueDate) >= issueDate, "dueDate", "not_before", issue);
  problems.expect((validityDate ?? issueDate) >= issueDate, "validityDate", "not_before", issue);
}

function expectDiscount(problems: Problems, sent: DocumentInput): void {
  const { discountType = null, discountValue = null } = sent;
  problems.expect(discountType === null || discountValue !== null, "discountValue", "required");
  const most = discountType === "percentage" ? 100 : Number.POSITIVE_INFINITY;
  problems.expect((discountValue ?? 0) <= most, "discountValue", "max_number", { limit: most });
}

/** A source exists, and no other document of this kind was made from it. */
function expectSources(problems: Problems, { company, kind, sent, own }: DocumentWrite): void {
  for (const source of kindFacts[kind].sources) {
    const field = `${source}Id` as const;
    const id = sent[field] ?? null;
    if (id === null) continue;
    const other = successorOf(company, source, id, kind);
    if (!documentsOf(company, source).has(id)) problems.add(field, "exists");
    else problems.expect(other === null || other === own?.id, field, "linked");
  }
}

/** The document of `kind` that was made from this source, or null. */
export function successorOf(company: Company, source: DocumentKind, sourceId: number, kind: DocumentKind) {
  return documentsOf(company, kind).findBy(source, sourceId)[0]?.id ?? null;
}

function expectAccount(company: Company, problems: Problems, id: number | undefined): void {
  if (id !== undefined) problems.expect(company.tables.bank_accounts.has(id), "bankAccountId", "exists");
  else problems.expect(primaryAccount(company) !== undefined, "bankAccountId", "no_primary_account");
}

/** The case, if one is named, belongs to the document's client. */
export function expectCase(
  { tables }: Company,
  problems: Problems,
  caseId: number | null | undefined,
  clientId: number,
): void {
  if (caseId === null || caseId === undefined) return;
  const item = tables.business_cases.get(caseId);
  problems.expect(item?.contactType === "client" && item.contactId === clientId, "businessCaseId", "exists");
}

/** Checks every line by itself. Stock is checked later, for all lines together. */
function expectItems(problems: Problems, { company, kind, sent, own }: DocumentWrite): void {
  for (const [i, line] of sent.items.entries()) {
    const at = `items.${i}`;
    expectLookups(problems, line, `${at}.`);
    expectComplete(company, problems, line, at);
    expectLineDiscount(problems, line, at);
    if (!kindFacts[kind].movesStock) continue;
    expectAllocations(company, problems, line, at);
    const known = !own || !line.uuid || own.items.some(({ uuid }) => uuid === line.uuid);
    problems.expect(known, `${at}.uuid`, "exists");
  }
}

/** A line without a price-list item needs a name, a price and a VAT rate. */
function expectComplete({ tables }: Company, problems: Problems, line: ItemInput, at: string): void {
  const { priceListItemId = null } = line;
  if (priceListItemId !== null) {
    problems.expect(tables.price_list_items.has(priceListItemId), `${at}.priceListItemId`, "exists");
    return;
  }
  for (const field of ["name", "unitPrice", "vatRate"] as const) {
    problems.expect((line[field] ?? null) !== null, `${at}.${field}`, "required");
  }
}

function expectLineDiscount(problems: Problems, line: ItemInput, at: string): void {
  const { discountType = null, discountValue = null } = line;
  problems.expect(discountType === null || discountValue !== null, `${at}.discountValue`, "required");
  problems.expect(discountValue === null || discountType !== null, `${at}.discountType`, "required");
}

/** The warehouses exist, the item is kept in stock, and the parts add up to the line's quantity. */
function expectAllocations({ tables }: Company, problems: Problems, line: ItemInput, at: string): void {
  const field = `${at}.warehouseAllocations`;
  const { warehouseAllocations: allocations } = line;
  if (!allocations) return;
  const item = tables.price_list_items.get(line.priceListItemId ?? -1);
  problems.expect(item?.useWarehouse === true, field, "not_stocked");
  for (const [i, { warehouseId }] of allocations.entries()) {
    problems.expect(tables.warehouses.has(warehouseId), `${field}.${i}.warehouseId`, "exists");
  }
  const sum = allocations.reduce((total, { quantity }) => total + decimal(quantity), 0n);
  problems.expect(sum === decimal(line.quantity), field, "allocations");
}
