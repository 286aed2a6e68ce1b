import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import {
  all,
  fieldsOf,
  get,
  idOf,
  one,
  openSandbox,
  post,
  put,
  remove,
  testDay,
  type Dict,
  typesOf,
} from "../support/sandbox/sandbox.ts";
import { line, plainClient } from "../support/sandbox/trade.ts";

const shown = async (sandbox: Sandbox, path: string, { id }: Dict) =>
  (await get(sandbox, `${path}/${String(id)}`)).json;

/** An invoice of 100 and 123 with VAT. */
async function invoice(sandbox: Sandbox, more: Dict = {}): Promise<Dict> {
  const clientId = (await plainClient(sandbox))["id"];
  return (await post(sandbox, "/invoices", { clientId, items: [line], ...more })).json;
}

const pay = (sandbox: Sandbox, document: Dict, more: Dict = {}, documentType = "invoice") =>
  post(sandbox, "/document-payments", { documentType, documentId: document["id"], ...more });

describe("a document", () => {
  test("needs a client and a line; all else is resolved", async () => {
    const sandbox = await openSandbox();
    const made = await invoice(sandbox);
    expect(made).toMatchObject({
      number: "2026011",
      variableSymbol: 2026011,
      status: "unpaid",
      issueDate: testDay,
      deliveryDate: testDay,
      dueDate: "2026-12-04",
      currencyId: 1,
      currencyRate: 1,
      total: 100,
      totalWithVat: 123,
      toBePaid: 123,
      hasVat: true,
      payments: [],
      bankAccount: { isPrimary: true },
      items: [{ ...line, unitId: 1, total: 100, totalWithVat: 123, priceListItemId: null }],
    });
    expect(await shown(sandbox, "/invoices", made)).toEqual(made);
    expect(typesOf(sandbox)).toEqual(["clients.created", "invoices.created"]);
  });

  test("takes the client's preferences before the company's settings, and the payload before both", async () => {
    const sandbox = await openSandbox();
    const preferred = {
      preferredCurrencyId: 5,
      preferredLanguageId: 8,
      preferredDueDays: 30,
      preferredNote: "Děkujeme",
    };
    const clientId = (await plainClient(sandbox, preferred))["id"];
    const usual = (await post(sandbox, "/invoices", { clientId, items: [line] })).json;
    expect(usual).toMatchObject({ currencyId: 5, languageId: 8, dueDate: "2026-12-20", note: "Děkujeme" });
    expect(Number(usual["currencyRate"])).toBeGreaterThan(20);
    const explicit = { currencyId: 1, currencyRate: 7, dueDateDays: 3, note: null };
    const sent = await post(sandbox, "/invoices", { clientId, ...explicit, items: [line] });
    expect(sent.json).toMatchObject({ currencyRate: 1, dueDate: "2026-11-23", note: null });
  });

  test("counts its series on, past numbers that requests set", async () => {
    const sandbox = await openSandbox();
    await invoice(sandbox, { number: "2026011" });
    expect(await invoice(sandbox)).toMatchObject({ number: "2026012" });
    const [own, foreign] = (await get(sandbox, "/numerical-series?documentType=invoice")).data;
    expect(own).toMatchObject({ nextNumber: 13, nextDocumentNumber: "2026013", nextVariableSymbol: 2026013 });
    const exported = await invoice(sandbox, { numericalSeriesId: foreign?.["id"] });
    expect(exported).toMatchObject({ number: "EX1-2026-110001", variableSymbol: 2026110001 });
  });

  test("rounds each line by itself; discounts lower lines and document; no VAT under reverse charge", async () => {
    const sandbox = await openSandbox();
    const items = [
      { ...line, quantity: 3, unitPrice: 0.335 },
      { ...line, quantity: 1, unitPrice: 10, discountType: "percentage", discountValue: 33.33 },
      { ...line, quantity: 1, unitPrice: 10, vatRate: 5, discountType: "fixed", discountValue: 2.5 },
    ];
    const plain = await invoice(sandbox, { items });
    expect((plain["items"] as Dict[]).map(({ total, totalWithVat }) => [total, totalWithVat])).toEqual([
      [1.01, 1.24],
      [6.67, 8.2],
      [7.5, 7.88],
    ]);
    expect(plain).toMatchObject({ itemsTotal: 15.18, total: 15.18, totalWithVat: 17.32 });
    const lowered = await invoice(sandbox, { items, discountType: "percentage", discountValue: 10 });
    expect(lowered).toMatchObject({ itemsTotal: 15.18, total: 13.66, totalWithVat: 15.59 });
    expect(await invoice(sandbox, { transferTaxLiability: true })).toMatchObject({
      totalWithVat: 100,
      hasVat: false,
    });
  });

  test("is written anew by PUT: what is left out is resolved, rows are known by their uuid", async () => {
    const sandbox = await openSandbox();
    const json = await invoice(sandbox, { number: "F1", note: "Pôvodná", items: [line, line] });
    const second = (json["items"] as Dict[])[1];
    const input = {
      clientId: json["clientId"],
      number: "F1",
      items: [{ ...line, uuid: second?.["uuid"], quantity: 9 }],
    };
    const changed = (await put(sandbox, `/invoices/${idOf(json)}`, input)).json;
    expect(changed).toMatchObject({
      uuid: json["uuid"],
      note: null,
      items: [{ id: second?.["id"], quantity: 9 }],
    });
  });

  test("makes its client of the facts that were sent, or finds it; a copy stays when it is deleted", async () => {
    const sandbox = await openSandbox();
    const known = await plainClient(sandbox);
    const client = { name: "Čokoľvek", vatId: known["vatId"], deliveryCity: "Senica" };
    expect(await invoice(sandbox, { clientId: undefined, client })).toMatchObject({ clientId: known["id"] });
    const fresh = await invoice(sandbox, { clientId: undefined, client: { name: "Celkom nový" } });
    expect(fresh).toMatchObject({
      client: { name: "Celkom nový", type: "person", hasDeliveryAddress: false },
    });
    expect((await remove(sandbox, `/clients/${String(fresh["clientId"])}`)).status).toBe(204);
    expect(await shown(sandbox, "/invoices", fresh)).toMatchObject({ client: fresh["client"] });
  });

  test("is no longer listed as open once another one was made from it", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const { id: quotationId } = (await post(sandbox, "/quotations", { clientId, items: [line] })).json;
    const isOpen = async () =>
      (await all(sandbox, "/quotations?withoutOrder=true")).some(({ id }) => id === quotationId);
    expect(await isOpen()).toBe(true);
    await post(sandbox, "/orders", { clientId, quotationId, items: [line] });
    expect(await isOpen()).toBe(false);
  });

  test("takes its payments along when it is deleted, each with an event", async () => {
    const sandbox = await openSandbox();
    const paid = await one(sandbox, "/invoices?paymentStatus=paid");
    const payments = (await shown(sandbox, "/invoices", paid))["payments"] as Dict[];
    expect((await remove(sandbox, `/invoices/${idOf(paid)}`)).status).toBe(204);
    expect(typesOf(sandbox)).toEqual([
      ...payments.map(() => "document-payments.deleted"),
      "invoices.deleted",
    ]);
  });
});

