import { describe, expect, test } from "vitest";
import {
  all,
  ask,
  get,
  idOf,
  one,
  openSandbox,
  patch,
  post,
  put,
  remove,
  type Dict,
} from "../support/sandbox/sandbox.ts";
import type { Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";

async function upload(sandbox: Sandbox, ...names: string[]): Promise<string[]> {
  const form = new FormData();
  for (const name of names) form.append("files", new File([`obsah ${name}`], name, { type: "text/plain" }));
  const heard = await ask(sandbox, "POST", "/contact-activity-attachments", { form });
  expect(heard.status).toBe(201);
  return heard.data.map(({ uploadToken }) => String(uploadToken));
}

describe("business-case statuses", () => {
  test("a deleted status unlinks its cases, silently but for its own event", async () => {
    const sandbox = await openSandbox();
    const linked = (await all(sandbox, "/business-cases")).filter(({ status }) => status !== null);
    const status = linked[0]?.["status"] as Dict;
    const wasIn = linked.filter((item) => (item["status"] as Dict)["id"] === status["id"]);
    expect((await remove(sandbox, `/business-case-statuses/${idOf(status)}`)).status).toBe(204);
    for (const item of wasIn) {
      expect((await get(sandbox, `/business-cases/${idOf(item)}`)).json).toEqual({ ...item, status: null });
    }
    expect(sandbox.control.events().map(({ type }) => type)).toEqual(["business-case-statuses.deleted"]);
  });

  test("need a name and a hex color, and both again on every update", async () => {
    const sandbox = await openSandbox();
    const made = await post(sandbox, "/business-case-statuses", { name: "Nové", color: "#22aa44" });
    expect(made.json).toMatchObject({ name: "Nové", color: "#22aa44" });
    const path = `/business-case-statuses/${idOf(made.json)}`;
    expect((await put(sandbox, path, { name: "Iné" })).status).toBe(422);
    expect((await put(sandbox, path, { name: "Iné", color: "zelená" })).status).toBe(422);
    expect((await put(sandbox, path, { name: "Iné", color: "#fff" })).json).toMatchObject({
      name: "Iné",
      color: "#fff",
    });
    const listed = (await get(sandbox, "/business-case-statuses")).data;
    expect(listed.at(-1)).toMatchObject({ name: "Iné" });
  });
});

describe("business cases", () => {
  test("belong to exactly one contact and go to the end of their column", async () => {
    const sandbox = await openSandbox();
    const clientId = (await one(sandbox, "/clients"))["id"];
    const supplierId = (await one(sandbox, "/suppliers"))["id"];
    const statusId = (await one(sandbox, "/business-case-statuses"))["id"];
    const made = await post(sandbox, "/business-cases", { clientId, statusId, name: "Nový e-shop" });
    expect(made.json).toMatchObject({
      contactType: "client",
      contactId: clientId,
      client: { id: clientId },
      supplier: null,
    });
    const column = await all(sandbox, `/business-cases?statusId=${String(statusId)}`);
    const places = column.map(({ boardPosition }) => Number(boardPosition));
    expect(made.json["boardPosition"]).toBe(Math.max(...places));
    expect(new Set(places).size).toBe(places.length);
    expect((await post(sandbox, "/business-cases", { name: "Sám" })).status).toBe(422);
    expect((await post(sandbox, "/business-cases", { clientId, supplierId, name: "Dvaja" })).status).toBe(
      422,
    );
    expect((await post(sandbox, "/business-cases", { clientId: 999_999, name: "Cudzí" })).status).toBe(422);
    expect((await post(sandbox, "/business-cases", { supplierId, name: "Nákup" })).json).toMatchObject({
      contactType: "supplier",
      client: null,
      status: null,
    });
  });

  test("PATCH changes what is sent and refuses another contact", async () => {
    const sandbox = await openSandbox();
    const item = (await all(sandbox, "/business-cases")).find(({ status }) => status !== null) ?? {};
    const path = `/business-cases/${idOf(item)}`;
    const renamed = await patch(sandbox, path, { name: "Iný názov" });
    expect(renamed.json).toMatchObject({
      name: "Iný názov",
      description: item["description"],
      status: item["status"],
    });
    expect((await patch(sandbox, path, { statusId: null })).json["status"]).toBeNull();
    const refused = await patch(sandbox, path, { clientId: 1 });
    expect([refused.status, Object.keys(refused.json["errors"] as Dict)]).toEqual([422, ["clientId"]]);
    expect((await remove(sandbox, path)).status).toBe(204);
    expect((await get(sandbox, path)).status).toBe(404);
  });
});

describe("CRM events", () => {
  test.each([
    ["note", { content: "text" }, { content: "text" }],
    ["email", { content: "text", email: "a@b.example" }, { content: "text", email: "a@b.example" }],
    [
      "phone_call",
      { content: "x", personName: "Eva" },
      { content: "x", personName: "Eva", phoneNumber: null },
    ],
  ])("a %s keeps the metadata of its type", async (type, metadata, shown) => {
    const sandbox = await openSandbox();
    const clientId = (await one(sandbox, "/clients"))["id"];
    const made = await post(sandbox, "/contact-activity-logs", { clientId, type, metadata });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      type,
      metadata: shown,
      clientId,
      supplierId: null,
      businessCaseId: null,
    });
    const listed = await get(sandbox, `/contact-activity-logs?clientId=${String(clientId)}&type=${type}`);
    expect(listed.data[0]).toEqual(made.json);
  });

  test.each([
    ["note", {}, "metadata.content"],
    ["note", { content: "x", email: "a@b.example" }, "metadata.email"],
    ["email", { content: "x" }, "metadata.email"],
    ["email", { content: "x", email: "nobody" }, "metadata.email"],
    ["phone_call", { content: "x" }, "metadata.personName"],
    ["document_linked", { documentType: "invoice" }, "metadata.documentId"],
    ["document_linked", { documentType: "invoice", documentId: 999_999 }, "metadata.documentId"],
    ["document_created", { content: "x" }, "type"],
  ])("a %s with %j is refused on %s", async (type, metadata, field) => {
    const sandbox = await openSandbox();
    const clientId = (await one(sandbox, "/clients"))["id"];
    const heard = await post(sandbox, "/contact-activity-logs", { clientId, type, metadata });
    expect([heard.status, Object.keys(heard.json["errors"] as Dict)]).toEqual([422, [field]]);
  });

  test("a linked document is shown as it is now, and as null once it is gone", async () => {
    const sandbox = await openSandbox();
    const order = await one(sandbox, "/orders");
    const supplierId = (await one(sandbox, "/suppliers"))["id"];
    const metadata = { documentType: "order", documentId: order["id"] };
    const made = await post(sandbox, "/contact-activity-logs", {
      supplierId,
      type: "document_linked",
      metadata,
    });
    expect((made.json["metadata"] as Dict)["relatedDocument"]).toMatchObject({
      documentType: "order",
      number: order["number"],
      totalWithVat: order["totalWithVat"],
      currency: order["currency"],
    });
    await remove(sandbox, `/orders/${idOf(order)}`);
    const after = await get(sandbox, `/contact-activity-logs/${idOf(made.json)}`);
    expect(after.json["metadata"]).toEqual({ relatedDocument: null });
  });

  test("attachments go up first; each token works once, for one event", async () => {
    const sandbox = await openSandbox();
    const clientId = (await one(sandbox, "/clients"))["id"];
    const [first = "", second = ""] = await upload(sandbox, "zápis.txt", "foto č. 2.txt");
    const note = { clientId, type: "note", metadata: { content: "s prílohou" } };
    const made = await post(sandbox, "/contact-activity-logs", {
      ...note,
      attachmentUploadTokens: [first, second],
    });
    const attachments = made.json["attachments"] as Dict[];
    expect(attachments.map(({ name, mimeType }) => [name, mimeType])).toEqual([
      ["zápis.txt", "text/plain"],
      ["foto č. 2.txt", "text/plain"],
    ]);
    const again = await post(sandbox, "/contact-activity-logs", { ...note, attachmentUploadTokens: [first] });
    expect(Object.keys(again.json["errors"] as Dict)).toEqual(["attachmentUploadTokens.0"]);
    const path = `/contact-activity-logs/${idOf(made.json)}`;
    const trimmed = await patch(sandbox, path, {
      metadata: { content: "menej" },
      deletedAttachmentIds: [attachments[0]?.["id"]],
    });
    expect((trimmed.json["attachments"] as Dict[]).map(({ name }) => name)).toEqual(["foto č. 2.txt"]);
    expect((await patch(sandbox, path, { metadata: { content: "x" }, type: "email" })).status).toBe(422);
    expect(
      (await patch(sandbox, path, { metadata: { content: "x" }, deletedAttachmentIds: [1] })).status,
    ).toBe(422);
  });

  test("an upload without files is refused", async () => {
    const sandbox = await openSandbox();
    expect(
      (await ask(sandbox, "POST", "/contact-activity-attachments", { form: new FormData() })).status,
    ).toBe(422);
    expect((await post(sandbox, "/contact-activity-attachments", {})).status).toBe(422);
  });

  test("a deleted event is gone from its list", async () => {
    const sandbox = await openSandbox();
    const clientId = String((await one(sandbox, "/clients"))["id"]);
    const made = await post(sandbox, "/contact-activity-logs", {
      clientId: Number(clientId),
      type: "note",
      metadata: { content: "x" },
    });
    expect((await remove(sandbox, `/contact-activity-logs/${idOf(made.json)}`)).status).toBe(204);
    const left = await all(sandbox, `/contact-activity-logs?clientId=${clientId}`);
    expect(left.map(({ id }) => id)).not.toContain(made.json["id"]);
  });
});
