import { expect, it } from "vitest";
import { NotFoundError } from "../../src/connector/service-errors.ts";
import { entriesOf } from "../support/export/zip.ts";
import {
  asked,
  clientOf,
  first,
  newClient,
  openLive,
  stockedItem,
  work,
} from "../support/http/live-client.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";

const hook = {
  name: "zrkadlo",
  url: "https://hooks.example.com/in",
  isActive: true,
  subscribedEvents: ["orders.created"],
};

it("a warehouse is made and changed, and stays while a receipt names it", async () => {
  const { client } = await openLive();
  const { warehouse, receipt, item: stocked } = await stockedItem(client, 987_654);
  const { id, ...facts } = warehouse;
  expect(await client.warehouses.update(id, { ...facts, name: "Sklad za riekou" })).toMatchObject({
    id,
    name: "Sklad za riekou",
  });
  const { data } = await client.priceListItems.list({ onlyWarehouseItems: true, stockFrom: 987_654 });
  expect(data.map((one) => one.id)).toEqual([stocked.id]);
  await expect(client.warehouses.delete(id)).rejects.toMatchObject({ kind: "invalid" });
  await client.warehouseInboundReceipts.delete(receipt.id);
  expect((await client.priceListItems.show(stocked.id)).stock).toBe(0);
  await client.warehouses.delete(id);
});

const file = (name: string, content: string) => new File([content], name, { type: "text/plain" });

it("an attachment is uploaded byte for byte, attached by its token, taken off, and comes back in the archive", async () => {
  const { client } = await openLive();
  const { id: clientId } = await newClient(client);
  const uploads = await client.contactActivityAttachments.upload([
    file("zmluva č. 1.txt", "ľščťžýáíé\r\n"),
    file("b.txt", ""),
  ]);
  expect(uploads.map(({ fileName, size }) => [fileName, size])).toEqual([
    ["zmluva č. 1.txt", 20],
    ["b.txt", 0],
  ]);
  const attachmentUploadTokens = uploads.map(({ uploadToken }) => uploadToken);
  const note = {
    clientId,
    type: "note",
    metadata: { content: "Dohodnuté" },
    attachmentUploadTokens,
  } as const;
  const log = await client.contactActivityLogs.create(note);
  expect(entriesOf(await client.contactActivityLogs.attachments(log.id))).toEqual([
    { name: "zmluva č. 1.txt", text: "ľščťžýáíé\r\n" },
    { name: "b.txt", text: "" },
  ]);
  const again = {
    "attachmentUploadTokens.0": [expect.any(String)],
    "attachmentUploadTokens.1": [expect.any(String)],
  };
  await expect(client.contactActivityLogs.create(note)).rejects.toMatchObject({ fields: again });
  const deletedAttachmentIds = log.attachments.map(({ id }) => id);
  await client.contactActivityLogs.update(log.id, { metadata: note.metadata, deletedAttachmentIds });
  await expect(client.contactActivityLogs.attachments(log.id)).rejects.toBeInstanceOf(NotFoundError);
});

it("a whole invoice is credited in one call, and a case without a status is found by null", async () => {
  const { client } = await openLive();
  const { id: clientId } = await newClient(client);
  const invoice = await client.invoices.create({ clientId, items: [work] });
  expect(await client.invoices.createCreditNote(invoice.id, { note: "Vrátené" })).toMatchObject({
    totalWithVat: -49.2,
  });
  await expect(client.invoices.createCreditNote(999_999, {})).rejects.toBeInstanceOf(NotFoundError);
  const { id } = await client.businessCases.create({ clientId, name: "Strecha" });
  expect((await client.businessCases.list({ clientId, statusId: null })).data.map((one) => one.id)).toEqual([
    id,
  ]);
});

it("a mail of every kind of document is sent once, and the answer is empty", async () => {
  const { client, sandbox } = await openLive();
  const documents = [
    ["invoice", first((await client.invoices.list()).data)],
    ["proforma", first((await client.proformas.list()).data)],
    ["credit-note", first((await client.creditNotes.list()).data)],
    ["order", first((await client.orders.list()).data)],
    ["quotation", first((await client.quotations.list()).data)],
  ] as const;
  const to = ["uctovnicka@klient.example", "sef@klient.example"];
  for (const [documentType, { id: documentId }] of documents)
    expect(
      await client.documentMails.send({ documentType, documentId, to, type: "regular" }),
    ).toBeUndefined();
  expect(sandbox.control.mails()).toEqual(
    documents.map(([documentType, { id: documentId }]) => ({ documentType, documentId, to })),
  );
  expect(asked(sandbox, "POST")).toEqual(documents.map(() => "POST /document-mails 202"));
});

it("a webhook secret is shown when it is made and rotated, and never else", async () => {
  const { client, sandbox } = await openLive();
  const made = await client.webhookSubscriptions.create(hook);
  const rotated = await client.webhookSubscriptions.rotateSecret(made.id);
  expect(rotated.plainTextSecret).not.toBe(made.plainTextSecret);
  expect(asked(sandbox).at(-1)).toBe(`POST /webhook-subscriptions/${made.id}/rotate-secret 200`);
  expect(await client.webhookSubscriptions.show(made.id)).not.toHaveProperty("plainTextSecret");
});

it("whose token it is, lookups, number series and the register are read as they are", async () => {
  const sandbox = await openSandbox({ companies: 2 });
  const [client, slovak] = [clientOf(sandbox), clientOf(sandbox, { language: "sk" })];
  const other = clientOf(sandbox, { token: sandbox.companies[1]?.token ?? "" });
  expect([await client.whoami(), await other.whoami()]).toMatchObject(
    sandbox.companies.map(({ name }) => ({ name })),
  );
  for (const name of [
    "countries",
    "languages",
    "currencies",
    "deliveryMethods",
    "paymentMethods",
    "units",
  ] as const) {
    const [english, local] = [await client.lookups[name](), await slovak.lookups[name]()];
    expect(local.map(({ id }) => id)).toEqual(english.map(({ id }) => id));
    expect(local.map((one) => one.name)).not.toEqual(english.map((one) => one.name));
  }
  expect((await client.lookups.banks()).length + (await client.lookups.qrTypes()).length).toBeGreaterThan(20);
  for (const documentType of ["invoice", "proforma", "credit-note", "order", "quotation"] as const)
    for (const one of await client.numericalSeries.list({ documentType }))
      expect(await client.numericalSeries.show(one.id)).toEqual({ ...one, documentType });
  const subject = first(
    await client.subjects.search({ searchQuery: "pekaren", legalForm: "company", limit: 3 }),
  );
  expect(await client.subjects.search({ searchQuery: String(subject.id) })).toEqual([subject]);
  expect(await client.subjects.show(subject.id)).toEqual(subject);
  await expect(client.subjects.show(1)).rejects.toBeInstanceOf(NotFoundError);
});
