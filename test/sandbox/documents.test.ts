import { describe, expect, test } from "vitest";
import {
  fieldsOf,
  get,
  idOf,
  one,
  openSandbox,
  post,
  remove,
  testDay,
  type Dict,
  typesOf,
} from "../support/sandbox/sandbox.ts";
import { line, plainClient } from "../support/sandbox/trade.ts";

describe("a new invoice", () => {
  test("needs a client and a line; all else is resolved", async () => {
    const sandbox = await openSandbox();
    const client = await plainClient(sandbox);
    const made = await post(sandbox, "/invoices", { clientId: client["id"], items: [line] });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      number: "2026011",
      variableSymbol: 2026011,
      type: "invoice",
      clientId: client["id"],
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
      businessCaseId: null,
      transferTaxLiability: false,
      creditNotesSumTotalWithVat: 0,
      bankAccount: { isPrimary: true },
      items: [
        { ...line, unitId: 1, total: 100, totalWithVat: 123, priceListItemId: null, discountType: null },
      ],
    });
    expect((await get(sandbox, `/invoices/${idOf(made.json)}`)).json).toEqual(made.json);
    expect((await one(sandbox, "/invoices"))["id"]).toBe(made.json["id"]);
    expect(typesOf(sandbox)).toEqual(["clients.created", "invoices.created"]);
  });

  test("takes the client's preferences before the company's settings, and the payload before both", async () => {
    const sandbox = await openSandbox();
    const client = await plainClient(sandbox, {
      preferredCurrencyId: 5,
      preferredLanguageId: 8,
      preferredDueDays: 30,
      preferredPaymentMethodId: 6,
      preferredNote: "Děkujeme",
      preferredConstantSymbol: 308,
    });
    const preferred = await post(sandbox, "/invoices", { clientId: client["id"], items: [line] });
    expect(preferred.json).toMatchObject({
      currencyId: 5,
      languageId: 8,
      dueDate: "2026-12-20",
      paymentMethodId: 6,
      note: "Děkujeme",
      constantSymbol: 308,
    });
    expect(Number(preferred.json["currencyRate"])).toBeGreaterThan(20);
    const explicit = { currencyId: 1, currencyRate: 7, dueDateDays: 3, note: null, constantSymbol: null };
    const sent = await post(sandbox, "/invoices", { clientId: client["id"], ...explicit, items: [line] });
    expect(sent.json).toMatchObject({
      currencyRate: 1,
      dueDate: "2026-11-23",
      note: null,
      constantSymbol: null,
    });
  });

  test.each([
    [{ items: [] }, "items"],
    [{ items: undefined }, "items"],
    [{ clientId: undefined }, "clientId"],
    [{ clientId: 999_999 }, "clientId"],
    [{ bankAccountId: 999_999 }, "bankAccountId"],
    [{ number: "2024001" }, "number"],
    [{ number: "x".repeat(21) }, "number"],
    [{ number: "X1", numericalSeriesId: 730 }, "numericalSeriesId"],
    [{ numericalSeriesId: 731 }, "numericalSeriesId"],
    [{ issueDate: "2026-13-01" }, "issueDate"],
    [{ issueDate: "2008-12-31", deliveryDate: "2008-12-31" }, "issueDate"],
    [{ issueDate: "2027-11-21" }, "issueDate"],
    [{ deliveryDate: "2026-11-21" }, "deliveryDate"],
    [{ dueDateDays: 1001 }, "dueDateDays"],
    [{ variableSymbol: 10_000_000_000 }, "variableSymbol"],
    [{ constantSymbol: 10_000 }, "constantSymbol"],
    [{ currencyId: 34 }, "currencyId"],
    [{ currencyRate: 0 }, "currencyRate"],
    [{ qrTypeId: 3 }, "qrTypeId"],
    [{ discountType: "percentage" }, "discountValue"],
    [{ discountType: "half", discountValue: 1 }, "discountType"],
    [{ note: "x".repeat(3001) }, "note"],
    [{ proformaId: 999_999 }, "proformaId"],
    [{ businessCaseId: 999_999 }, "businessCaseId"],
    [{ items: [{ quantity: 1 }] }, "items.0.name,items.0.unitPrice,items.0.vatRate"],
    [{ items: [{ ...line, quantity: 0 }] }, "items.0.quantity"],
    [{ items: [line, { ...line, vatRate: 24 }] }, "items.1.vatRate"],
    [{ items: [{ ...line, unitId: 13 }] }, "items.0.unitId"],
    [{ items: [{ ...line, discountType: "fixed" }] }, "items.0.discountValue"],
    [{ items: [{ ...line, priceListItemId: 1 }] }, "items.0.priceListItemId"],
    [{ items: Array.from({ length: 101 }, () => line) }, "items"],
  ])("with %j is refused on %s", async (change, fields) => {
    const sandbox = await openSandbox();
    const client = await plainClient(sandbox);
    const heard = await post(sandbox, "/invoices", { clientId: client["id"], items: [line], ...change });
    expect([heard.status, fieldsOf(heard).join()]).toEqual([422, fields]);
    expect(typesOf(sandbox)).toEqual(["clients.created"]);
  });

  test("cannot be made without a primary account, unless another is named", async () => {
    const sandbox = await openSandbox();
    const client = await plainClient(sandbox);
    const accounts = (await get(sandbox, "/bank-accounts")).data;
    await remove(sandbox, `/bank-accounts/${idOf(accounts[0] ?? {})}`);
    const heard = await post(sandbox, "/invoices", { clientId: client["id"], items: [line] });
    expect(heard.json["errors"]).toEqual({
      bankAccountId: ["Company has no primary bank account configured."],
    });
    const named = { clientId: client["id"], bankAccountId: accounts[1]?.["id"], items: [line] };
    expect((await post(sandbox, "/invoices", named)).status).toBe(201);
  });

  test("counts its series on, past numbers that requests set", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    expect(
      (await post(sandbox, "/invoices", { clientId, number: "2026011", items: [line] })).json,
    ).toMatchObject({
      number: "2026011",
      numericalSeriesId: null,
    });
    const next = await post(sandbox, "/invoices", { clientId, items: [line] });
    expect(next.json["number"]).toBe("2026012");
    const series = (await get(sandbox, "/numerical-series?documentType=invoice")).data;
    expect(series[0]).toMatchObject({
      nextNumber: 13,
      nextDocumentNumber: "2026013",
      nextVariableSymbol: 2026013,
    });
    const foreign = await post(sandbox, "/invoices", {
      clientId,
      numericalSeriesId: series[1]?.["id"],
      items: [line],
    });
    expect(foreign.json).toMatchObject({ number: "EX1-2026-110001", variableSymbol: 2026110001 });
  });
});

