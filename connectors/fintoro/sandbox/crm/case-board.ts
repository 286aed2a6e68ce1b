import { z } from "zod";
import { everyKey, latin, omit } from "../base/values.ts";
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
import {
  collection,
  removeActivitiesOf,
  stampsOf,
  stampsView,
  type Write,
} from "../collections/collection.ts";
import { refuse } from "../rules/problems.ts";
import { id, query, sentOnly, text } from "../rules/request-shape.ts";

/** The columns of the board. The cases of one that is removed stay without one, and without events. */
export const caseStatuses = collection("business_case_statuses", {
  shape: z.object({ name: text().min(1), color: text(7).min(4) }),
  facts: ({ sent }) => sent,
  view: (_, status) => ({ ...status }),
  beforeRemove: ({ tables: { business_cases: cases } }, { id: own }) => {
    for (const item of cases.where(({ statusId }) => statusId === own))
      cases.replace({ ...item, statusId: null });
  },
});

const caseShape = z.object({
  ...everyKey(["clientId", "supplierId", "statusId"], id().nullish()),
  name: text().min(1),
  description: z.string().nullish(),
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
  shape: caseShape,
  facts: caseFacts,
  view: caseView,
  list: (call) => {
    const { clientId, supplierId } = call.query;
    if (clientId !== undefined && supplierId !== undefined)
      refuse("supplierId", "not_together", { other: "clientId" });
    return listCases(call);
  },
  method: "PATCH",
  beforeRemove: (company, { id: own }) => removeActivitiesOf(company, "businessCase", own),
});

/** A case of one client or supplier, which never changes; at the end of its column. */
function caseFacts({
  company,
  sent,
  own,
}: Write<BusinessCase, z.output<typeof caseShape>>): Omit<BusinessCase, "id"> {
  const { clientId = null, supplierId = null, ...facts } = sent;
  if (!own && (clientId === null) === (supplierId === null))
    refuse("clientId", "exactly_one", { fields: "clientId, supplierId" });
  const contactType = clientId === null ? "supplier" : "client";
  const start = {
    contactType,
    contactId: clientId ?? supplierId ?? 0,
    description: null,
    statusId: null,
  } as const;
  const after = { ...start, ...own, ...sentOnly(facts), name: facts.name ?? own?.name ?? "" };
  const isMoved = after.statusId !== own?.statusId;
  const boardPosition = own && !isMoved ? own.boardPosition : endOfColumn(company, after.statusId);
  return { ...after, boardPosition, ...stampsOf(company, own) };
}

/** The board position after the last case with this status. */
function endOfColumn({ tables }: Company, statusId: number | null): number {
  let last = 0;
  for (const item of tables.business_cases.values())
    if (item.statusId === statusId) last = Math.max(last, item.boardPosition);
  return last + 1;
}
