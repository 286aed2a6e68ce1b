import { describe, expect, it } from "vitest";
import {
  ForbiddenError,
  InvalidError,
  NotFoundError,
  ProtocolError,
  UnauthenticatedError,
} from "../../src/connector/service-errors.ts";
import {
  asked,
  clientOf,
  collect,
  connectTo,
  first,
  newClient,
  openLive,
  refusal,
} from "../support/http/live-client.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import { eachRecord, odd } from "../support/sandbox/odd-answers.ts";

describe("a list of several pages", () => {
  it("is read to its end, every record once", async () => {
    const { client, sandbox } = await openLive({ records: 200 });
    const ids = (await collect(client.invoices.all({ perPage: 25, sortBy: "number" }))).map(({ id }) => id);
    const truth = [...(sandbox.control.snapshot().get("invoices")?.keys() ?? [])];
    expect(ids.toSorted((a, b) => a - b)).toEqual(truth.toSorted((a, b) => a - b));
    expect(asked(sandbox)).toHaveLength(Math.ceil(truth.length / 25));
  });

  it("is read page by page, each with its number", async () => {
    const { client } = await openLive({ records: 200 });
    const pages = await collect(client.priceListItems.pages({ perPage: 7 }));
    expect(pages.length).toBeGreaterThan(2);
    const numbers = pages.map(({ paginator }) => paginator.currentPage);
    expect(numbers).toEqual(pages.map((_, index) => index + 1));
    const { totalPages, totalResults } = first(pages).paginator;
    expect(pages).toHaveLength(totalPages);
    expect(pages.reduce((sum, { data }) => sum + data.length, 0)).toBe(totalResults);
  });

  it("is asked for in the fewest pages when nobody says otherwise", async () => {
    const { client, sandbox } = await openLive({ records: 200 });
    await collect(client.orders.all());
    await collect(client.warehouseInboundReceipts.all());
    const sizes = sandbox.requests().map(({ query }) => query["perPage"]);
    expect(sizes).toEqual(["500", "200"]);
  });

  it("of a client's events, all of them", async () => {
    const { client } = await openLive();
    const { id: clientId } = await newClient(client);
    for (const content of ["a", "b", "c"]) {
      await client.contactActivityLogs.create({ clientId, type: "note", metadata: { content } });
    }
    const logs = await collect(client.contactActivityLogs.all({ clientId, perPage: 2 }));
    expect(logs).toHaveLength(3);
    expect(new Set(logs.map(({ metadata }) => metadata.content))).toEqual(new Set(["a", "b", "c"]));
  });

  it.each([odd("endless_pages"), odd("wrong_page")] as const)(
    "ends even where the service counts wrong: $kind",
    async (fault) => {
      const { client, sandbox } = await openLive();
      sandbox.control.fault(fault);
      const pages = await collect(client.quotations.pages({ perPage: 5 }));
      expect(pages.length).toBeGreaterThan(0);
      expect(asked(sandbox).length).toBeLessThan(20);
    },
  );
});

