import { describe, expect, it } from "vitest";
import type { FintoroClient } from "../../connectors/fintoro/client/client.ts";
import { NotFoundError } from "../../src/connector/service-errors.ts";
import { asked, first, newClient, openLive, refusal, work } from "../support/http/live-client.ts";

/** An invoice of 49.20 with VAT. */
async function invoiceOf(client: FintoroClient, terms: { readonly currencyId?: number } = {}) {
  const { id: clientId } = await newClient(client);
  return client.invoices.create({ clientId, items: [work], ...terms });
}

const stateOf = async (client: FintoroClient, id: number) => {
  const { status, toBePaid } = await client.invoices.show(id);
  return { status, toBePaid };
};

describe("a payment", () => {
  it("without an amount pays the rest, and the document is paid", async () => {
    const { client } = await openLive();
    const { id: documentId } = await invoiceOf(client);
    const payment = await client.documentPayments.create({ documentType: "invoice", documentId });
    expect(payment).toMatchObject({
      documentType: "invoice",
      documentId,
      amount: 49.2,
      receiptInvoice: null,
    });
    expect(await client.documentPayments.show(payment.id)).toEqual(payment);
    expect(await client.documentPayments.list({ documentType: "invoice", documentId })).toEqual([payment]);
    expect(await client.invoices.show(documentId)).toMatchObject({
      status: "paid",
      toBePaid: 0,
      payments: [payment],
    });
  });

  it("in parts pays in parts, and what is deleted is owed again", async () => {
    const { client } = await openLive();
    const { id } = await invoiceOf(client);
    const pay = (amount: number) =>
      client.documentPayments.create({ documentType: "invoice", documentId: id, amount });
    const part = await pay(49.19);
    expect(await stateOf(client, id)).toEqual({ status: "partially_paid", toBePaid: 0.01 });
    const rest = await pay(0.01);
    expect(await stateOf(client, id)).toEqual({ status: "paid", toBePaid: 0 });
    await client.documentPayments.delete(rest.id);
    expect(await stateOf(client, id)).toEqual({ status: "partially_paid", toBePaid: 0.01 });
    await client.documentPayments.delete(part.id);
    expect(await stateOf(client, id)).toEqual({ status: "unpaid", toBePaid: 49.2 });
    await expect(client.documentPayments.show(part.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it("says when, how and in which currency it was made", async () => {
    const { client } = await openLive();
    const method = first((await client.lookups.paymentMethods()).slice(-1));
    const crown = (await client.lookups.currencies()).find(({ symbol }) => symbol === "CZK");
    const { id: documentId } = await invoiceOf(client);
    const terms = { paymentDate: "2026-10-31", currencyRate: 25, amount: 1230 };
    const payment = await client.documentPayments.create({
      ...terms,
      documentType: "invoice",
      documentId,
      paymentMethodId: method.id,
      currencyId: crown?.id ?? 0,
    });
    expect(payment).toMatchObject({ ...terms, paymentMethod: method, currency: crown });
    expect(await stateOf(client, documentId)).toEqual({ status: "paid", toBePaid: 0 });
  });

  it("pays proformas and credit notes too", async () => {
    const { client } = await openLive();
    const { id, clientId } = await invoiceOf(client);
    const proforma = await client.proformas.create({ clientId, items: [work] });
    await client.documentPayments.create({ documentType: "proforma", documentId: proforma.id });
    expect(await client.proformas.show(proforma.id)).toMatchObject({ status: "paid", alreadyPaid: 49.2 });
    const note = await client.invoices.createCreditNote(id, {});
    const back = await client.documentPayments.create({ documentType: "credit-note", documentId: note.id });
    expect(back.amount).toBe(-49.2);
    expect(await client.creditNotes.show(note.id)).toMatchObject({ status: "paid", toBePaid: 0 });
  });

  it("of nothing, or of no document, is refused by field", async () => {
    const { client } = await openLive();
    const { id: documentId } = await invoiceOf(client);
    const nothing = client.documentPayments.create({ documentType: "invoice", documentId, amount: 0 });
    expect(await refusal(nothing)).toMatchObject({
      kind: "invalid",
      fields: { amount: [expect.any(String)] },
    });
    const nowhere = client.documentPayments.create({ documentType: "invoice", documentId: 999_999 });
    expect(await refusal(nowhere)).toMatchObject({ fields: { documentId: [expect.any(String)] } });
  });
});

describe("a mail", () => {
  it("of every kind of document is sent once, and the answer is empty", async () => {
    const { client, sandbox } = await openLive();
    const documents = [
      ["invoice", first((await client.invoices.list()).data)],
      ["proforma", first((await client.proformas.list()).data)],
      ["credit-note", first((await client.creditNotes.list()).data)],
      ["order", first((await client.orders.list()).data)],
      ["quotation", first((await client.quotations.list()).data)],
    ] as const;
    const to = ["uctovnicka@klient.example", "sef@klient.example"];
    for (const [documentType, { id: documentId }] of documents) {
      const mail = { documentType, documentId, to, body: "Dobrý deň", type: "regular" } as const;
      expect(await client.documentMails.send(mail)).toBeUndefined();
    }
    const sent = documents.map(([documentType, { id: documentId }]) => ({ documentType, documentId, to }));
    expect(sandbox.control.mails()).toEqual(sent);
    expect(asked(sandbox, "POST")).toEqual(documents.map(() => "POST /document-mails 202"));
  });

  it("of a document that is not there is refused, and nobody gets it", async () => {
    const { client, sandbox } = await openLive();
    const nobody = {
      documentType: "order",
      documentId: 999_999,
      to: ["a@b.example"],
      type: "reminder",
    } as const;
    expect(await refusal(client.documentMails.send(nobody))).toMatchObject({
      kind: "invalid",
      fields: { documentId: [expect.any(String)] },
    });
    expect(sandbox.control.mails()).toEqual([]);
  });
});
