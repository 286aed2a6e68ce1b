import { describe, expect, it } from "vitest";
import type { FintoroClient } from "../../connectors/fintoro/client/client.ts";
import type { Invoice } from "../../connectors/fintoro/client/record-types.ts";
import { InvalidError, NotFoundError } from "../../src/connector/service-errors.ts";
import { first, newClient, openLive, refusal, stockedItem, work } from "../support/http/live-client.ts";

/** What all five kinds promise of a document, once it is made. */
interface Kind<R> {
  readonly show: (id: number) => Promise<R>;
  readonly delete: (id: number) => Promise<void>;
  readonly pdf: (id: number) => Promise<Buffer>;
  readonly list: (query: {
    readonly number: string;
  }) => Promise<{ readonly data: readonly { id: number }[] }>;
}

/** Shown as it was made, found by its number, printed, deleted, gone. */
async function expectLifecycle<R extends { id: number; number: string }>(
  kind: Kind<R>,
  made: R,
): Promise<void> {
  expect(await kind.show(made.id)).toEqual(made);
  expect((await kind.list({ number: made.number })).data.map(({ id }) => id)).toEqual([made.id]);
  const bytes = await kind.pdf(made.id);
  expect(bytes.toString("latin1", 0, 5)).toBe("%PDF-");
  expect(bytes.includes("%%EOF")).toBe(true);
  expect(await kind.delete(made.id)).toBeUndefined();
  await expect(kind.show(made.id)).rejects.toBeInstanceOf(NotFoundError);
}

const items = [
  { ...work, quantity: 1.5, discountType: "percentage", discountValue: 10 } as const,
  { name: "Doprava", unitPrice: 0.015, vatRate: 5, quantity: 3 },
];

/** 1.5 x 40 less a tenth is 54.00, three times 0.015 is 0.05 (rounded); 12.42 and 0.00 of VAT. */
const sums = { total: 54.05, totalWithVat: 66.47, hasVat: true };

describe("an invoice", () => {
  it("lives from creation to deletion, its amounts to the cent", async () => {
    const { client } = await openLive();
    const { id: clientId } = await newClient(client);
    const made = await client.invoices.create({
      clientId,
      number: "2026-A/1",
      issueDate: "2026-11-20",
      items,
    });
    expect(made).toMatchObject({ ...sums, number: "2026-A/1", clientId, toBePaid: 66.47, status: "unpaid" });
    await expectLifecycle(client.invoices, made);
  });

  it("is replaced by an update, its lines kept by their uuid", async () => {
    const { client } = await openLive();
    const { id: clientId } = await newClient(client);
    const made = await client.invoices.create({ clientId, items, note: "zmizne" });
    const { uuid } = first(made.items);
    const changed = await client.invoices.update(made.id, {
      clientId,
      number: made.number,
      items: [{ ...work, uuid, quantity: 2 }],
    });
    expect(changed).toMatchObject({
      id: made.id,
      number: made.number,
      total: 80,
      totalWithVat: 98.4,
      note: null,
    });
    expect(changed.items.map((item) => item.uuid)).toEqual([uuid]);
  });

  it("makes its client out of the facts that were sent", async () => {
    const { client } = await openLive();
    const made = await client.invoices.create({
      client: { name: "Nový, a. s.", vatId: "SK2888888888" },
      items,
    });
    expect(made.client).toMatchObject({ name: "Nový, a. s.", type: "company", isVatPayer: true });
    expect(await client.clients.show(made.clientId)).toMatchObject({ vatId: "SK2888888888" });
  });

  it("in another currency keeps its rate", async () => {
    const { client } = await openLive();
    const { id: clientId } = await newClient(client);
    const crown = (await client.lookups.currencies()).find(({ symbol }) => symbol === "CZK");
    const terms = { currencyId: crown?.id ?? 0, currencyRate: 24.31055 };
    expect(await client.invoices.create({ clientId, items, ...terms })).toMatchObject(terms);
  });

  it("takes its goods out of the warehouse, and gives them back when it is deleted", async () => {
    const { client } = await openLive();
    const { id: clientId } = await newClient(client);
    const { warehouse, item } = await stockedItem(client, 10);
    const sold = (quantity: number) =>
      client.invoices.create({
        clientId,
        items: [
          {
            priceListItemId: item.id,
            quantity,
            warehouseAllocations: [{ warehouseId: warehouse.id, quantity }],
          },
        ],
      });
    const stock = async () => (await client.priceListItems.show(item.id)).stock;
    const made = await sold(4);
    expect(made.items).toMatchObject([{ name: "Skrutka M8", unitPrice: 0.05, priceListItemId: item.id }]);
    expect(await stock()).toBe(6);
    const error = await refusal(sold(7));
    expect(error).toBeInstanceOf(InvalidError);
    expect(error).toMatchObject({ fields: { "items.0.quantity": [expect.any(String)] } });
    await client.invoices.delete(made.id);
    expect(await stock()).toBe(10);
  });

  it("with a number that is taken is refused by field", async () => {
    const { client } = await openLive();
    const taken = first((await client.invoices.list()).data);
    const again = client.invoices.create({ clientId: taken.clientId, number: taken.number, items });
    expect(await refusal(again)).toMatchObject({
      name: "InvalidError",
      status: 422,
      fields: { number: ["The number has already been taken."] },
    });
  });

  it("is found by what it is: overdue, of a client, within dates and sums", async () => {
    const { client } = await openLive({ records: 300 });
    const overdue = await client.invoices.list({ paymentStatus: "overdue", perPage: 500 });
    expect(overdue.data.length).toBeGreaterThan(0);
    expect(new Set(overdue.data.map(({ status }) => status))).toEqual(new Set(["overdue"]));
    const { id, clientId, issueDate, number } = first(overdue.data);
    const exact = { number, clientId, issueDateFrom: issueDate, issueDateTo: issueDate };
    expect((await client.invoices.list(exact)).data.map((one) => one.id)).toEqual([id]);
  });
});

