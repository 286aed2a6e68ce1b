import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import { all, get, one, openSandbox, post, put, remove, testDay, type Dict } from "../support/sandbox.ts";

const idOf = (record: Dict) => String(record["id"]);
const typesOf = (sandbox: Sandbox) => sandbox.control.events().map(({ type }) => type);
const fieldsOf = (heard: { readonly json: Dict }) =>
  Object.keys((heard.json["errors"] as Dict | undefined) ?? {});
const line = { name: "Konzultácia", quantity: 2, unitPrice: 50, vatRate: 23 };

/** A client without preferences, so that defaults show. */
async function plainClient(sandbox: Sandbox, more: Dict = {}): Promise<Dict> {
  return (
    await post(sandbox, "/clients", {
      name: "Obyčajný, s.r.o.",
      vatId: "SK2020202020",
      countryId: 703,
      ...more,
    })
  ).json;
}

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

  test("counts its series on, past numbers given by hand", async () => {
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

describe("the client of a document", () => {
  test("is matched by VAT id, country and business id, name and e-mail, name and street, in this order", async () => {
    const sandbox = await openSandbox();
    const facts = {
      name: "Zhoda",
      countryId: 703,
      subjectId: "11111111",
      email: "a@zhoda.example",
      street: "Prvá 1",
    };
    const byVat = await plainClient(sandbox, { ...facts, vatId: "SK1111111111" });
    const bySubject = await plainClient(sandbox, { ...facts, vatId: null, subjectId: "22222222" });
    const drafts: [Dict, unknown][] = [
      [{ name: "Čokoľvek", vatId: "SK1111111111" }, byVat["id"]],
      [{ name: "Čokoľvek", subjectId: "22222222", countryId: 703 }, bySubject["id"]],
      [{ name: "Čokoľvek", subjectId: "22222222" }, bySubject["id"]],
      [{ name: "Zhoda", type: "company", email: "a@zhoda.example" }, byVat["id"]],
      [{ name: "Zhoda", type: "company", street: "Prvá 1" }, byVat["id"]],
    ];
    for (const [client, id] of drafts) {
      expect(
        (await post(sandbox, "/orders", { client, items: [line] })).json["clientId"],
        JSON.stringify(client),
      ).toBe(id);
    }
    const fresh = await post(sandbox, "/orders", { client: { name: "Zhoda" }, items: [line] });
    expect([byVat["id"], bySubject["id"]]).not.toContain(fresh.json["clientId"]);
    expect(typesOf(sandbox).filter((type) => type === "clients.created")).toHaveLength(3);
  });

  test("keeps its record when a document overrides the snapshot", async () => {
    const sandbox = await openSandbox();
    const client = await plainClient(sandbox);
    const sent = { clientId: client["id"], client: { deliveryCity: "Senica", email: "sklad@firma.example" } };
    const { json } = await post(sandbox, "/proformas", { ...sent, items: [line] });
    expect(json["client"]).toMatchObject({
      name: client["name"],
      deliveryCity: "Senica",
      email: "sklad@firma.example",
      hasDeliveryAddress: true,
    });
    expect((await get(sandbox, `/clients/${idOf(client)}`)).json).toEqual(client);
  });

  test("a refused document makes no client", async () => {
    const sandbox = await openSandbox();
    const heard = await post(sandbox, "/invoices", { client: { name: "Nikto" }, items: [{ quantity: 1 }] });
    expect(heard.status).toBe(422);
    expect((await get(sandbox, "/clients?search=nikto")).data).toEqual([]);
  });

  test("owns the business case, or the document is refused", async () => {
    const sandbox = await openSandbox();
    const client = await plainClient(sandbox);
    const item = (await post(sandbox, "/business-cases", { clientId: client["id"], name: "Zákazka" })).json;
    const made = await post(sandbox, "/orders", {
      clientId: client["id"],
      businessCaseId: item["id"],
      items: [line],
    });
    expect(made.json["businessCaseId"]).toBe(item["id"]);
    const other = (await all(sandbox, "/clients")).find(({ id }) => id !== client["id"]);
    const refused = await post(sandbox, "/orders", {
      clientId: other?.["id"],
      businessCaseId: item["id"],
      items: [line],
    });
    expect(fieldsOf(refused)).toEqual(["businessCaseId"]);
  });
});

describe("PUT", () => {
  test("writes the document anew: omitted fields are resolved, not kept", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const more = { note: "Pôvodná", specificSymbol: 5, discountType: "fixed", discountValue: 3 };
    const { json } = await post(sandbox, "/invoices", {
      clientId,
      number: "F1",
      ...more,
      items: [line, line],
    });
    const path = `/invoices/${idOf(json)}`;
    const changed = await put(sandbox, path, { clientId, number: "F1", items: [{ ...line, quantity: 1 }] });
    expect(changed.status).toBe(200);
    expect(changed.json).toMatchObject({
      id: json["id"],
      uuid: json["uuid"],
      number: "F1",
      note: null,
      specificSymbol: null,
      discountType: null,
      total: 50,
    });
    expect(fieldsOf(await put(sandbox, path, { items: [line] }))).toEqual(["clientId"]);
    expect(fieldsOf(await put(sandbox, path, { clientId }))).toEqual(["items"]);
  });

  test("keeps rows of an invoice by their uuid, and refuses another document's", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const { json } = await post(sandbox, "/invoices", { clientId, number: "F1", items: [line, line] });
    const rows = json["items"] as Dict[];
    const items = [{ ...line, uuid: rows[1]?.["uuid"], quantity: 9 }, line];
    const changed = await put(sandbox, `/invoices/${idOf(json)}`, { clientId, number: "F1", items });
    const after = changed.json["items"] as Dict[];
    expect(after[0]).toMatchObject({ id: rows[1]?.["id"], uuid: rows[1]?.["uuid"], quantity: 9 });
    expect(rows.map(({ id }) => id)).not.toContain(after[1]?.["id"]);
    const foreign = { ...line, uuid: "6b1b8c9e-66e6-4fb5-b2db-6d7c7f0f8f19" };
    expect(fieldsOf(await put(sandbox, `/invoices/${idOf(json)}`, { clientId, items: [foreign] }))).toEqual([
      "items.0.uuid",
    ]);
  });
});

