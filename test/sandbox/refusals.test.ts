import { expect, test } from "vitest";
import { one, fieldsOf, get, openSandbox, post, testDay, type Dict } from "../support/sandbox/sandbox.ts";
import { line, receipt, stocked } from "../support/sandbox/trade.ts";

const account = { name: "Nový účet", iban: "SK31 1200 0000 1987 4263 7541", swift: "TATRSKBX" };
const series = { inboundNumericalSeriesPattern: "P(CCC)", inboundNumericalSeriesNextNumber: 1 };
const others = { outboundNumericalSeriesPattern: "V(CCC)", outboundNumericalSeriesNextNumber: 1 };
const item = { name: "Čaj", unitPrice: 4.2, unitId: 1, vatRate: 19 };
const hook = { url: "https://hooks.firma.sk/in", isActive: true, subscribedEvents: ["invoices.created"] };
const note = { type: "note", metadata: { content: "x" } };
const mail = { documentType: "order", to: ["a@b.example"], type: "regular" };

/** What is sent to each path, and which field each change of it is refused on. */
const rows: [path: string, valid: Dict, changes: [change: Dict, fields: string][]][] = [
  [
    "/clients",
    { name: "Acme", countryId: 703 },
    [
      [{ name: undefined }, "name"],
      [{ name: "" }, "name"],
      [{ name: "x".repeat(256) }, "name"],
      [{ type: "firm" }, "type"],
      [{ email: "nobody" }, "email"],
      [{ countryId: 1 }, "countryId"],
      [{ preferredDueDays: 366, preferredCurrencyId: 99 }, "preferredCurrencyId,preferredDueDays"],
      [{ isVatPayer: "yes", street: 5 }, "isVatPayer,street"],
    ],
  ],
  [
    "/bank-accounts",
    account,
    [
      [{ bankId: 2 }, "bankId"],
      [{ autoPairingStrategy: "by_luck" }, "autoPairingStrategy"],
    ],
  ],
  ["/warehouses", { name: "Nitra", code: "NR", ...series, ...others }, [[{ code: "HL" }, "code"]]],
  [
    "/price-list-items",
    item,
    [
      [{ vatRate: 24, unitId: 13 }, "unitId,vatRate"],
      [{ warehouseCode: "SKL-0003" }, "warehouseCode"],
    ],
  ],
  ["/business-case-statuses", { name: "Nové", color: "#22aa44" }, [[{ color: undefined }, "color"]]],
  [
    "/business-cases",
    { name: "Prípad", clientId: 101 },
    [
      [{ clientId: 999_999 }, "clientId"],
      [{ supplierId: 138 }, "clientId"],
    ],
  ],
  [
    "/contact-activity-logs",
    { ...note, clientId: 101 },
    [
      [{ clientId: undefined }, "businessCaseId"],
      [{ metadata: {} }, "metadata.content"],
      [{ type: "document_linked", metadata: { documentType: "invoice" } }, "metadata.documentId"],
      [{ type: "document_created" }, "type"],
      [{ attachmentUploadTokens: ["unknown"] }, "attachmentUploadTokens.0"],
    ],
  ],
  [
    "/webhook-subscriptions",
    hook,
    [
      [{ subscribedEvents: [] }, "subscribedEvents"],
      [{ subscribedEvents: ["invoices.lost"] }, "subscribedEvents.0"],
      ...[
        "http://hooks.firma.sk/in",
        "https://user:secret@hooks.firma.sk/in",
        "https://localhost/in",
        "no url",
      ].map((url): [Dict, string] => [{ url }, "url"]),
      ...[
        "127.0.0.1",
        "10.1.2.3",
        "172.20.0.1",
        "192.168.1.10",
        "100.64.0.1",
        "[::1]",
        "[fd00::1]",
        "intranet",
      ].map((host): [Dict, string] => [{ url: `https://${host}/in` }, "url"]),
    ],
  ],
  [
    "/invoices",
    { clientId: 101, items: [line] },
    [
      [{ items: [] }, "items"],
      [{ clientId: undefined }, "clientId"],
      [{ clientId: 999_999 }, "clientId"],
      [{ bankAccountId: 999_999 }, "bankAccountId"],
      [{ number: "2024001" }, "number"],
      [{ number: "x".repeat(21) }, "number"],
      [{ issueDate: "2026-13-01" }, "issueDate"],
      [{ currencyRate: 0 }, "currencyRate"],
      [{ discountType: "half", discountValue: 1 }, "discountType"],
      [{ proformaId: 999_999 }, "proformaId"],
      [{ items: [{ quantity: 1 }] }, "items.0.name,items.0.unitPrice,items.0.vatRate"],
      [{ items: [line, { ...line, vatRate: 24 }] }, "items.1.vatRate"],
      [{ items: [{ ...line, priceListItemId: 1 }] }, "items.0.priceListItemId"],
    ],
  ],
  [
    "/document-payments",
    { documentType: "invoice", documentId: 471, amount: 1 },
    [
      [{ documentType: "order" }, "documentType"],
      [{ documentId: 999_999 }, "documentId"],
      [{ amount: 0 }, "amount"],
      [{ amount: "much" }, "amount"],
      [{ paymentDate: "yesterday" }, "paymentDate"],
    ],
  ],
  [
    "/document-mails",
    { ...mail, documentId: 582 },
    [
      [{ to: ["nobody"] }, "to.0"],
      [{ documentId: 999_999 }, "documentId"],
      [{ documentType: "letter" }, "documentType"],
    ],
  ],
];

