import { calls } from "../../support/http/client.ts";

const note = { type: "note", metadata: { content: "Zavolať v pondelok 📞" } } as const;

export const contactCalls = calls(
  {
    operation: "clients.list",
    call: (client) => client.clients.list({ search: "Žilina", sortBy: "countryId", type: "company" }),
    sends: "GET /clients",
    query: { search: "Žilina", sortBy: "countryId", type: "company" },
  },
  {
    operation: "clients.create",
    call: (client) => client.clients.create({ name: "Kováč s.r.o.", vatId: null }),
    sends: "POST /clients",
    json: { name: "Kováč s.r.o.", vatId: null },
    keyed: true,
  },
  { operation: "clients.show", call: (client) => client.clients.show(7), sends: "GET /clients/7" },
  {
    operation: "clients.update",
    call: (client) => client.clients.update(7, { name: "Kováč", preferredDueDays: 365 }),
    sends: "PUT /clients/7",
    json: { name: "Kováč", preferredDueDays: 365 },
  },
  {
    operation: "clients.delete",
    call: (client) => client.clients.delete(7),
    sends: "DELETE /clients/7",
    expects: "nothing",
  },
  { operation: "suppliers.list", call: (client) => client.suppliers.list(), sends: "GET /suppliers" },
  {
    operation: "suppliers.create",
    call: (client) => client.suppliers.create({ name: "Dodávky a.s.", type: "company" }),
    sends: "POST /suppliers",
    json: { name: "Dodávky a.s.", type: "company" },
    keyed: true,
  },
  { operation: "suppliers.show", call: (client) => client.suppliers.show(7), sends: "GET /suppliers/7" },
  {
    operation: "suppliers.update",
    call: (client) => client.suppliers.update(7, { name: "Dodávky" }),
    sends: "PUT /suppliers/7",
    json: { name: "Dodávky" },
  },
  {
    operation: "suppliers.delete",
    call: (client) => client.suppliers.delete(7),
    sends: "DELETE /suppliers/7",
    expects: "nothing",
  },
  {
    operation: "businessCaseStatuses.list",
    call: (client) => client.businessCaseStatuses.list(),
    sends: "GET /business-case-statuses",
  },
  {
    operation: "businessCaseStatuses.create",
    call: (client) => client.businessCaseStatuses.create({ name: "Nový", color: "#00ff00" }),
    sends: "POST /business-case-statuses",
    json: { name: "Nový", color: "#00ff00" },
    keyed: true,
  },
  {
    operation: "businessCaseStatuses.show",
    call: (client) => client.businessCaseStatuses.show(7),
    sends: "GET /business-case-statuses/7",
  },
  {
    operation: "businessCaseStatuses.update",
    call: (client) => client.businessCaseStatuses.update(7, { name: "Nový", color: "#fff" }),
    sends: "PUT /business-case-statuses/7",
    json: { name: "Nový", color: "#fff" },
  },
  {
    operation: "businessCaseStatuses.delete",
    call: (client) => client.businessCaseStatuses.delete(7),
    sends: "DELETE /business-case-statuses/7",
    expects: "nothing",
  },
  {
    operation: "businessCases.list",
    call: (client) => client.businessCases.list({ statusId: null, sortBy: "boardPosition", perPage: 200 }),
    sends: "GET /business-cases",
    query: { statusId: "", sortBy: "boardPosition", perPage: 200 },
  },
  {
    operation: "businessCases.create",
    call: (client) => client.businessCases.create({ clientId: 3, name: "Strecha", statusId: null }),
    sends: "POST /business-cases",
    json: { clientId: 3, name: "Strecha", statusId: null },
    keyed: true,
  },
  {
    operation: "businessCases.show",
    call: (client) => client.businessCases.show(7),
    sends: "GET /business-cases/7",
  },
  {
    operation: "businessCases.update",
    call: (client) => client.businessCases.update(7, { description: null }),
    sends: "PATCH /business-cases/7",
    json: { description: null },
  },
  {
    operation: "businessCases.delete",
    call: (client) => client.businessCases.delete(7),
    sends: "DELETE /business-cases/7",
    expects: "nothing",
  },
  {
    operation: "contactActivityLogs.list",
    call: (client) => client.contactActivityLogs.list({ clientId: 3, type: "phone_call", page: 2 }),
    sends: "GET /contact-activity-logs",
    query: { clientId: 3, type: "phone_call", page: 2 },
  },
  {
    operation: "contactActivityLogs.create",
    call: (client) =>
      client.contactActivityLogs.create({ ...note, supplierId: 3, attachmentUploadTokens: ["t1"] }),
    sends: "POST /contact-activity-logs",
    json: { ...note, supplierId: 3, attachmentUploadTokens: ["t1"] },
    keyed: true,
  },
  {
    operation: "contactActivityLogs.show",
    call: (client) => client.contactActivityLogs.show(7),
    sends: "GET /contact-activity-logs/7",
  },
  {
    operation: "contactActivityLogs.update",
    call: (client) => client.contactActivityLogs.update(7, { metadata: {}, deletedAttachmentIds: [1, 2] }),
    sends: "PATCH /contact-activity-logs/7",
    json: { metadata: {}, deletedAttachmentIds: [1, 2] },
  },
  {
    operation: "contactActivityLogs.delete",
    call: (client) => client.contactActivityLogs.delete(7),
    sends: "DELETE /contact-activity-logs/7",
    expects: "nothing",
  },
  {
    operation: "contactActivityLogs.attachments",
    call: (client) => client.contactActivityLogs.attachments(7),
    sends: "GET /contact-activity-logs/7/attachments",
    expects: "bytes",
  },
  {
    operation: "contactActivityAttachments.upload",
    call: (client) => client.contactActivityAttachments.upload([new File(["obsah"], "zmluva.txt")]),
    sends: "POST /contact-activity-attachments",
  },
);
