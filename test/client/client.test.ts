import { describe, expect, expectTypeOf, it } from "vitest";
import { createClient, type FintoroClient } from "../../connectors/fintoro/client/client.ts";
import type { Invoice, InvoicePreview } from "../../connectors/fintoro/client/record-types.ts";
import { InvalidError } from "../../src/connector/service-errors.ts";
import { answer, collect, pagesOfIds, recordingClient } from "../support/http/client.ts";

const order = { clientId: 1, items: [{ priceListItemId: 1, quantity: 1 }] };

const giving = (body: unknown) => recordingClient(() => answer(body)).client;

const pagesAsked = (sent: readonly { readonly query?: object }[]) =>
  sent.map(({ query }) => new Map(Object.entries(query ?? {})).get("page"));

it("a write that may have to be repeated carries the key it was given, and an unpredictable one of its own where none was", async () => {
  const keys: unknown[] = [];
  const client = createClient({
    send: async ({ idempotencyKey }) => {
      keys.push(idempotencyKey);
      return answer({});
    },
  });
  await client.orders.create(order, { idempotencyKey: "order-2026-1" });
  for (let times = 0; times < 2; times++) await client.orders.create(order);
  expect([keys[0], new Set(keys).size]).toEqual(["order-2026-1", 3]);
});

it("an upload goes out as a form, every file under the field files, name and type kept", async () => {
  const { client, sent } = recordingClient();
  const first = new File(["%PDF"], "zmluva č. 1.pdf", { type: "application/pdf" });
  const files = [first, new File(["x"], "b.txt")];
  await client.contactActivityAttachments.upload({ files });
  const parts = sent[0]?.form?.getAll("files") ?? [];
  expect(parts.map((part) => (part instanceof File ? [part.name, part.type] : part))).toEqual([
    ["zmluva č. 1.pdf", "application/pdf"],
    ["b.txt", ""],
  ]);
  expect(sent[0]?.json).toBeUndefined();
});

describe("an answer", () => {
  it("is returned as received: a record, the records of a list, a page, the bytes of a file, or nothing", async () => {
    const record = { id: 7, status: "frozen", novelty: { deep: [1] }, total: null };
    const page = { data: [{ id: 1 }], paginator: { currentPage: 1, totalPages: 1 } };
    const bytes = Buffer.from([0x25, 0x50, 0x44, 0x46, 0x00, 0xff]);
    await expect(giving(record).invoices.show(7)).resolves.toEqual(record);
    await expect(giving({ data: [{ id: 1 }], more: 1 }).clients.list()).resolves.toEqual([{ id: 1 }]);
    await expect(giving(page).invoices.list()).resolves.toEqual(page);
    await expect(giving(bytes).invoices.pdf(7)).resolves.toEqual(bytes);
    await expect(giving("<html>").clients.delete(7)).resolves.toBeUndefined();
  });

  it("keeps numbers as they are written: ids beyond 2^53 exactly, amounts as JavaScript has them", async () => {
    const text =
      '{"id":9007199254740993,"total":0.1,"rate":1.00000000000000005,"__proto__":{"id":-9007199254740993}}';
    const record = new Map(Object.entries(await giving(text).invoices.show(7)));
    expect(record.get("id")).toBe(9_007_199_254_740_993n);
    expect(record.get("total")).toBe(0.1);
    expect(record.get("rate")).toBe(1);
    expect(record.get("__proto__")).toEqual({ id: -9_007_199_254_740_993n });
  });

  it.each([
    ["HTML", "<html>", "is not JSON"],
    ["JSON that breaks off", '{"id": 7', "is not JSON"],
    ["a list instead of a record", [], "is no object"],
    ["null", null, "is no object"],
  ])("that is unusable is reported with its request: %s", async (_, body, words) => {
    await expect(giving(body).invoices.show(7)).rejects.toMatchObject({
      kind: "protocol",
      name: "ProtocolError",
      status: 200,
      requestId: "req_7",
      message: expect.stringContaining(`invoices.show: the answer to GET /invoices/{invoice} ${words}`),
    });
  });

  it.each([
    ["a list without records", { paginator: {} }, "has no data array"],
    ["a list of something else", { data: [1], paginator: {} }, "something else than records"],
    ["a page without its paginator", { data: [] }, "has no paginator"],
  ])("to a list that is unusable: %s", async (_, body, words) => {
    await expect(giving(body).invoices.list()).rejects.toThrow(words);
  });
});

