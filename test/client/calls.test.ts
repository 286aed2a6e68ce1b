import { expect, it } from "vitest";
import type { FintoroClient } from "../../connectors/fintoro/client/client.ts";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { isObject } from "../../src/json/literal.ts";
import { callOf, recordingClient } from "../support/http/client.ts";

const note = { type: "note", metadata: { content: "Zavolať v pondelok 📞" } } as const;
const warehouse = {
  name: "Sklad",
  code: "S1",
  inboundNumericalSeriesPattern: "P{n}",
  inboundNumericalSeriesNextNumber: 1,
  outboundNumericalSeriesPattern: "V{n}",
  outboundNumericalSeriesNextNumber: 1,
};
const receiptItems = [{ priceListItemId: 5, quantity: 0.5, unitPrice: -3.1, vatRate: 23 }];
const receipt = { number: "P1", warehouseId: 1, languageId: 1, issueDate: "2026-11-21", items: receiptItems };
const item = { name: "Skrutka", unitPrice: 0.05, unitId: 1, vatRate: 23 };
const line = { name: "Práca", unitPrice: 40, vatRate: 23, quantity: 2 };
const kept = { ...line, uuid: "0198c2a0-0000-4000-8000-000000000001" };
const sale = { clientId: 3, items: [line] };
const dates = { issueDate: "2026-11-21", dueDate: "2026-11-21", deliveryDate: "2026-11-21" };
const own = { invoiceId: 4, number: "D20260001", bankAccountId: 1, variableSymbol: 9_999_999_999 };
const settings = { paymentMethodId: 1, currencyId: 1, currencyRate: 1, languageId: 1 };
const creditLine = { ...line, quantity: 1, unitPrice: -40 };
const creditNote = { ...own, ...dates, ...settings, transferTaxLiability: false, items: [creditLine] };
const hook = { url: "https://hooks.example.com/in", isActive: true, subscribedEvents: ["invoices.paid"] };

type Groups = Omit<FintoroClient, "whoami">;
/** What a method takes besides the id of a record. */
type Input<M> = M extends (id: never, input: infer I, ...rest: never[]) => unknown
  ? I | FirstOf<M>
  : FirstOf<M>;
type FirstOf<M> = M extends (input: infer I, ...rest: never[]) => unknown ? I : never;
type Inputs = { readonly [G in keyof Groups]?: { readonly [M in keyof Groups[G]]?: Input<Groups[G][M]> } };

const inputs: Inputs = {
  numericalSeries: { list: { documentType: "credit-note" } },
  subjects: { search: { searchQuery: "Novák & syn", legalForm: "company", limit: 20 } },
  bankAccounts: {
    create: { name: "Hlavný", iban: "SK31", swift: "TATRSKBX" },
    update: { isPrimary: true, bankId: null },
  },
  webhookSubscriptions: { create: hook, update: { ...hook, name: null, isActive: false } },
  clients: {
    list: { search: "Žilina", sortBy: "countryId", type: "company" },
    create: { name: "Kováč s.r.o.", vatId: null },
    update: { name: "Kováč", preferredDueDays: 365 },
  },
  suppliers: { create: { name: "Dodávky a.s.", type: "company" }, update: { name: "Dodávky" } },
  businessCaseStatuses: {
    create: { name: "Nový", color: "#00ff00" },
    update: { name: "Nový", color: "#fff" },
  },
  businessCases: {
    list: { statusId: null, sortBy: "boardPosition", perPage: 200 },
    create: { clientId: 3, name: "Strecha", statusId: null },
    update: { description: null },
  },
  contactActivityLogs: {
    list: { clientId: 3, type: "phone_call", page: 2 },
    create: { ...note, supplierId: 3, attachmentUploadTokens: ["t1"] },
    update: { metadata: {}, deletedAttachmentIds: [1, 2] },
  },
  contactActivityAttachments: { upload: { files: [new File(["obsah"], "zmluva.txt")] } },
  warehouses: { create: warehouse, update: warehouse },
  warehouseInboundReceipts: {
    list: { warehouseId: 1, sortBy: "issue_date", perPage: 200 },
    create: { ...receipt, supplier: { name: "Dodávky" } },
    update: receipt,
  },
  warehouseOutboundReceipts: { list: { clientId: 3 }, create: { ...receipt, clientId: 3 }, update: receipt },
  priceListItems: {
    list: { onlyWarehouseItems: true, priceFrom: 0.1, sortBy: "unit_price" },
    create: item,
    update: item,
  },
  invoices: {
    list: { paymentStatus: "overdue", issueDateFrom: "2026-01-01", perPage: 500 },
    create: sale,
    update: { ...sale, items: [kept] },
    createCreditNote: { note: null },
  },
  creditNotes: {
    list: { sortBy: "total", sortDirection: "desc" },
    create: creditNote,
    update: { ...creditNote, items: [kept] },
  },
  proformas: {
    list: { withoutInvoice: true },
    create: { client: { name: "Nový" }, items: [line] },
    update: sale,
  },
  orders: {
    list: { withoutProforma: false, totalTo: 100.5 },
    create: { ...sale, quotationId: 9 },
    update: sale,
  },
  quotations: {
    list: { status: "waiting", validityDateTo: "2026-12-31" },
    create: { ...sale, validityDate: null },
    update: sale,
  },
  documentPayments: {
    list: { documentType: "received-invoice", documentId: 4 },
    create: { documentType: "invoice", documentId: 4, amount: 12.3 },
  },
  documentMails: { send: { documentType: "order", documentId: 4, to: ["jan@novák.sk"], type: "reminder" } },
};

