import { dateOf, dayOf } from "../../base/calendar.ts";
import type { BankAccount, Document } from "../../model/company-records.ts";
import { expectLookups } from "../../rules/lookup-fields.ts";
import type { Problems } from "../../rules/refusals.ts";
import { documentsOf, type Company } from "../company-state.ts";
import type { DocumentInput, FlowKind } from "./document-input.ts";
import { expectItems } from "./document-items.ts";
import { expectNumber } from "./number-series.ts";
import { successorOf } from "./succession.ts";

/** Everything that can be wrong with a document before anything is made of it. */
export function expectDocument(
  company: Company,
  problems: Problems,
  kind: FlowKind,
  sent: DocumentInput,
  own: Document | null,
): void {
  expectLookups(problems, sent);
  expectClient(company, problems, sent);
  expectNumber(company, problems, kind, sent, own?.id ?? null);
  expectDates(company, problems, sent);
  expectDiscount(problems, sent);
  expectSources(company, problems, kind, sent, own);
  if (kind === "invoice" || kind === "proforma") expectAccount(company, problems, sent.bankAccountId);
  expectItems(company, problems, kind, sent.items, own);
}

function expectClient(company: Company, problems: Problems, { clientId, client }: DocumentInput): void {
  if (clientId !== null && clientId !== undefined) {
    problems.expect(company.tables.clients.has(clientId), "clientId", "exists");
  } else if (client) {
    problems.expect(client.name !== undefined, "client.name", "required");
  } else {
    problems.add("clientId", "required");
  }
  if (client) expectLookups(problems, client, "client.");
}

function expectDates(company: Company, problems: Problems, sent: DocumentInput): void {
  const issueDate = sent.issueDate ?? dateOf(company.settings.today);
  const day = dayOf(issueDate);
  const near = day > dayOf("2009-01-01") && day < company.settings.today + 365;
  problems.expect(near, "issueDate", "too_far");
  const late = sent.deliveryDate !== undefined && sent.deliveryDate > issueDate;
  problems.expect(!late, "deliveryDate", "not_after", { other: "issueDate" });
  const early = typeof sent.validityDate === "string" && sent.validityDate < issueDate;
  problems.expect(!early, "validityDate", "not_before", { other: "issueDate" });
}

function expectDiscount(problems: Problems, { discountType, discountValue }: DocumentInput): void {
  const typed = (discountType ?? null) !== null;
  const valued = (discountValue ?? null) !== null;
  problems.expect(!typed || valued, "discountValue", "required");
  problems.expect(
    discountType !== "percentage" || (discountValue ?? 0) <= 100,
    "discountValue",
    "max_number",
    { limit: 100 },
  );
}

/** A source exists and has no other document of this kind made from it. */
function expectSources(
  company: Company,
  problems: Problems,
  kind: FlowKind,
  sent: DocumentInput,
  own: Document | null,
): void {
  const sources = [
    ["proforma", "proformaId", sent.proformaId],
    ["order", "orderId", sent.orderId],
    ["quotation", "quotationId", sent.quotationId],
  ] as const;
  for (const [source, field, id] of sources) {
    if (id === null || id === undefined) continue;
    if (!documentsOf(company, source).has(id)) problems.add(field, "exists");
    else {
      const other = successorOf(company, source, id, kind);
      problems.expect(other === null || other === own?.id, field, "linked");
    }
  }
}

export function expectAccount(company: Company, problems: Problems, id: number | undefined): void {
  if (id !== undefined) problems.expect(company.tables.bank_accounts.has(id), "bankAccountId", "exists");
  else problems.expect(primaryAccount(company) !== undefined, "bankAccountId", "no_primary_account");
}

export function primaryAccount(company: Company): BankAccount | undefined {
  return [...company.tables.bank_accounts.values()].find(({ isPrimary }) => isPrimary);
}

/** The case belongs to the document's client. */
export function expectCase(
  company: Company,
  problems: Problems,
  caseId: number | null | undefined,
  clientId: number,
): void {
  if (caseId === null || caseId === undefined) return;
  const item = company.tables.business_cases.get(caseId);
  problems.expect(item?.contactType === "client" && item.contactId === clientId, "businessCaseId", "exists");
}