it("an error of the service passes through as it is, and a call's options reach the transport", async () => {
  const error = new InvalidError("refused", { number: ["taken"] }, { status: 422 });
  const { client, sent } = recordingClient(() => {
    throw error;
  });
  const { signal } = new AbortController();
  await expect(client.invoices.show(7, { lane: "webhook", signal })).rejects.toBe(error);
  expect(sent[0]).toMatchObject({ lane: "webhook", signal });
});

describe("a list read to its end", () => {
  it("requests the largest pages, by number, and never follows a URL of an answer", async () => {
    const { client, sent } = recordingClient(pagesOfIds([[1, 2], [3, 4], [5]]));
    const ids = (await collect(client.invoices.all({ sortBy: "number" }))).map(({ id }) => id);
    expect(ids).toEqual([1, 2, 3, 4, 5]);
    expect(sent.map(({ path, query }) => [path, query])).toEqual(
      [1, 2, 3].map((page) => ["/invoices", { perPage: 500, sortBy: "number", page }]),
    );
  });

  it("begins with the given page, of the given size", async () => {
    const { client, sent } = recordingClient(pagesOfIds([[1], [2], [3]]));
    await collect(client.businessCases.pages({ page: 2, perPage: 25 }));
    expect(sent.map(({ query }) => query)).toEqual([2, 3].map((page) => ({ perPage: 25, page })));
  });

  it("requests no more than its reader needs", async () => {
    const { client, sent } = recordingClient(pagesOfIds([[1, 2], [3]]));
    for await (const { id } of client.quotations.all()) if (id === 2) break;
    expect(pagesAsked(sent)).toEqual([1]);
  });

  it("refuses a wrong filter before the first request", async () => {
    const { client, sent } = recordingClient();
    await expect(collect(client.orders.all({ perPage: 0 }))).rejects.toMatchObject({ kind: "usage" });
    expect(sent).toEqual([]);
  });
});

describe("types follow from the operations", () => {
  it("of answers", () => {
    expectTypeOf<FintoroClient["invoices"]["show"]>().returns.resolves.toEqualTypeOf<Invoice>();
    expectTypeOf<InvoicePreview["client"]["country"]>().not.toBeAny();
    expectTypeOf<FintoroClient["invoices"]["pdf"]>().returns.resolves.toEqualTypeOf<Buffer>();
    expectTypeOf<FintoroClient["clients"]["delete"]>().returns.resolves.toEqualTypeOf<void>();
  });

  it("of arguments: required ones must be given, and keys only where they are accepted", () => {
    expectTypeOf<FintoroClient["numericalSeries"]["list"]>()
      .parameter(0)
      .toExtend<{ documentType: string }>();
    expectTypeOf<undefined>().not.toExtend<Parameters<FintoroClient["numericalSeries"]["list"]>[0]>();
    expectTypeOf<undefined>().toExtend<Parameters<FintoroClient["invoices"]["list"]>[0]>();
    expectTypeOf<Parameters<FintoroClient["orders"]["create"]>[1]>()
      .extract<object>()
      .toHaveProperty("idempotencyKey");
    expectTypeOf<Parameters<FintoroClient["warehouses"]["create"]>[1]>()
      .extract<object>()
      .not.toHaveProperty("idempotencyKey");
  });

  it("of bodies: read-only input is accepted", () => {
    type Mail = Parameters<FintoroClient["documentMails"]["send"]>[0];
    expectTypeOf<readonly string[]>().toExtend<Mail["to"]>();
    expectTypeOf<string[]>().toExtend<Mail["to"]>();
    expectTypeOf<number[]>().not.toExtend<Mail["to"]>();
    expectTypeOf<Mail>().not.toBeAny();
  });

  it("of paging: whole lists have no pages", () => {
    expectTypeOf<FintoroClient["orders"]>().toHaveProperty("pages");
    expectTypeOf<FintoroClient["clients"]>().not.toHaveProperty("pages");
  });
});
