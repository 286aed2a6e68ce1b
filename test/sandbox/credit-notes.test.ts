import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import {
  fieldsOf,
  get,
  idOf,
  one,
  openSandbox,
  post,
  put,
  testDay,
  type Dict,
} from "../support/sandbox/sandbox.ts";

const back = { name: "Vrátené", quantity: 1, unitPrice: -40, vatRate: 23 };

async function invoice(sandbox: Sandbox): Promise<Dict> {
  const client = (await post(sandbox, "/clients", { name: "Odberateľ" })).json;
  const items = [{ name: "Práca", quantity: 2, unitPrice: 50, vatRate: 23 }];
  const more = {
    note: "Pôvodná",
    textAboveItems: "Fakturujeme",
    discountType: "percentage",
    discountValue: 10,
  };
  return (await post(sandbox, "/invoices", { clientId: client["id"], ...more, items })).json;
}

function explicit(source: Dict, more: Dict = {}): Dict {
  return {
    invoiceId: source["id"],
    number: "DB-1",
    issueDate: testDay,
    dueDate: testDay,
    deliveryDate: testDay,
    bankAccountId: (source["bankAccount"] as Dict)["id"],
    variableSymbol: 1,
    transferTaxLiability: false,
    paymentMethodId: 1,
    currencyId: 1,
    currencyRate: 5,
    languageId: 1,
    items: [back],
    ...more,
  };
}

describe("an explicit credit note", () => {
  test("is negative, takes the client of its invoice and shows there", async () => {
    const sandbox = await openSandbox();
    const source = await invoice(sandbox);
    const made = await post(sandbox, "/credit-notes", explicit(source));
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      clientId: source["clientId"],
      client: source["client"],
      invoiceId: source["id"],
      currencyRate: 1,
      total: -40,
      totalWithVat: -49.2,
      toBePaid: -49.2,
      alreadyPaid: 0,
      status: "unpaid",
      type: "credit-note",
    });
    expect((await get(sandbox, `/invoices/${idOf(source)}`)).json["creditNotesSumTotalWithVat"]).toBe(-49.2);
  });

  test.each([
    [{ items: [{ ...back, unitPrice: 40 }] }, "items"],
    [{ invoiceId: 999_999 }, "invoiceId"],
    [{ invoiceId: undefined }, "invoiceId"],
    [{ number: undefined }, "number"],
    [{ number: "2024001" }, "number"],
    [{ numericalSeriesId: 731 }, "numericalSeriesId"],
    [{ dueDate: "2026-11-19" }, "dueDate"],
    [{ deliveryDate: "2026-11-21" }, "deliveryDate"],
    [{ bankAccountId: 1 }, "bankAccountId"],
    [{ transferTaxLiability: undefined }, "transferTaxLiability"],
    [{ currencyRate: undefined }, "currencyRate"],
  ])("with %j is refused on %s", async (change, field) => {
    const sandbox = await openSandbox();
    const heard = await post(sandbox, "/credit-notes", explicit(await invoice(sandbox), change));
    expect([heard.status, fieldsOf(heard)]).toEqual([422, [field]]);
  });

  test("is written anew by PUT, under its own number", async () => {
    const sandbox = await openSandbox();
    const source = await invoice(sandbox);
    const made = (await post(sandbox, "/credit-notes", explicit(source, { note: "Chyba" }))).json;
    const changed = await put(sandbox, `/credit-notes/${idOf(made)}`, explicit(source));
    expect(changed.json).toMatchObject({ id: made["id"], number: "DB-1", note: null });
  });
});

describe("the shortcut from an invoice", () => {
  test("turns every line and keeps the terms", async () => {
    const sandbox = await openSandbox();
    const source = await invoice(sandbox);
    const made = await post(sandbox, `/invoices/${idOf(source)}/credit-notes`, {});
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      invoiceId: source["id"],
      clientId: source["clientId"],
      issueDate: testDay,
      dueDate: testDay,
      note: "Pôvodná",
      textAboveItems: "Fakturujeme",
      discountType: "percentage",
      discountValue: 10,
      total: -Number(source["total"]),
      totalWithVat: -Number(source["totalWithVat"]),
    });
    expect(made.json["variableSymbol"]).toBe(Number(String(made.json["number"]).replace(/\D/g, "")));
    expect((await get(sandbox, `/invoices/${idOf(source)}`)).json["creditNotesSumTotalWithVat"]).toBe(
      made.json["totalWithVat"],
    );
  });

  test("takes overrides for dates, number and texts; null clears a text", async () => {
    const sandbox = await openSandbox();
    const source = await invoice(sandbox);
    const path = `/invoices/${idOf(source)}/credit-notes`;
    const made = await post(sandbox, path, { number: "D-7", issueDate: "2026-11-01", note: null });
    expect(made.json).toMatchObject({
      number: "D-7",
      dueDate: "2026-11-01",
      note: null,
      textAboveItems: "Fakturujeme",
    });
    expect(fieldsOf(await post(sandbox, path, { number: "D-7" }))).toEqual(["number"]);
    expect(fieldsOf(await post(sandbox, path, { dueDate: "2026-11-01" }))).toEqual(["dueDate"]);
    expect((await post(sandbox, "/invoices/999999/credit-notes", {})).status).toBe(404);
  });

  test("cannot take back what is negative already", async () => {
    const sandbox = await openSandbox();
    const client = await one(sandbox, "/clients");
    const negative = (await post(sandbox, "/invoices", { clientId: client["id"], items: [back] })).json;
    expect(fieldsOf(await post(sandbox, `/invoices/${idOf(negative)}/credit-notes`, {}))).toEqual(["items"]);
  });
});
