import { describe, expect, test } from "vitest";
import type { Sandbox } from "../support/sandbox/control.ts";
import {
  all,
  fieldsOf,
  get,
  idOf,
  openSandbox,
  post,
  put,
  remove,
  testDay,
  type Dict,
  typesOf,
} from "../support/sandbox/sandbox.ts";

/** Two hours of work at 50, with 23 % VAT: 100 and 123. */
const line = { name: "Konzultácia", quantity: 2, unitPrice: 50, vatRate: 23 };

const shown = async (sandbox: Sandbox, path: string, { id }: Dict) =>
  (await get(sandbox, `${path}/${String(id)}`)).json;

async function made(sandbox: Sandbox, path: string, more: Dict = {}): Promise<Dict> {
  const client = { name: "Obyčajný, s.r.o.", vatId: "SK2020202020", countryId: 703 };
  const { json } = await post(sandbox, path, { client, items: [line], ...more });
  expect(json).toHaveProperty("id");
  return json;
}

const pay = (sandbox: Sandbox, document: Dict, more: Dict = {}, documentType = "invoice") =>
  post(sandbox, "/document-payments", { documentType, documentId: document["id"], ...more });

const threeLines = [
  { ...line, quantity: 3, unitPrice: 0.335 },
  { ...line, quantity: 1, unitPrice: 10, discountType: "percentage", discountValue: 33.33 },
  { ...line, quantity: 1, unitPrice: 10, vatRate: 5, discountType: "fixed", discountValue: 2.5 },
];
const days = { issueDate: testDay, dueDate: "2026-12-04" };

describe("a document", () => {
  test.each<[string, Dict, Dict]>([
    ["/invoices", {}, { ...days, status: "unpaid", total: 100, totalWithVat: 123, toBePaid: 123 }],
    ["/invoices", { items: threeLines }, { itemsTotal: 15.18, totalWithVat: 17.32 }],
    [
      "/invoices",
      { items: threeLines, discountType: "percentage", discountValue: 10 },
      { itemsTotal: 15.18, total: 13.66, totalWithVat: 15.59 },
    ],
    ["/invoices", { transferTaxLiability: true }, { totalWithVat: 100, hasVat: false }],
    ["/proformas", { dueDateDays: 3 }, { dueDate: "2026-11-23", toBePaid: 123, status: "unpaid" }],
    ["/orders", { discountType: "fixed", discountValue: 10 }, { total: 90, totalWithVat: 110.7 }],
    ["/quotations", {}, { validityDate: "2026-12-20", status: "waiting", totalWithVat: 123 }],
  ])("%s with %j", async (path, input, expected) => {
    const sandbox = await openSandbox();
    const document = await made(sandbox, path, input);
    expect(document).toMatchObject(expected);
    expect(await shown(sandbox, path, document)).toEqual(document);
    expect(typesOf(sandbox)).toEqual(["clients.created", `${path.slice(1)}.created`]);
  });

  test("takes the client's preferences before the company's settings, and the payload before both", async () => {
    const sandbox = await openSandbox();
    const preferred = { preferredCurrencyId: 5, preferredDueDays: 30, preferredNote: "Děkujeme" };
    const { id: clientId } = (await post(sandbox, "/clients", { name: "Český", ...preferred })).json;
    expect(await made(sandbox, "/invoices", { clientId })).toMatchObject({
      currencyId: 5,
      dueDate: "2026-12-20",
      note: "Děkujeme",
    });
    const explicit = { clientId, currencyId: 1, currencyRate: 7, note: null };
    expect(await made(sandbox, "/invoices", explicit)).toMatchObject({ currencyRate: 1, note: null });
  });

  test("counts its series on, past numbers that requests set", async () => {
    const sandbox = await openSandbox();
    await made(sandbox, "/invoices", { number: "2026011" });
    expect(await made(sandbox, "/invoices")).toMatchObject({ number: "2026012", variableSymbol: 2026012 });
    const [own] = (await get(sandbox, "/numerical-series?documentType=invoice")).data;
    expect(own).toMatchObject({ nextNumber: 13, nextDocumentNumber: "2026013" });
  });

  test("is written again by PUT: what is left out is resolved, rows are known by their uuid", async () => {
    const sandbox = await openSandbox();
    const json = await made(sandbox, "/invoices", { number: "F1", note: "Pôvodná", items: [line, line] });
    const { id, uuid } = (json["items"] as Dict[])[1] ?? {};
    const input = { clientId: json["clientId"], number: "F1", items: [{ ...line, uuid, quantity: 9 }] };
    expect((await put(sandbox, `/invoices/${idOf(json)}`, input)).json).toMatchObject({
      uuid: json["uuid"],
      note: null,
      items: [{ id, quantity: 9 }],
    });
  });

  test("is refused with each field that does not fit, and nothing is made", async () => {
    const sandbox = await openSandbox();
    const wrong = { clientId: 999_999, currencyId: 999, items: [{ ...line, priceListItemId: 1 }] };
    const refused = await post(sandbox, "/orders", wrong);
    expect([refused.status, fieldsOf(refused)]).toEqual([
      422,
      ["clientId", "currencyId", "items.0.priceListItemId"],
    ]);
    expect(fieldsOf(await post(sandbox, "/clients", { countryId: "x" }))).toEqual(["name", "countryId"]);
    expect(typesOf(sandbox)).toEqual([]);
  });

  test("takes its payments along when it is deleted, each with an event", async () => {
    const sandbox = await openSandbox();
    const [paid = {}] = await all(sandbox, "/invoices?paymentStatus=paid");
    const payments = (await shown(sandbox, "/invoices", paid))["payments"] as Dict[];
    await remove(sandbox, `/invoices/${idOf(paid)}`);
    const removed = payments.map(() => "document-payments.deleted");
    expect(typesOf(sandbox)).toEqual([...removed, "invoices.deleted"]);
  });

  test("a credit note over a whole invoice turns every line and keeps the terms; the invoice shows it", async () => {
    const sandbox = await openSandbox();
    const discount = { note: "Pôvodná", discountType: "percentage", discountValue: 10 };
    const source = await made(sandbox, "/invoices", discount);
    const { json } = await post(sandbox, `/invoices/${idOf(source)}/credit-notes`, { note: null });
    expect(json).toMatchObject({ clientId: source["clientId"], note: null, totalWithVat: -110.7 });
    expect(await shown(sandbox, "/invoices", source)).toMatchObject({ creditNotesSumTotalWithVat: -110.7 });
    const { id } = (await pay(sandbox, json, {}, "credit-note")).json;
    expect(await shown(sandbox, "/credit-notes", json)).toMatchObject({
      alreadyPaid: -110.7,
      status: "paid",
    });
    await remove(sandbox, `/document-payments/${String(id)}`);
    expect(await shown(sandbox, "/credit-notes", json)).toMatchObject({ toBePaid: -110.7, payments: [] });
  });
});

