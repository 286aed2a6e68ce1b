import { z } from "zod";
import { omit } from "../base/values.ts";
import { clients, suppliers } from "../collections/partners.ts";
import { isIn, tenPerPage, type View } from "../collections/record-list.ts";
import { collection, removeActivitiesOf, stampsOf, stampsView } from "../collections/collection.ts";
import type { BusinessCase } from "../model/records.ts";
import { refuse } from "../rules/problems.ts";
import { nullable, sentOnly } from "../rules/request-shape.ts";

/** The columns of the board. The cases of one that is removed stay without one, and without events. */
export const caseStatuses = collection("business_case_statuses", {
  shape: z.object({ name: z.string(), color: z.string() }),
  facts: ({ sent }) => sent,
  view: (_, status) => ({ ...status }),
  beforeRemove: ({ tables: { business_cases: cases } }, { id: own }) => {
    for (const item of cases.where(({ statusId }) => statusId === own))
      cases.replace({ ...item, statusId: null });
  },
});

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

const ofContact = (type: BusinessCase["contactType"]) => (item: BusinessCase, wanted: string) =>
  item.contactType === type && item.contactId === Number(wanted);

/** Business cases. One goes with its CRM events. */
export const cases = collection("business_cases", {
  shape: z.object({
    ...nullable(["clientId", "supplierId", "statusId"], z.int()),
    name: z.string(),
    description: z.string().nullish(),
  }),
  /** A case of one client or supplier, which never changes; at the end of its column. */
  facts: ({ company, sent, own }) => {
    const { clientId = null, supplierId = null, ...changes } = sent;
    const contactId = own?.contactId ?? clientId ?? supplierId ?? refuse("clientId", "required");
    const contactType = clientId === null ? "supplier" : "client";
    const start = { contactType, contactId, description: null, statusId: null } as const;
    const after = { ...start, ...own, ...sentOnly(changes), name: changes.name ?? own?.name ?? "" };
    const column = company.tables.business_cases.where(({ statusId }) => statusId === after.statusId);
    const last = column.reduce((most, { boardPosition }) => Math.max(most, boardPosition), 0);
    const boardPosition = own?.statusId === after.statusId ? own.boardPosition : last + 1;
    return { ...after, boardPosition, ...stampsOf(company, own) };
  },
  view: caseView,
  list: {
    filters: {
      clientId: ofContact("client"),
      supplierId: ofContact("supplier"),
      // Empty asks for cases without a status.
      statusId: ({ statusId }, wanted) => (statusId ?? 0) === Number(wanted),
      search: ({ name, description }, wanted) => isIn(wanted, name, description),
    },
    usualOrder: ["id", "desc"],
    pageSize: tenPerPage,
  },
  method: "PATCH",
  beforeRemove: (company, { id: own }) => removeActivitiesOf(company, "businessCase", own),
});