describe("chains", () => {
  test("a quotation is ordered once, invoiced once, and no longer listed as open", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const quotation = (await post(sandbox, "/quotations", { clientId, items: [line] })).json;
    expect(quotation).toMatchObject({ status: "waiting", validityDate: "2026-12-20", number: "CP26004" });
    const quotationId = quotation["id"];
    const order = (await post(sandbox, "/orders", { clientId, quotationId, items: [line] })).json;
    expect(fieldsOf(await post(sandbox, "/orders", { clientId, quotationId, items: [line] }))).toEqual([
      "quotationId",
    ]);
    const path = `/orders/${idOf(order)}`;
    expect((await put(sandbox, path, { clientId, quotationId, items: [line] })).status).toBe(200);
    const open = async () =>
      (await all(sandbox, "/quotations?withoutOrder=true")).some(({ id }) => id === quotationId);
    expect(await open()).toBe(false);
    await put(sandbox, path, { clientId, items: [line] });
    expect(await open()).toBe(true);
  });

  test("a quotation cannot expire before it was issued", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const sent = { clientId, issueDate: "2026-11-10", validityDate: "2026-11-09", items: [line] };
    expect(fieldsOf(await post(sandbox, "/quotations", sent))).toEqual(["validityDate"]);
  });
});

async function tracked(
  sandbox: Sandbox,
): Promise<{ priceListItemId: unknown; warehouseId: unknown; level: number }> {
  for (const { id } of await all(sandbox, "/price-list-items?stockFrom=5&onlyWarehouseItems=true")) {
    const { json } = await get(sandbox, `/price-list-items/${String(id)}`);
    const split = (json["stocks"] as Dict[]).find(({ stockQuantity }) => Number(stockQuantity) >= 5);
    if (split && json["enableNegativeStock"] === false) {
      return {
        priceListItemId: id,
        warehouseId: split["warehouseId"],
        level: Number(split["stockQuantity"]),
      };
    }
  }
  throw new Error("nothing is on stock");
}