describe("a payment", () => {
  test("pays all that is left where it says no sum; only what completes the sum emits *.paid", async () => {
    const sandbox = await openSandbox();
    const document = await made(sandbox, "/invoices");
    await pay(sandbox, document, { amount: 23 });
    expect(await shown(sandbox, "/invoices", document)).toMatchObject({
      toBePaid: 100,
      status: "partially_paid",
    });
    expect((await pay(sandbox, document)).json).toMatchObject({ amount: 100, paymentDate: testDay });
    expect(fieldsOf(await pay(sandbox, document))).toEqual(["amount"]);
    expect(typesOf(sandbox).filter((type) => type === "invoices.paid")).toHaveLength(1);
  });

  test("in another currency counts by the rates; in the same one it counts as it is", async () => {
    const sandbox = await openSandbox();
    const document = await made(sandbox, "/invoices");
    await pay(sandbox, document, { currencyId: 5, currencyRate: 25, amount: 575 });
    expect(await shown(sandbox, "/invoices", document)).toMatchObject({ toBePaid: 100 });
    const { json } = await pay(sandbox, document, { currencyId: 5, currencyRate: 24 });
    expect(json).toMatchObject({ amount: 2400 });
    expect(await shown(sandbox, "/invoices", document)).toMatchObject({ status: "paid" });
  });
});

test("statuses follow due dates as today moves", async () => {
  const sandbox = await openSandbox();
  const document = await made(sandbox, "/invoices", { dueDateDays: 5 });
  sandbox.control.setToday("2026-11-26");
  expect(await shown(sandbox, "/invoices", document)).toMatchObject({ status: "overdue" });
  sandbox.control.alter("invoices", Number(document["id"]), { willBePaid: false });
  expect(await shown(sandbox, "/invoices", document)).toMatchObject({ status: "will_not_be_paid" });
});

test("a receipt moves the stock of its items, each with one event", async () => {
  const sandbox = await openSandbox();
  const [item = {}] = await all(sandbox, "/price-list-items?onlyWarehouseItems=true&stockFrom=5");
  const [{ id: warehouseId } = {}] = await all(sandbox, "/warehouses");
  const path = "/warehouse-inbound-receipts";
  const items = (quantity: number) => [
    { priceListItemId: item["id"], quantity, unitPrice: 1.5, vatRate: 23 },
  ];
  const head = { number: "P-1", warehouseId, languageId: 1, issueDate: testDay };
  const { json } = await post(sandbox, path, { ...head, items: [...items(1), ...items(2)] });
  await put(sandbox, `${path}/${idOf(json)}`, { ...head, note: "to isté množstvo", items: items(3) });
  expect((await shown(sandbox, "/price-list-items", item))["stock"]).toBe(Number(item["stock"]) + 3);
  await remove(sandbox, `${path}/${idOf(json)}`);
  expect((await shown(sandbox, "/price-list-items", item))["stock"]).toBe(item["stock"]);
  const events = ["created", "updated", "deleted"].map((change) => `warehouse-inbound-receipts.${change}`);
  const moved = "price-list-items.stock-updated";
  expect(typesOf(sandbox)).toEqual([events[0], moved, events[1], events[2], moved]);
});