test.each(rows)(
  "%s refuses what does not fit, names each field, and makes nothing",
  async (path, valid, changes) => {
    const sandbox = await openSandbox();
    for (const [change, fields] of changes) {
      const heard = await post(sandbox, path, { ...valid, ...change });
      expect([change, heard.status, fieldsOf(heard).toSorted().join()]).toEqual([change, 422, fields]);
    }
    expect(sandbox.control.events()).toEqual([]);
    expect((await post(sandbox, path, valid)).status).toBeOneOf([201, 202]);
  },
);

test("nothing leaves a warehouse that is not there, and only numbers that are free are taken", async () => {
  const sandbox = await openSandbox();
  const { item: listed, warehouseId, level } = await stocked(sandbox);
  const path = "/warehouse-outbound-receipts";
  const tooMuch = receipt(warehouseId, "V-1", [listed["id"], level], [listed["id"], 0.5]);
  expect(fieldsOf(await post(sandbox, path, tooMuch))).toEqual(["items.1.quantity"]);
  expect((await post(sandbox, path, receipt(warehouseId, "V-1", [listed["id"], level]))).status).toBe(201);
  expect(fieldsOf(await post(sandbox, path, receipt(warehouseId, "V-1", [listed["id"], 1])))).toEqual([
    "number",
  ]);
});

test.each([
  ["/invoices?perPage=0", "perPage"],
  ["/invoices?perPage=501", "perPage"],
  ["/invoices?perPage=ten", "perPage"],
  ["/invoices?page=0", "page"],
  ["/invoices?sortBy=id", "sortBy"],
  ["/invoices?sortDirection=up", "sortDirection"],
  ["/invoices?paymentStatus=late", "paymentStatus"],
  ["/invoices?issueDateFrom=2026-02-30", "issueDateFrom"],
  ["/invoices?totalFrom=much", "totalFrom"],
  ["/business-cases?perPage=201", "perPage"],
  ["/business-cases?sortBy=id", "sortBy"],
  ["/warehouse-inbound-receipts?sortBy=issueDate", "sortBy"],
  ["/subjects?searchQuery=ab", "searchQuery"],
  ["/subjects?searchQuery=abc&limit=21", "limit"],
  ["/numerical-series", "documentType"],
  ["/document-payments?documentType=invoice", "documentId"],
  ["/document-payments?documentType=invoice&documentId=9", "documentId"],
  ["/contact-activity-logs", "businessCaseId"],
  ["/contact-activity-logs?clientId=101&supplierId=138", "clientId"],
  ["/contact-activity-logs?clientId=999999", "clientId"],
  ["/contact-activity-logs?clientId=101&type=document_created", "type"],
])("GET %s is refused with a message on %s", async (path, field) => {
  const heard = await get(await openSandbox(), path);
  expect([heard.status, heard.json["message"], fieldsOf(heard)]).toEqual([
    422,
    "The given data was invalid.",
    [field],
  ]);
});

test("a credit note takes something back, in what its invoice was written in", async () => {
  const sandbox = await openSandbox();
  const { json } = await get(sandbox, `/invoices/${String((await one(sandbox, "/invoices"))["id"])}`);
  const terms = {
    transferTaxLiability: false,
    paymentMethodId: 1,
    currencyId: 1,
    currencyRate: 1,
    languageId: 1,
  };
  const dates = { issueDate: testDay, dueDate: testDay, deliveryDate: testDay };
  const { id: bankAccountId } = json["bankAccount"] as Dict;
  const sent = { ...terms, ...dates, invoiceId: json["id"], number: "D-1", variableSymbol: 1, bankAccountId };
  const refused = await post(sandbox, "/credit-notes", { ...sent, items: [line] });
  const made = await post(sandbox, "/credit-notes", { ...sent, items: [{ ...line, unitPrice: -40 }] });
  expect([fieldsOf(refused), made.status]).toEqual([["items"], 201]);
  expect(made.json).toMatchObject({
    clientId: json["clientId"],
    total: -80,
    totalWithVat: -98.4,
    toBePaid: -98.4,
  });
});
