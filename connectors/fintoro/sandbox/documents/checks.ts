import { dateOf, dayOf } from "../base/calendar.ts";
import { decimal } from "../base/decimal-money.ts";
import { kindFacts } from "../model/catalogue.ts";
import { documentsOf, type Company } from "../model/company-state.ts";
import type { DocumentKind } from "../model/records.ts";
import { primaryAccount } from "../collections/own-settings.ts";
import type { Problems } from "../rules/problems.ts";
import { expectNumber } from "./number-series.ts";
import type { DocumentInput, DocumentWrite, ItemInput } from "./shapes.ts";

/** Adds every problem that can be seen before anything is made of the request. */
export function expectDocument(problems: Problems, write: DocumentWrite): void {
  const { company, kind, sent, own } = write;
  const { tables, settings } = company;
  expectNumber(problems, write, own?.id ?? null);
  if (kind === "credit-note") {
    problems.expectIn(tables.invoices, "invoiceId", sent.invoiceId);
    const { clientId } = tables.invoices.get(sent.invoiceId ?? 0) ?? {};
    if (clientId !== undefined) expectCase(company, problems, sent.businessCaseId, clientId);
  } else {
    expectClient(company, problems, sent);
    const day = sent.issueDate === undefined ? settings.today : dayOf(sent.issueDate);
    const near = day > dayOf("2009-01-01") && day < settings.today + 365;
    problems.expect(near, "issueDate", "too_far");
    const most = sent.discountType === "percentage" ? 100 : Number.POSITIVE_INFINITY;
    problems.expect(
      !sent.discountType || typeof sent.discountValue === "number",
      "discountValue",
      "required",
    );
    problems.expect((sent.discountValue ?? 0) <= most, "discountValue", "max_number", { limit: most });
  }
  expectDates(problems, { ...sent, issueDate: sent.issueDate ?? dateOf(settings.today) });
  expectSources(problems, write);
  if (kindFacts[kind].payable) {
    problems.expectIn(tables.bank_accounts, "bankAccountId", sent.bankAccountId);
    const isPayable = sent.bankAccountId !== undefined || primaryAccount(company) !== undefined;
    problems.expect(isPayable, "bankAccountId", "no_primary_account");
  }
  for (const [i, line] of sent.items.entries()) expectItem(problems, write, line, `items.${i}`);
}

function expectClient(company: Company, problems: Problems, sent: DocumentInput): void {
  const { clientId = null, client, businessCaseId } = sent;
  if (clientId !== null) {
    problems.expectIn(company.tables.clients, "clientId", clientId);
    expectCase(company, problems, businessCaseId, clientId);
  } else if (client) problems.expect(client.name !== undefined, "client.name", "required");
  else problems.expect(false, "clientId", "required");
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

/** A source exists, and no other document of this kind was made from it. */
function expectSources(problems: Problems, { company, kind, sent, own }: DocumentWrite): void {
  for (const source of kindFacts[kind].sources) {
    const field = `${source}Id` as const;
    const id = sent[field] ?? null;
    problems.expectIn(documentsOf(company, source), field, id);
    const other = id === null ? null : successorOf(company, source, id, kind);
    problems.expect(other === null || other === own?.id, field, "linked");
  }
}

/** The document of `kind` that was made from this source, or null. */
export function successorOf(company: Company, source: DocumentKind, sourceId: number, kind: DocumentKind) {
  return documentsOf(company, kind).findBy(source, sourceId)[0]?.id ?? null;
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

/** Checks a line by itself: one without a price-list item needs a name, a price and a VAT rate. */
function expectItem(
  problems: Problems,
  { company, kind, own }: DocumentWrite,
  line: ItemInput,
  at: string,
): void {
  const { priceListItemId = null, discountType = null, discountValue = null } = line;
  problems.expectIn(company.tables.price_list_items, `${at}.priceListItemId`, priceListItemId);
  for (const field of ["name", "unitPrice", "vatRate"] as const)
    problems.expect(priceListItemId !== null || (line[field] ?? null) !== null, `${at}.${field}`, "required");
  problems.expect(discountType === null || discountValue !== null, `${at}.discountValue`, "required");
  problems.expect(discountValue === null || discountType !== null, `${at}.discountType`, "required");
  if (!kindFacts[kind].movesStock) return;
  expectAllocations(company, problems, line, `${at}.warehouseAllocations`);
  const known = !own || !line.uuid || own.items.some(({ uuid }) => uuid === line.uuid);
  problems.expect(known, `${at}.uuid`, "exists");
}

/** The warehouses exist, the item is kept in stock, and the parts add up to the line's quantity. */
function expectAllocations({ tables }: Company, problems: Problems, line: ItemInput, field: string): void {
  const { warehouseAllocations: allocations } = line;
  if (!allocations) return;
  const item = tables.price_list_items.get(line.priceListItemId ?? -1);
  problems.expect(item?.useWarehouse === true, field, "not_stocked");
  for (const [i, { warehouseId }] of allocations.entries())
    problems.expectIn(tables.warehouses, `${field}.${i}.warehouseId`, warehouseId);
  const sum = allocations.reduce((total, { quantity }) => total + decimal(quantity), 0n);
  problems.expect(sum === decimal(line.quantity), field, "allocations");
}