describe("a credit note over a whole invoice", () => {
  test("turns every line, keeps the terms and takes overrides; the invoice shows it", async () => {
    const sandbox = await openSandbox();
    const source = await invoice(sandbox, { note: "Pôvodná", discountType: "percentage", discountValue: 10 });
    const path = `/invoices/${idOf(source)}/credit-notes`;
    const { json } = await post(sandbox, path, { issueDate: "2026-11-01", note: null });
    expect(json).toMatchObject({
      clientId: source["clientId"],
      dueDate: "2026-11-01",
      note: null,
      totalWithVat: -110.7,
    });
    expect(await shown(sandbox, "/invoices", source)).toMatchObject({ creditNotesSumTotalWithVat: -110.7 });
    expect((await post(sandbox, "/invoices/999999/credit-notes", {})).status).toBe(404);
  });
});

describe("a payment", () => {
  test("pays all that is left where it says no sum; only what completes the sum emits *.paid", async () => {
    const sandbox = await openSandbox();
    const document = await invoice(sandbox);
    await pay(sandbox, document, { amount: 23 });
    expect(await shown(sandbox, "/invoices", document)).toMatchObject({
      toBePaid: 100,
      status: "partially_paid",
    });
    expect((await pay(sandbox, document)).json).toMatchObject({
      amount: 100,
      paymentDate: testDay,
      currencyRate: 1,
    });
    expect(fieldsOf(await pay(sandbox, document))).toEqual(["amount"]);
    await pay(sandbox, document, { amount: 1 });
    expect(await shown(sandbox, "/invoices", document)).toMatchObject({ toBePaid: -1, status: "paid" });
    expect(typesOf(sandbox).filter((type) => type === "invoices.paid")).toHaveLength(1);
  });

  test("in another currency counts by the rates; in the same one it counts as it is", async () => {
    const sandbox = await openSandbox();
    const document = await invoice(sandbox);
    await pay(sandbox, document, { currencyId: 5, currencyRate: 25, amount: 575 });
    expect(await shown(sandbox, "/invoices", document)).toMatchObject({ toBePaid: 100 });
    expect((await pay(sandbox, document, { currencyId: 5, currencyRate: 24 })).json).toMatchObject({
      amount: 2400,
    });
    expect(await shown(sandbox, "/invoices", document)).toMatchObject({ status: "paid" });
    const crowns = await invoice(sandbox, { currencyId: 5, currencyRate: 24.5 });
    await pay(sandbox, crowns, { paymentDate: "2026-10-01" });
    expect(await shown(sandbox, "/invoices", crowns)).toMatchObject({ toBePaid: 0, status: "paid" });
  });

  test("of a credit note is negative; a deleted one is owed again", async () => {
    const sandbox = await openSandbox();
    const note = (await post(sandbox, `/invoices/${idOf(await invoice(sandbox))}/credit-notes`, {})).json;
    const { json } = await pay(sandbox, note, {}, "credit-note");
    expect(await shown(sandbox, "/credit-notes", note)).toMatchObject({ alreadyPaid: -123, status: "paid" });
    expect((await remove(sandbox, `/document-payments/${idOf(json)}`)).status).toBe(204);
    expect(await shown(sandbox, "/credit-notes", note)).toMatchObject({ toBePaid: -123, payments: [] });
    expect(typesOf(sandbox).slice(-2)).toEqual(["credit-notes.paid", "document-payments.deleted"]);
  });

  test("of a payment receipt stays", async () => {
    const sandbox = await openSandbox();
    const listed = (await all(sandbox, "/invoices")).find(({ type }) => type === "payment_receipt") ?? {};
    const [payment = {}] = (await shown(sandbox, "/invoices", listed))["payments"] as Dict[];
    expect(fieldsOf(await remove(sandbox, `/document-payments/${idOf(payment)}`))).toEqual([
      "documentPayment",
    ]);
  });
});

test("statuses follow due dates as today moves", async () => {
  const sandbox = await openSandbox();
  const document = await invoice(sandbox, { dueDateDays: 5 });
  const status = async () => (await shown(sandbox, "/invoices", document))["status"];
  expect(await status()).toBe("unpaid");
  sandbox.control.setToday("2026-11-26");
  expect(await status()).toBe("overdue");
  sandbox.control.alter("invoices", Number(document["id"]), { willBePaid: false });
  expect(await status()).toBe("will_not_be_paid");
});
