import { z } from "zod";
import type { BusinessCase } from "../../model/company-records.ts";
import { check } from "../../rules/problems.ts";
import { filled, id, parse, text } from "../../rules/request-shape.ts";
import type { Company } from "../company-state.ts";
import { recordWrites, stampsOf } from "../record-writes.ts";
import { removeActivitiesOf } from "./activities.ts";

const color = text(7).refine((value) => /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value), {
  params: { key: "color" },
});
const statusInput = z.object({ name: text().min(1), color });

/** The cases of a status that is removed stay without one, and without events of their own. */
export const statusWrites = recordWrites(
  "business_case_statuses",
  (_, input) => parse(statusInput, input),
  ({ tables: { business_cases: cases } }, status) => {
    for (const item of cases.where(({ statusId }) => statusId === status.id))
      cases.replace({ ...item, statusId: null });
  },
);

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

/** A case goes with its CRM events. */
export const caseWrites = recordWrites(
  "business_cases",
  (company, input, own) => (own ? changedCase(company, input, own) : newCase(company, input)),
  (company, item) => removeActivitiesOf(company, { kind: "businessCase", id: item.id }),
);

/** A case of one client or supplier, at the end of its column. */
function newCase(company: Company, input: unknown): Omit<BusinessCase, "id"> {
  const { clientId, supplierId, ...facts } = filled(caseInput, parse(caseInput, input));
  const { clients, suppliers } = company.tables;
  check((problems) => {
    const both = { fields: "clientId, supplierId" };
    problems.expect((clientId === null) !== (supplierId === null), "clientId", "exactly_one", both);
    problems.expect(clientId === null || clients.has(clientId), "clientId", "exists");
    problems.expect(supplierId === null || suppliers.has(supplierId), "supplierId", "exists");
    problems.expect(isStatus(company, facts.statusId), "statusId", "exists");
  });
  return {
    contactType: clientId === null ? "supplier" : "client",
    contactId: clientId ?? supplierId ?? 0,
    ...facts,
    boardPosition: endOfColumn(company, facts.statusId),
    ...stampsOf(company),
  };
}

/** Only what is sent changes; the contact never changes. */
function changedCase(company: Company, input: unknown, own: BusinessCase): BusinessCase {
  const { clientId, supplierId, ...sent } = parse(casePatch, input);
  const { name = own.name, description = own.description, statusId = own.statusId } = sent;
  check((problems) => {
    problems.expect(clientId === undefined, "clientId", "prohibited");
    problems.expect(supplierId === undefined, "supplierId", "prohibited");
    problems.expect(statusId === own.statusId || isStatus(company, statusId), "statusId", "exists");
  });
  const boardPosition = statusId === own.statusId ? own.boardPosition : endOfColumn(company, statusId);
  return { ...own, name, description, statusId, boardPosition, ...stampsOf(company, own) };
}

function isStatus({ tables }: Company, statusId: number | null): boolean {
  return statusId === null || tables.business_case_statuses.has(statusId);
}

/** The board position after the last case with this status. */
function endOfColumn({ tables }: Company, statusId: number | null): number {
  const column = tables.business_cases.where((item) => item.statusId === statusId);
  return Math.max(0, ...column.map(({ boardPosition }) => boardPosition)) + 1;
}