describe("warehouse allocations", () => {
  test("of an invoice take goods out, follow its changes and come back with its deletion", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const { priceListItemId, warehouseId, level } = await tracked(sandbox);
    const levelNow = async () => {
      const { json } = await get(sandbox, `/price-list-items/${String(priceListItemId)}`);
      const split = (json["stocks"] as Dict[]).find((place) => place["warehouseId"] === warehouseId);
      return Number(split?.["stockQuantity"]);
    };
    const item = (quantity: number) => ({
      priceListItemId,
      quantity,
      warehouseAllocations: [{ warehouseId, quantity }],
    });
    const before = (await all(sandbox, "/warehouse-outbound-receipts")).length;
    const made = await post(sandbox, "/invoices", { clientId, number: "F1", items: [item(3)] });
    expect(await levelNow()).toBe(level - 3);
    const receipts = await all(sandbox, "/warehouse-outbound-receipts");
    expect(receipts).toHaveLength(before + 1);
    expect(receipts[0]).toMatchObject({ clientId, items: [{ priceListItemId, quantity: 3 }] });
    const path = `/invoices/${idOf(made.json)}`;
    await put(sandbox, path, { clientId, number: "F1", items: [item(level)] });
    expect(await levelNow()).toBe(0);
    expect(
      fieldsOf(await put(sandbox, path, { clientId, number: "F1", items: [item(level + 1)] })),
    ).toHaveLength(1);
    await remove(sandbox, path);
    expect(await levelNow()).toBe(level);
    expect(await all(sandbox, "/warehouse-outbound-receipts")).toHaveLength(before);
  });

  test("add up to the line's quantity and name tracked items and known warehouses", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const { priceListItemId, warehouseId } = await tracked(sandbox);
    const refused = async (item: Dict) =>
      fieldsOf(await post(sandbox, "/invoices", { clientId, items: [item] }));
    const short = { priceListItemId, quantity: 3, warehouseAllocations: [{ warehouseId, quantity: 2 }] };
    expect(await refused(short)).toEqual(["items.0.warehouseAllocations"]);
    const nowhere = { priceListItemId, quantity: 2, warehouseAllocations: [{ warehouseId: 1, quantity: 2 }] };
    expect(await refused(nowhere)).toEqual(["items.0.warehouseAllocations.0.warehouseId"]);
    const free = { ...line, warehouseAllocations: [{ warehouseId, quantity: 2 }] };
    expect(await refused(free)).toEqual(["items.0.warehouseAllocations"]);
  });
});

describe("deleting", () => {
  test("a document takes its payments along, each told", async () => {
    const sandbox = await openSandbox();
    const paid = await one(sandbox, "/invoices?paymentStatus=paid");
    const payments = (await get(sandbox, `/invoices/${idOf(paid)}`)).json["payments"] as Dict[];
    expect((await remove(sandbox, `/invoices/${idOf(paid)}`)).status).toBe(204);
    for (const payment of payments)
      expect((await get(sandbox, `/document-payments/${idOf(payment)}`)).status).toBe(404);
    expect(typesOf(sandbox)).toEqual([
      ...payments.map(() => "document-payments.deleted"),
      "invoices.deleted",
    ]);
    expect((await all(sandbox, "/invoices")).map(({ id }) => id)).not.toContain(paid["id"]);
  });

  test.each(["/invoices", "/credit-notes", "/proformas", "/orders", "/quotations"])(
    "%s forget what was deleted",
    async (path) => {
      const sandbox = await openSandbox();
      const record = await one(sandbox, path);
      expect((await remove(sandbox, `${path}/${idOf(record)}`)).status).toBe(204);
      expect((await get(sandbox, `${path}/${idOf(record)}`)).status).toBe(404);
      expect((await remove(sandbox, `${path}/${idOf(record)}`)).status).toBe(404);
    },
  );
});
