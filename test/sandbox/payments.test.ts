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
  remove,
  testDay,
  type Dict,
  typesOf,
} from "../support/sandbox/sandbox.ts";

async function invoice(sandbox: Sandbox, more: Dict = {}): Promise<Dict> {
  const clientId = (await one(sandbox, "/clients?type=person"))["id"];
  const items = [{ name: "Práca", quantity: 1, unitPrice: 100, vatRate: 23 }];
  return (await post(sandbox, "/invoices", { clientId, currencyId: 1, paymentMethodId: 1, items, ...more }))
    .json;
}

const pay = (sandbox: Sandbox, document: Dict, more: Dict = {}, documentType = "invoice") =>
  post(sandbox, "/document-payments", { documentType, documentId: document["id"], ...more });

describe("recording a payment", () => {
  test("with nothing else sent pays all that is left, today, in the document's own way", async () => {
    const sandbox = await openSandbox();
    const document = await invoice(sandbox);
    const made = await pay(sandbox, document);
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      documentType: "invoice",
      documentId: document["id"],
      amount: 123,
      paymentDate: testDay,
      currencyRate: 1,
      paymentMethod: { id: 1 },
      currency: { symbol: "EUR" },
      receiptInvoice: null,
    });
    const after = (await get(sandbox, `/invoices/${idOf(document)}`)).json;
    expect(after).toMatchObject({ toBePaid: 0, status: "paid", payments: [made.json] });
    expect(typesOf(sandbox).slice(-2)).toEqual(["document-payments.created", "invoices.paid"]);
    expect(fieldsOf(await pay(sandbox, document))).toEqual(["amount"]);
  });

  test("emits *.paid only when it completes the sum", async () => {
    const sandbox = await openSandbox();
    const document = await invoice(sandbox);
    await pay(sandbox, document, { amount: 23 });
    expect((await get(sandbox, `/invoices/${idOf(document)}`)).json).toMatchObject({
      toBePaid: 100,
      status: "partially_paid",
    });
    await pay(sandbox, document, { amount: 100 });
    await pay(sandbox, document, { amount: 1 });
    expect(typesOf(sandbox).filter((type) => type === "invoices.paid")).toHaveLength(1);
    expect((await get(sandbox, `/invoices/${idOf(document)}`)).json).toMatchObject({
      toBePaid: -1,
      status: "paid",
    });
  });

  test("in another currency counts by the rates; in the same one it counts as it is", async () => {
    const sandbox = await openSandbox();
    const document = await invoice(sandbox);
    await pay(sandbox, document, { currencyId: 5, currencyRate: 25, amount: 575 });
    expect((await get(sandbox, `/invoices/${idOf(document)}`)).json["toBePaid"]).toBe(100);
    const rest = await pay(sandbox, document, { currencyId: 5, currencyRate: 24 });
    expect(rest.json).toMatchObject({ amount: 2400, currencyRate: 24 });
    expect((await get(sandbox, `/invoices/${idOf(document)}`)).json["status"]).toBe("paid");
    const crowns = await invoice(sandbox, { currencyId: 5, currencyRate: 24.5 });
    await pay(sandbox, crowns, { paymentDate: "2026-10-01" });
    expect((await get(sandbox, `/invoices/${idOf(crowns)}`)).json).toMatchObject({
      toBePaid: 0,
      status: "paid",
    });
  });

  test("pays credit notes with negative amounts and proformas like invoices", async () => {
    const sandbox = await openSandbox();
    const source = await invoice(sandbox);
    const note = (await post(sandbox, `/invoices/${idOf(source)}/credit-notes`, {})).json;
    expect((await pay(sandbox, note, {}, "credit-note")).json["amount"]).toBe(-123);
    const after = (await get(sandbox, `/credit-notes/${idOf(note)}`)).json;
    expect(after).toMatchObject({ toBePaid: 0, alreadyPaid: -123, status: "paid" });
    const clientId = source["clientId"];
    const items = [{ name: "Záloha", quantity: 1, unitPrice: 10, vatRate: 0 }];
    const proforma = (await post(sandbox, "/proformas", { clientId, currencyId: 1, items })).json;
    await pay(sandbox, proforma, {}, "proforma");
    expect((await get(sandbox, `/proformas/${idOf(proforma)}`)).json).toMatchObject({
      alreadyPaid: 10,
      status: "paid",
    });
    expect(typesOf(sandbox)).toContain("credit-notes.paid");
    expect(typesOf(sandbox)).toContain("proformas.paid");
  });

  test.each([
    [{ documentType: "order" }, "documentType"],
    [{ documentId: 999_999 }, "documentId"],
    [{ amount: 0 }, "amount"],
    [{ amount: "much" }, "amount"],
    [{ paymentDate: "yesterday" }, "paymentDate"],
    [{ currencyId: 77 }, "currencyId"],
    [{ paymentMethodId: 7 }, "paymentMethodId"],
  ])("with %j is refused on %s", async (change, field) => {
    const sandbox = await openSandbox();
    const heard = await pay(sandbox, await invoice(sandbox), change);
    expect([heard.status, fieldsOf(heard)]).toEqual([422, [field]]);
  });
});