/** What the usual methods of a group send, with the group's own path before it. */
const usual = new Map([
  ["list", "GET "],
  ["search", "GET "],
  ["create", "POST "],
  ["send", "POST "],
  ["upload", "POST "],
  ["show", "GET /7"],
  ["update", "PUT /7"],
  ["delete", "DELETE /7"],
  ["pdf", "GET /7/pdf"],
  ["attachments", "GET /7/attachments"],
  ["createCreditNote", "POST /7/credit-notes"],
  ["rotateSecret", "POST /7/rotate-secret"],
]);
/** Of these, an update changes the fields that are sent. */
const patched = new Set(["bankAccounts", "businessCases", "contactActivityLogs"]);
const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The method and the path of a call for record 7, by its name. */
function requestOf(operation: string): string {
  const [group = "", name = ""] = operation.split(".");
  if (group === "token" || group === "lookups") return `GET /${kebab(name)}`;
  const [method = "", rest = ""] = (usual.get(name) ?? "").split(" ");
  return `${name === "update" && patched.has(group) ? "PATCH" : method} /${kebab(group)}${rest}`;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** The service takes no `Idempotency-Key` for these. */
const withoutKey = /^(bankAccounts\.create|warehouses\.create|.*\.rotateSecret|.*\.upload)$/;

it.each(declaration.operations.map(({ name }) => [name, requestOf(name)] as const))(
  "a method makes exactly the request that its name says: %s sends %s",
  async (operation, sends) => {
    const [group = "", name = ""] = operation.split(".");
    const given = (inputs as Record<string, Readonly<Record<string, unknown>> | undefined>)[group]?.[name];
    const { client, sent } = recordingClient();
    const ids = sends.includes("/7") ? [7] : [];
    await callOf(client, operation, given === undefined ? ids : [...ids, given]);
    expect(sent).toHaveLength(1);
    const [request] = sent;
    const [method] = sends.split(" ");
    const isRead = method === "GET";
    const isKeyed = method === "POST" && !withoutKey.test(operation);
    const body = isObject(given) ? given : undefined;
    expect(`${request?.method} ${request?.path}`).toBe(sends);
    // A null asks for records without a value.
    const query = isRead ? Object.entries(body ?? {}).map(([key, value]) => [key, value ?? ""]) : [];
    expect(request?.query ?? {}).toStrictEqual(Object.fromEntries(query));
    // Files go as a form.
    expect(request?.json).toEqual(isRead || name === "upload" ? undefined : body);
    const isFile = /\/(?:pdf|attachments)$/.test(sends);
    const isNothing = method === "DELETE" || operation === "documentMails.send";
    expect(request?.expect).toBe(isFile ? "bytes" : isNothing ? "nothing" : "json");
    expect(request?.idempotencyKey).toEqual(isKeyed ? expect.stringMatching(uuid) : undefined);
  },
);

it("operations have one name and one address each", () => {
  const routes = declaration.operations.map(({ method, path }) => `${method} ${path}`);
  expect(new Set(routes).size).toBe(routes.length);
  expect(new Set(declaration.operations.map(({ name }) => name)).size).toBe(routes.length);
});
