import { describe, expect, it } from "vitest";
import type { FintoroClient } from "../../connectors/fintoro/client/client.ts";
import { InvalidError, NotFoundError } from "../../src/connector/service-errors.ts";
import { first, newClient, openLive, refusal } from "../support/http/live-client.ts";
import { entriesOf } from "../support/export/zip.ts";

describe("a status of business cases", () => {
  it("is made, found, changed and deleted; its cases stay without one", async () => {
    const { client } = await openLive();
    const { id: clientId } = await newClient(client);
    const made = await client.businessCaseStatuses.create({ name: "Čaká", color: "#12AB9f" });
    expect(await client.businessCaseStatuses.show(made.id)).toEqual(made);
    expect(await client.businessCaseStatuses.list()).toContainEqual(made);
    const changed = await client.businessCaseStatuses.update(made.id, { name: "Trvá", color: "#000" });
    expect(changed).toEqual({ id: made.id, name: "Trvá", color: "#000" });
    const item = await client.businessCases.create({ clientId, name: "Strecha", statusId: made.id });
    await client.businessCaseStatuses.delete(made.id);
    expect(await client.businessCases.show(item.id)).toMatchObject({ status: null });
    await expect(client.businessCaseStatuses.show(made.id)).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe("a business case", () => {
  it("is made, found, changed and deleted", async () => {
    const { client } = await openLive();
    const owner = await newClient(client);
    const status = first(await client.businessCaseStatuses.list());
    const made = await client.businessCases.create({
      clientId: owner.id,
      name: "Strecha",
      statusId: status.id,
    });
    expect(made).toMatchObject({ contactType: "client", contactId: owner.id, client: owner, status });
    expect(await client.businessCases.show(made.id)).toEqual(made);
    expect((await client.businessCases.list({ clientId: owner.id })).data).toEqual([made]);
    const changed = await client.businessCases.update(made.id, { description: "do jari" });
    expect(changed).toMatchObject({ name: "Strecha", description: "do jari", status });
    await client.businessCases.delete(made.id);
    await expect(client.businessCases.show(made.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it("loses its status when null is sent, and is then found by null", async () => {
    const { client } = await openLive();
    const { id: clientId } = await newClient(client);
    const { id: statusId } = first(await client.businessCaseStatuses.list());
    const made = await client.businessCases.create({ clientId, name: "Strecha", statusId });
    expect(await client.businessCases.update(made.id, { statusId: null })).toMatchObject({ status: null });
    const { data } = await client.businessCases.list({ clientId, statusId: null });
    expect(data.map(({ id }) => id)).toEqual([made.id]);
  });
});

const file = (name: string, content: string) => new File([content], name, { type: "text/plain" });

async function noteWith(client: FintoroClient, ...files: readonly File[]) {
  const { id: clientId } = await newClient(client);
  const uploads = await client.contactActivityAttachments.upload(files);
  const attachmentUploadTokens = uploads.map(({ uploadToken }) => uploadToken);
  const metadata = { content: "Dohodnuté" };
  const log = await client.contactActivityLogs.create({
    clientId,
    type: "note",
    metadata,
    attachmentUploadTokens,
  });
  return { clientId, uploads, log };
}

describe("an event", () => {
  it("is made, found, changed and deleted", async () => {
    const { client } = await openLive();
    const { id: supplierId } = await client.suppliers.create({ name: "Tlačiareň" });
    const metadata = { content: "Volal", personName: "Eva", phoneNumber: "+421 900 000 001" };
    const made = await client.contactActivityLogs.create({ supplierId, type: "phone_call", metadata });
    expect(made).toMatchObject({ supplierId, clientId: null, metadata, attachments: [] });
    expect(await client.contactActivityLogs.show(made.id)).toEqual(made);
    const page = await client.contactActivityLogs.list({ supplierId, type: "phone_call" });
    expect(page.data).toEqual([made]);
    const changed = await client.contactActivityLogs.update(made.id, {
      metadata: { ...metadata, content: "Volal znova" },
    });
    expect(changed.metadata).toEqual({ ...metadata, content: "Volal znova" });
    await client.contactActivityLogs.delete(made.id);
    await expect(client.contactActivityLogs.show(made.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it("of a linked document shows the document", async () => {
    const { client } = await openLive();
    const { id: documentId, clientId, number } = first((await client.invoices.list()).data);
    const made = await client.contactActivityLogs.create({
      clientId,
      type: "document_linked",
      metadata: { documentType: "invoice", documentId },
    });
    expect(made.metadata.relatedDocument).toMatchObject({ documentType: "invoice", documentId, number });
  });

  it("without what its type needs is refused by field", async () => {
    const { client } = await openLive();
    const { id: clientId } = await newClient(client);
    const error = await refusal(client.contactActivityLogs.create({ clientId, type: "note", metadata: {} }));
    expect(error).toBeInstanceOf(InvalidError);
    expect(error).toMatchObject({ fields: { "metadata.content": [expect.any(String)] } });
  });
});

describe("an attachment takes two steps", () => {
  it("is uploaded byte for byte, attached by its token, and comes back in the archive", async () => {
    const { client } = await openLive();
    const { uploads, log } = await noteWith(
      client,
      file("zmluva č. 1.txt", "ľščťžýáíé\r\n"),
      file("b.txt", ""),
    );
    expect(uploads.map(({ fileName, mimeType, size }) => [fileName, mimeType, size])).toEqual([
      ["zmluva č. 1.txt", "text/plain", 20],
      ["b.txt", "text/plain", 0],
    ]);
    expect(log.attachments.map(({ name }) => name)).toEqual(["zmluva č. 1.txt", "b.txt"]);
    const archive = await client.contactActivityLogs.attachments(log.id);
    expect(entriesOf(archive)).toEqual([
      { name: "zmluva č. 1.txt", text: "ľščťžýáíé\r\n" },
      { name: "b.txt", text: "" },
    ]);
  });

  it("is taken off and replaced at an update", async () => {
    const { client } = await openLive();
    const { log } = await noteWith(client, file("a.txt", "a"), file("b.txt", "b"));
    const [next] = await client.contactActivityAttachments.upload([file("c.txt", "c")]);
    const changed = await client.contactActivityLogs.update(log.id, {
      metadata: { content: "Iné" },
      attachmentUploadTokens: [next?.uploadToken ?? ""],
      deletedAttachmentIds: [first(log.attachments).id],
    });
    expect(changed.attachments.map(({ name }) => name)).toEqual(["b.txt", "c.txt"]);
  });

  it("uses its token up", async () => {
    const { client } = await openLive();
    const { clientId, uploads } = await noteWith(client, file("a.txt", "a"));
    const again = client.contactActivityLogs.create({
      clientId,
      type: "note",
      metadata: { content: "Ešte raz" },
      attachmentUploadTokens: [first(uploads).uploadToken],
    });
    expect(await refusal(again)).toMatchObject({
      kind: "invalid",
      fields: { "attachmentUploadTokens.0": [expect.any(String)] },
    });
  });

  it("of an event without any is not found", async () => {
    const { client } = await openLive();
    const { log } = await noteWith(client, file("a.txt", "a"));
    const bare = await client.contactActivityLogs.update(log.id, {
      metadata: { content: "Bez príloh" },
      deletedAttachmentIds: log.attachments.map(({ id }) => id),
    });
    await expect(client.contactActivityLogs.attachments(bare.id)).rejects.toBeInstanceOf(NotFoundError);
  });
});