describe("deleting a payment", () => {
  test("opens the document again", async () => {
    const sandbox = await openSandbox();
    const document = await invoice(sandbox);
    const { json } = await pay(sandbox, document);
    expect((await remove(sandbox, `/document-payments/${idOf(json)}`)).status).toBe(204);
    expect((await get(sandbox, `/invoices/${idOf(document)}`)).json).toMatchObject({
      toBePaid: 123,
      payments: [],
      status: "unpaid",
    });
    expect((await get(sandbox, `/document-payments/${idOf(json)}`)).status).toBe(404);
    expect(typesOf(sandbox).at(-1)).toBe("document-payments.deleted");
  });

  test("of a payment receipt is refused; its proforma's payment names the receipt", async () => {
    const sandbox = await openSandbox();
    const listed = (await all(sandbox, "/invoices")).find(({ type }) => type === "payment_receipt");
    const receipt = (await get(sandbox, `/invoices/${idOf(listed ?? {})}`)).json;
    const [payment] = receipt["payments"] as Dict[];
    const refused = await remove(sandbox, `/document-payments/${idOf(payment ?? {})}`);
    expect([refused.status, fieldsOf(refused)]).toEqual([422, ["documentPayment"]]);
    const proformas = (await all(sandbox, "/proformas?paymentStatus=paid")).map(({ id }) => String(id));
    const details = await Promise.all(proformas.map((id) => get(sandbox, `/proformas/${id}`)));
    const named = details
      .flatMap(({ json }) => json["payments"] as Dict[])
      .map(({ receiptInvoice }) => receiptInvoice as Dict | null);
    expect(named.filter((preview) => preview !== null)).not.toEqual([]);
    for (const preview of named) if (preview) expect(preview["type"]).toBe("payment_receipt");
  });
});

describe("statuses", () => {
  test("follow due dates as today moves", async () => {
    const sandbox = await openSandbox();
    const document = await invoice(sandbox, { dueDateDays: 5 });
    const status = async () => (await get(sandbox, `/invoices/${idOf(document)}`)).json["status"];
    expect(await status()).toBe("unpaid");
    sandbox.control.setToday("2026-11-26");
    expect(await status()).toBe("overdue");
    sandbox.control.alter("invoices", Number(document["id"]), { willBePaid: false });
    expect(await status()).toBe("will_not_be_paid");
    await pay(sandbox, document);
    expect(await status()).toBe("paid");
  });
});

describe("document mails", () => {
  const mail = { documentType: "order", to: ["a@b.example"], type: "regular" };

  test("are accepted with an empty answer and sent nowhere", async () => {
    const sandbox = await openSandbox();
    const order = await one(sandbox, "/orders");
    const heard = await post(sandbox, "/document-mails", {
      ...mail,
      documentId: order["id"],
      body: "Dobrý deň",
    });
    expect([heard.status, heard.text]).toEqual([202, ""]);
    expect(sandbox.control.mails()).toEqual([
      { documentType: "order", documentId: order["id"], to: mail.to },
    ]);
  });

  test.each([
    [{ to: [] }, "to"],
    [{ to: ["nobody"] }, "to.0"],
    [{ type: "spam" }, "type"],
    [{ documentId: 999_999 }, "documentId"],
    [{ documentType: "letter" }, "documentType"],
    [{ body: "x".repeat(1001) }, "body"],
  ])("with %j are refused on %s", async (change, field) => {
    const sandbox = await openSandbox();
    const order = await one(sandbox, "/orders");
    const heard = await post(sandbox, "/document-mails", { ...mail, documentId: order["id"], ...change });
    expect([heard.status, fieldsOf(heard)]).toEqual([422, [field]]);
  });
});
