import { describe, expect, it } from "vitest";
import { entriesOf } from "../support/export/zip.ts";
import { collect } from "../support/http/client.ts";
import { asked, clientOf, first, newClient, openLive, refusal } from "../support/http/live-client.ts";
import { odd } from "../support/sandbox/odd-answers.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";

describe("the service, read by the client", () => {
  it("gives every record of a list in pages once, and records as they are", async () => {
    const { client, sandbox } = await openLive({ records: 200 });
    const truth = sandbox.control.snapshot();
    const ids = (await collect(client.invoices.all({ perPage: 25, sortBy: "number" }))).map(({ id }) => id);
    const known = [...(truth.get("invoices")?.keys() ?? [])];
    expect(ids.toSorted((a, b) => a - b)).toEqual(known.toSorted((a, b) => a - b));
    expect(asked(sandbox)).toHaveLength(Math.ceil(known.length / 25));
    for (const [table, records] of [
      ["clients", await client.clients.list()],
      ["warehouse_inbound_receipts", await collect(client.warehouseInboundReceipts.all())],
      ["price_list_items", await collect(client.priceListItems.all())],
    ] as const)
      expect(new Map(records.map((record) => [record.id, record])), table).toEqual(truth.get(table));
  });

  it("says whose token it is, and answers in the client's language", async () => {
    const sandbox = await openSandbox({ companies: 2 });
    const [english, slovak] = [clientOf(sandbox), clientOf(sandbox, { language: "sk" })];
    const other = clientOf(sandbox, { token: sandbox.companies[1]?.token ?? "" });
    const names = [await english.whoami(), await other.whoami()];
    expect(names).toMatchObject(sandbox.companies.map(({ name }) => ({ name })));
    const wish = { name: "x", clientId: 999_999 };
    expect(await refusal(english.businessCases.create(wish))).toMatchObject({
      status: 422,
      fields: { clientId: ["The selected client id is invalid."] },
    });
    expect(await refusal(slovak.businessCases.create(wish))).toMatchObject({
      serviceMessage: "Zadané údaje nie sú platné.",
    });
  });

  it("where a page of HTML comes with 200 is asked again for a read, and not for a write", async () => {
    const { client, sandbox } = await openLive();
    sandbox.control.fault({ ...odd("html"), times: 1 });
    const { id } = first(await client.clients.list());
    expect(asked(sandbox)).toHaveLength(2);
    sandbox.control.fault({ ...odd("html"), match: { method: "PUT" } });
    const error = await refusal(client.clients.update(id, { name: "Nový" }));
    expect(error).toMatchObject({ kind: "protocol" });
    expect(asked(sandbox, "PUT")).toHaveLength(1);
  });

  it("gives back an attachment byte for byte: uploaded, attached by its token, in an archive", async () => {
    const { client } = await openLive();
    const { id: clientId } = await newClient(client);
    const files = { "zmluva č. 1.txt": "ľščťžýáíé\r\n", "b.txt": "" };
    const uploads = await client.contactActivityAttachments.upload(
      Object.entries(files).map(([name, text]) => new File([text], name, { type: "text/plain" })),
    );
    const attachmentUploadTokens = uploads.map(({ uploadToken }) => uploadToken);
    const note = { clientId, type: "note", metadata: { content: "x" }, attachmentUploadTokens } as const;
    const { id } = await client.contactActivityLogs.create(note);
    expect(entriesOf(await client.contactActivityLogs.attachments(id))).toEqual(
      Object.entries(files).map(([name, text]) => ({ name, text })),
    );
  });
});
