import { z } from "zod";
import type { BusinessCase, CaseStatus } from "../../model/company-records.ts";
import { check, type Problems } from "../../rules/refusals.ts";
import { id, parse, text } from "../../rules/request-shape.ts";
import { addRecord, removeRecord, saveRecord, stampsOf, type Company } from "../company-state.ts";
import { removeActivitiesOf } from "./activities.ts";

const color = text(7).refine((value) => /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value), {
  params: { key: "color" },
});
const statusInput = z.object({ name: text().min(1), color });

export function createStatus(company: Company, input: unknown): CaseStatus {
  return addRecord(company, "business_case_statuses", parse(statusInput, input));
}

export function updateStatus(company: Company, { id: own }: CaseStatus, input: unknown): CaseStatus {
  return saveRecord(company, "business_case_statuses", { id: own, ...parse(statusInput, input) });
}

/** Removes the status. Its cases stay without one, and without events of their own. */
export function deleteStatus(company: Company, status: CaseStatus): void {
  const { business_cases: cases } = company.tables;
  for (const item of cases.values())
    if (item.statusId === status.id) cases.replace({ ...item, statusId: null });
  removeRecord(company, "business_case_statuses", status);
}

const caseInput = z.object({
  clientId: id().nullish(),
  supplierId: id().nullish(),
  statusId: id().nullish(),
  name: text().min(1),
  description: z.string().nullish(),
});
const casePatch = caseInput.partial().extend({
  clientId: z.unknown().optional(),
  supplierId: z.unknown().optional(),
});

/** Creates a case of one client or supplier, at the end of its column. */
export function createCase(company: Company, input: unknown): BusinessCase {
  const sent = parse(caseInput, input);
  const { clientId = null, supplierId = null, statusId = null } = sent;
  check((problems) => {
    const { clients, suppliers } = company.tables;
    const both = { fields: "clientId, supplierId" };
    problems.expect((clientId === null) !== (supplierId === null), "clientId", "exactly_one", both);
    problems.expect(clientId === null || clients.has(clientId), "clientId", "exists");
    problems.expect(supplierId === null || suppliers.has(supplierId), "supplierId", "exists");
    expectStatus(company, problems, statusId);
  });
  return addRecord(company, "business_cases", {
    contactType: clientId === null ? "supplier" : "client",
    contactId: clientId ?? supplierId ?? 0,
    name: sent.name,
    description: sent.description ?? null,
    statusId,
    boardPosition: endOfColumn(company, statusId),
    ...stampsOf(company),
  });
}

function expectStatus(company: Company, problems: Problems, statusId: number | null): void {
  const known = statusId === null || company.tables.business_case_statuses.has(statusId);
  problems.expect(known, "statusId", "exists");
}

/** The board position after the last case with this status. */
function endOfColumn(company: Company, statusId: number | null): number {
  const column = company.tables.business_cases.where((item) => item.statusId === statusId);
  return column.reduce((last, { boardPosition }) => Math.max(last, boardPosition), 0) + 1;
}

/** Changes only what is sent; the contact never changes. */
export function updateCase(company: Company, item: BusinessCase, input: unknown): BusinessCase {
  const { clientId, supplierId, ...sent } = parse(casePatch, input);
  const { name = item.name, description = item.description, statusId = item.statusId } = sent;
  check((problems) => {
    problems.expect(clientId === undefined, "clientId", "prohibited");
    problems.expect(supplierId === undefined, "supplierId", "prohibited");
    if (sent.statusId !== undefined) expectStatus(company, problems, statusId);
  });
  const boardPosition = statusId === item.statusId ? item.boardPosition : endOfColumn(company, statusId);
  const updatedAtMs = company.clock.nowMs();
  return saveRecord(company, "business_cases", {
    ...item,
    name,
    description,
    statusId,
    boardPosition,
    updatedAtMs,
  });
}

/** Removes the case and its CRM events. */
export function deleteCase(company: Company, item: BusinessCase): void {
  removeActivitiesOf(company, { kind: "businessCase", id: item.id });
  removeRecord(company, "business_cases", item);
}