describe("lines", () => {
  test("come from the price list, with whatever is sent on top", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const listed = await one(sandbox, "/price-list-items");
    const { id, name, unitPrice, unitId, vatRate } = listed;
    const items = [
      { priceListItemId: id, quantity: 2 },
      { priceListItemId: id, quantity: 1, unitPrice: 9.99, name: "Akcia" },
    ];
    const { json } = await post(sandbox, "/invoices", { clientId, items });
    expect(json["items"]).toMatchObject([
      { priceListItemId: id, name, unitPrice, unitId, vatRate },
      { priceListItemId: id, name: "Akcia", unitPrice: 9.99, unitId, vatRate },
    ]);
  });

  test("round to the cent, each by itself; discounts lower lines and document", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const items = [
      { ...line, quantity: 3, unitPrice: 0.335 },
      { ...line, quantity: 1, unitPrice: 10, discountType: "percentage", discountValue: 33.33 },
      { ...line, quantity: 1, unitPrice: 10, vatRate: 5, discountType: "fixed", discountValue: 2.5 },
    ];
    const plain = (await post(sandbox, "/invoices", { clientId, items })).json;
    expect((plain["items"] as Dict[]).map(({ total, totalWithVat }) => [total, totalWithVat])).toEqual([
      [1.01, 1.24],
      [6.67, 8.2],
      [7.5, 7.88],
    ]);
    expect(plain).toMatchObject({
      itemsTotal: 15.18,
      itemsTotalWithVat: 17.32,
      total: 15.18,
      totalWithVat: 17.32,
    });
    const lowered = await post(sandbox, "/invoices", {
      clientId,
      items,
      discountType: "percentage",
      discountValue: 10,
    });
    expect(lowered.json).toMatchObject({ itemsTotal: 15.18, total: 13.66, totalWithVat: 15.59 });
  });

  test("name their discount in the document's language, and carry no VAT under reverse charge", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const items = [{ ...line, discountType: "percentage", discountValue: 10 }];
    const slovak = await post(sandbox, "/orders", { clientId, languageId: 1, items });
    expect((slovak.json["items"] as Dict[])[0]?.["discountName"]).toBe("Zľava");
    const german = await post(sandbox, "/quotations", { clientId, languageId: 3, items });
    expect((german.json["items"] as Dict[])[0]?.["discountName"]).toBe("Rabatt");
    const charged = await post(sandbox, "/invoices", { clientId, items, transferTaxLiability: true });
    expect(charged.json).toMatchObject({ total: 90, totalWithVat: 90, hasVat: false });
  });
});