describe("forbidden calls have their own errors", () => {
  it("a token that may only read reads, and writes nothing", async () => {
    const sandbox = await openSandbox();
    const client = clientOf(sandbox, { token: sandbox.readToken });
    const before = await client.clients.list();
    const { id } = first(before);
    const writes = [
      () => client.clients.create({ name: "Nový" }),
      () => client.clients.update(id, { name: "Nový" }),
      () => client.clients.delete(id),
      () => client.contactActivityAttachments.upload([new File(["x"], "x.txt")]),
    ];
    for (const write of writes) expect(await refusal(write())).toBeInstanceOf(ForbiddenError);
    expect(await client.clients.list()).toEqual(before);
  });

  it("a token that nobody gave out, and one that was taken back", async () => {
    const { client, sandbox } = await openLive();
    const wrong = clientOf(sandbox, { token: "1|made-up" });
    const error = await refusal(wrong.invoices.list());
    expect(error).toBeInstanceOf(UnauthenticatedError);
    expect(error).toMatchObject({ status: 401, serviceMessage: "Unauthenticated.", retryable: false });
    await client.whoami();
    sandbox.control.revoke(sandbox.token);
    expect(await refusal(client.whoami())).toBeInstanceOf(UnauthenticatedError);
  });

  it("a record that is not there, with the request's own id for whoever asks the vendor", async () => {
    const { client, sandbox } = await openLive();
    const error = await refusal(client.invoices.show(999_999));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({
      status: 404,
      requestId: sandbox.requests().at(-1)?.requestId,
      serviceMessage: "No query results for model.",
    });
  });

  it("wrong input, with every wrong field, in the requested language", async () => {
    const sandbox = await openSandbox();
    const wish = { name: "x", clientId: 999_999 };
    const english = await refusal(clientOf(sandbox).businessCases.create(wish));
    expect(english).toBeInstanceOf(InvalidError);
    expect(english).toMatchObject({
      status: 422,
      fields: { clientId: ["The selected client id is invalid."] },
    });
    const receipt = { number: "1", warehouseId: 0, languageId: 1, issueDate: "2026-11-20" };
    const line = { priceListItemId: 0, quantity: 1, unitPrice: 1, vatRate: 23 };
    const slovak = clientOf(sandbox, { language: "sk" });
    const error = await refusal(slovak.warehouseInboundReceipts.create({ ...receipt, items: [line] }));
    expect(error).toMatchObject({
      serviceMessage: "Zadané údaje nie sú platné.",
      fields: {
        warehouseId: ["Vybraná hodnota poľa warehouse id nie je platná."],
        "items.0.priceListItemId": [expect.any(String)],
      },
    });
  });

  it("a page of HTML with 200 is no answer: a read is repeated, a write fails", async () => {
    const { client, sandbox } = await openLive();
    sandbox.control.fault({ ...odd("html"), times: 1 });
    const { id } = first(await client.clients.list());
    expect(asked(sandbox)).toHaveLength(2);
    sandbox.control.fault({ ...odd("html"), match: { method: "PUT" } });
    const error = await refusal(client.clients.update(id, { name: "Nový" }));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(asked(sandbox, "PUT")).toHaveLength(1);
  });
});

describe("answers are returned as the service sent them", () => {
  it("amounts and numbers of every record, as the record has them", async () => {
    const { client, sandbox } = await openLive();
    const truth = sandbox.control.snapshot();
    const compared = [
      ["clients", await client.clients.list()],
      ["warehouse_inbound_receipts", await collect(client.warehouseInboundReceipts.all())],
      ["warehouse_outbound_receipts", await collect(client.warehouseOutboundReceipts.all())],
      ["price_list_items", await collect(client.priceListItems.all())],
      ["business_cases", await collect(client.businessCases.all())],
    ] as const;
    for (const [table, records] of compared) {
      expect(records.length, table).toBeGreaterThan(0);
      const answered = Object.fromEntries(records.map((record) => [record.id, record]));
      expect(answered, table).toEqual(Object.fromEntries(truth.get(table) ?? []));
    }
  });

  it("unknown fields and values are passed on", async () => {
    const { sandbox, client } = await openLive();
    sandbox.control.fault(odd("unknown_fields"));
    sandbox.control.fault(odd("unknown_values"));
    const known = new Set(
      Object.keys(first([...(sandbox.control.snapshot().get("orders")?.values() ?? [])])),
    );
    const order = await client.orders.show(first((await client.orders.list({ perPage: 1 })).data).id);
    expect(Object.keys(order).some((name) => !known.has(name))).toBe(true);
  });

  it("an id beyond 2^53, to its last digit, so that it still names its record", async () => {
    const sandbox = await openSandbox();
    const { client } = connectTo(sandbox);
    const answer = eachRecord((text) => text.replace(/^\{"id":\d+/, '{"id":9007199254740993'));
    sandbox.control.fault({ kind: "huge_id", answer });
    const { id } = first(await client.clients.list());
    expect(id).toBe(9_007_199_254_740_993n);
    await refusal(client.clients.show(id));
    expect(asked(sandbox).at(-1)).toBe("GET /clients/9007199254740993 404");
  });
});
