import { z } from "zod";
import { latin, omit } from "../base/values.ts";
import type { Company } from "../model/company-state.ts";
import type { BusinessCase } from "../model/records.ts";
import { clients, isIn, suppliers } from "../collections/partners.ts";
import {
  by,
  byTimes,
  recordList,
  tenPerPage,
  type ListRules,
  type View,
} from "../collections/record-list.ts";
import { removeActivitiesOf, collection, stampsOf, stampsView } from "../collections/collection.ts";
import { check, refuse } from "../rules/problems.ts";
import { filled, id, parse, query, text } from "../rules/request-shape.ts";

const isColor = (value: string) => /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value);
const color = text(7).refine(isColor, { params: { key: "color" } });
const statusShape = z.object({ name: text().min(1), color });

/** The columns of the board. The cases of one that is removed stay without one, and without events. */
export const caseStatuses = collection("business_case_statuses", {
  factsFrom: (_, input) => parse(statusShape, input),
  view: (_, status) => ({ ...status }),
  beforeRemove: ({ tables: { business_cases: cases } }, { id: own }) => {
    for (const item of cases.where(({ statusId }) => statusId === own))
      cases.replace({ ...item, statusId: null });
  },
});

const caseShape = z.object({
  clientId: id().nullish(),
  supplierId: id().nullish(),
  statusId: id().nullish(),
  name: text().min(1),
  description: z.string().nullish(),
});
const casePatch = caseShape.partial().extend({
  clientId: z.unknown().optional(),
  supplierId: z.unknown().optional(),
});

/** What an empty `statusId` becomes: it asks for cases without a status. */
const noStatus = -1;

/** Without `sortBy` the newest id comes first; `id` itself is not a value that `sortBy` takes. */
const caseList: ListRules<BusinessCase> = {
  filters: {
    clientId: by.int((one, wanted) => one.contactType === "client" && one.contactId === wanted),
    supplierId: by.int((one, wanted) => one.contactType === "supplier" && one.contactId === wanted),
    statusId: {
      schema: z.preprocess((sent) => (sent === "" ? String(noStatus) : sent), query.int()).optional(),
      test: ({ statusId }, wanted: number) => (statusId ?? noStatus) === wanted,
    },
    search: by.text(({ name, description }, wanted) => isIn(wanted, `${name}\n${description ?? ""}`)),
  },
  sorts: { name: ({ name }) => latin(name), ...byTimes, boardPosition: ({ boardPosition }) => boardPosition },
  usualOrder: ["id", "desc"],
  pageSize: tenPerPage,
};

const caseView: View<BusinessCase> = (company, item, language) => {
  const { contactType, contactId, statusId } = item;
  const { tables } = company;
  const client = contactType === "client" && tables.clients.get(contactId);
  const supplier = contactType === "supplier" && tables.suppliers.get(contactId);
  const status = tables.business_case_statuses.get(statusId ?? 0);
  return {
    ...omit(item, ["statusId", "createdAtMs", "updatedAtMs"]),
    client: client ? clients.view(company, client, language) : null,
    supplier: supplier ? suppliers.view(company, supplier, language) : null,
    status: status ? { ...status } : null,
    ...stampsView(item),
  };
};

const listCases = recordList("business_cases", caseList, caseView);

/** Business cases. One goes with its CRM events; a list is of one contact at most. */
export const cases = collection("business_cases", {
  method: "PATCH",
  factsFrom: (company, input, own) => (own ? changedCase(company, input, own) : newCase(company, input)),
  view: caseView,
  list: (call) => {
    const { clientId, supplierId } = call.query;
    if (clientId !== undefined && supplierId !== undefined)
      refuse("supplierId", "not_together", { other: "clientId" });
    return listCases(call);
  },
  beforeRemove: (company, { id: own }) => removeActivitiesOf(company, "businessCase", own),
});

/** A case of one client or supplier, at the end of its column. */
function newCase(company: Company, input: unknown): Omit<BusinessCase, "id"> {
  const { clientId, supplierId, ...facts } = filled(caseShape, parse(caseShape, input));
  const { tables } = company;
  check((problems) => {
    const both = { fields: "clientId, supplierId" };
    problems.expect((clientId === null) !== (supplierId === null), "clientId", "exactly_one", both);
    problems.expectIn(tables.clients, "clientId", clientId);
    problems.expectIn(tables.suppliers, "supplierId", supplierId);
    problems.expectIn(tables.business_case_statuses, "statusId", facts.statusId);
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
    if (statusId !== own.statusId)
      problems.expectIn(company.tables.business_case_statuses, "statusId", statusId);
  });
  const boardPosition = statusId === own.statusId ? own.boardPosition : endOfColumn(company, statusId);
  return { ...own, name, description, statusId, boardPosition, ...stampsOf(company, own) };
}

/** The board position after the last case with this status. */
function endOfColumn({ tables }: Company, statusId: number | null): number {
  let last = 0;
  for (const item of tables.business_cases.values())
    if (item.statusId === statusId) last = Math.max(last, item.boardPosition);
  return last + 1;
}