async function soldWork(client: FintoroClient): Promise<Invoice> {
  const { id: clientId } = await newClient(client);
  return client.invoices.create({ clientId, items: [work], issueDate: "2026-11-18" });
}

describe("a credit note", () => {
  it("takes a whole invoice back, and the invoice shows it", async () => {
    const { client } = await openLive();
    const invoice = await soldWork(client);
    const made = await client.invoices.createCreditNote(invoice.id, { note: "Vrátené" });
    const { clientId } = invoice;
    expect(made).toMatchObject({ invoiceId: invoice.id, clientId, totalWithVat: -49.2, note: "Vrátené" });
    expect(await client.invoices.show(invoice.id)).toMatchObject({ creditNotesSumTotalWithVat: -49.2 });
    await expectLifecycle(client.creditNotes, made);
  });

  it("is made and changed on its own, as long as it gives something back", async () => {
    const { client } = await openLive();
    const { id: invoiceId, bankAccount } = await soldWork(client);
    const body = (unitPrice: number) => ({
      invoiceId,
      number: "D-1",
      bankAccountId: bankAccount.id,
      variableSymbol: 1,
      issueDate: "2026-11-20",
      dueDate: "2026-11-30",
      deliveryDate: "2026-11-20",
      transferTaxLiability: false,
      paymentMethodId: 1,
      currencyId: 1,
      currencyRate: 1,
      languageId: 1,
      items: [{ ...work, unitPrice }],
    });
    const made = await client.creditNotes.create(body(-10));
    expect(made).toMatchObject({ number: "D-1", total: -10, totalWithVat: -12.3, toBePaid: -12.3 });
    const changed = await client.creditNotes.update(made.id, body(-0.01));
    expect(changed).toMatchObject({ id: made.id, total: -0.01, totalWithVat: -0.01 });
    const { fields } = (await refusal(client.creditNotes.update(made.id, body(10)))) as InvalidError;
    expect(Object.keys(fields)).toEqual(["items"]);
  });

  it("of an invoice that is not there is not found", async () => {
    const { client } = await openLive();
    await expect(client.invoices.createCreditNote(999_999, {})).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe("a proforma, an order, a quotation", () => {
  it("lives: proforma", async () => {
    const { client } = await openLive();
    const { id: clientId } = await newClient(client);
    const made = await client.proformas.create({ clientId, items, dueDateDays: 7, issueDate: "2026-11-20" });
    expect(made).toMatchObject({ ...sums, dueDate: "2026-11-27", toBePaid: 66.47, status: "unpaid" });
    const changed = await client.proformas.update(made.id, { clientId, number: made.number, items: [work] });
    expect(changed).toMatchObject({ id: made.id, total: 40, totalWithVat: 49.2 });
    await expectLifecycle(client.proformas, changed);
  });

  it("lives: order", async () => {
    const { client } = await openLive();
    const { id: clientId } = await newClient(client);
    const made = await client.orders.create({ clientId, items, discountType: "fixed", discountValue: 4.05 });
    expect(made).toMatchObject({ total: 50, itemsTotal: 54.05, hasVat: true });
    const changed = await client.orders.update(made.id, { clientId, number: made.number, items });
    expect(changed).toMatchObject({ id: made.id, ...sums });
    await expectLifecycle(client.orders, changed);
  });

  it("lives: quotation", async () => {
    const { client } = await openLive();
    const { id: clientId } = await newClient(client);
    const made = await client.quotations.create({ clientId, items, validityDate: "2026-12-31" });
    expect(made).toMatchObject({ ...sums, validityDate: "2026-12-31", status: "waiting" });
    const changed = await client.quotations.update(made.id, {
      clientId,
      number: made.number,
      items,
      transferTaxLiability: true,
    });
    expect(changed).toMatchObject({ id: made.id, total: 54.05, totalWithVat: 54.05, hasVat: false });
    await expectLifecycle(client.quotations, changed);
  });

  it("is what the next document is made from", async () => {
    const { client } = await openLive();
    const { id: clientId } = await newClient(client);
    const quotation = await client.quotations.create({ clientId, items: [work] });
    const order = await client.orders.create({ clientId, quotationId: quotation.id, items: [work] });
    const invoice = await client.invoices.create({ clientId, orderId: order.id, items: [work] });
    const open = async () => (await client.orders.list({ clientId, withoutInvoice: true })).data;
    expect(await open()).toEqual([]);
    await client.invoices.delete(invoice.id);
    expect((await open()).map(({ id }) => id)).toEqual([order.id]);
  });
});
