import { z } from "zod";
import type { BusinessCase, CaseStatus } from "../../model/company-records.ts";
import { Problems } from "../../rules/refusals.ts";
import { id, parse, text } from "../../rules/request-shape.ts";
import { removeLogsOf } from "./activity-index.ts";
import type { Company } from "../company-state.ts";
import { emit } from "../emit.ts";

const color = z
  .string()
  .max(7)
  .refine((value) => /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value), { params: { key: "color" } });
const statusInput = z.object({ name: text().min(1), color });

export function createStatus(company: Company, input: unknown): CaseStatus {
  const facts = parse(statusInput, input);
  const status = company.tables.business_case_statuses.add((newId) => ({ id: newId, ...facts }));
  emit(company, "business_case_statuses", "created", status.id);
  return status;
}

export function updateStatus(company: Company, status: CaseStatus, input: unknown): CaseStatus {
  const saved = company.tables.business_case_statuses.replace({
    id: status.id,
    ...parse(statusInput, input),
  });
  emit(company, "business_case_statuses", "updated", status.id);
  return saved;
}

/** Its cases stay, without a status; nobody is told of each. */
export function deleteStatus(company: Company, status: CaseStatus): void {
  const { business_cases: cases } = company.tables;
  for (const item of cases.values()) {
    if (item.statusId === status.id) cases.replace({ ...item, statusId: null });
  }
  company.tables.business_case_statuses.remove(status.id);
  emit(company, "business_case_statuses", "deleted", status.id);
}

const caseInput = z.object({
  clientId: id().nullish(),
  supplierId: id().nullish(),
  statusId: id().nullish(),
  name: text().min(1),
  description: z.string().nullish(),
});
const casePatch = z.object({
  clientId: z.unknown().optional(),
  supplierId: z.unknown().optional(),
  statusId: id().nullish(),
  name: text().min(1).optional(),
  description: z.string().nullish(),
});

export function createCase(company: Company, input: unknown): BusinessCase {
  const sent = parse(caseInput, input);
  const contact = contactOf(company, sent);
  const statusId = sent.statusId ?? null;
  const now = company.clock.nowMs();
  const item = company.tables.business_cases.add((newId) => ({
    id: newId,
    ...contact,
    name: sent.name,
    description: sent.description ?? null,
    statusId,
    boardPosition: endOfColumn(company, statusId),
    createdAtMs: now,
    updatedAtMs: now,
  }));
  emit(company, "business_cases", "created", item.id);
  return item;
}

function contactOf(
  company: Company,
  sent: z.output<typeof caseInput>,
): Pick<BusinessCase, "contactType" | "contactId"> {
  const { clients, suppliers } = company.tables;
  const clientId = sent.clientId ?? null;
  const supplierId = sent.supplierId ?? null;
  const problems = new Problems();
  const both = { fields: "clientId, supplierId" };
  problems.expect((clientId === null) !== (supplierId === null), "clientId", "exactly_one", both);
  problems.expect(clientId === null || clients.has(clientId), "clientId", "exists");
  problems.expect(supplierId === null || suppliers.has(supplierId), "supplierId", "exists");
  expectStatus(company, problems, sent.statusId);
  problems.settle();
  return clientId === null
    ? { contactType: "supplier", contactId: supplierId ?? 0 }
    : { contactType: "client", contactId: clientId };
}

function expectStatus(company: Company, problems: Problems, statusId: number | null | undefined): void {
  const known =
    statusId === null || statusId === undefined || company.tables.business_case_statuses.has(statusId);
  problems.expect(known, "statusId", "exists");
}

function endOfColumn(company: Company, statusId: number | null): number {
  let last = 0;
  for (const item of company.tables.business_cases.values()) {
    if (item.statusId === statusId) last = Math.max(last, item.boardPosition);
  }
  return last + 1;
}

/** Only what is sent changes; the contact never does. */
export function updateCase(company: Company, item: BusinessCase, input: unknown): BusinessCase {
  const sent = parse(casePatch, input);
  const problems = new Problems();
  problems.expect(sent.clientId === undefined, "clientId", "prohibited");
  problems.expect(sent.supplierId === undefined, "supplierId", "prohibited");
  expectStatus(company, problems, sent.statusId);
  problems.settle();
  const statusId = sent.statusId === undefined ? item.statusId : sent.statusId;
  const saved = company.tables.business_cases.replace({
    ...item,
    name: sent.name ?? item.name,
    description: sent.description === undefined ? item.description : sent.description,
    statusId,
    boardPosition: statusId === item.statusId ? item.boardPosition : endOfColumn(company, statusId),
    updatedAtMs: company.clock.nowMs(),
  });
  emit(company, "business_cases", "updated", item.id);
  return saved;
}

export function deleteCase(company: Company, item: BusinessCase): void {
  removeLogsOf(company, { kind: "businessCase", id: item.id });
  company.tables.business_cases.remove(item.id);
  emit(company, "business_cases", "deleted", item.id);
}
