import { describe, expect, it } from "vitest";
import type { FintoroClient } from "../../connectors/fintoro/client/client.ts";
import { recordingClient } from "../support/http/client.ts";

/** Bodies as somebody without types would give them. */
const untyped = (value: unknown) => value as never;

const line = { name: "Práca", unitPrice: 40, vatRate: 23, quantity: 2 };

type Call = (client: FintoroClient) => Promise<unknown>;

async function refusal(call: Call) {
  const { client, sent } = recordingClient();
  const error: unknown = await call(client).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { error, sent };
}

const sale = { clientId: 1, items: [line] };
const mail = { documentType: "invoice", documentId: 1, to: ["nobody"], type: "regular" } as const;
const hook = { url: "ftp://x", isActive: true, subscribedEvents: ["orders.created"] };
const isWhole = "items[0].priceListItemId: priceListItemId or name with unitPrice with vatRate";
const noId = "the id must be a whole number";

/** What is wrong, and how the message begins. */
const refusals: readonly (readonly [what: string, call: Call, message: string])[] = [
  ["a missing field", (to) => to.clients.create(untyped({})), "clients.create: name: "],
  ["no input at all", (to) => to.clients.create(untyped(undefined)), "clients.create: "],
  [
    "a field of a line, by its place",
    (to) => to.orders.create({ clientId: 1, items: [line, { ...line, quantity: 0 }] }),
    "orders.create: items[1].quantity: ",
  ],
  [
    "a line that is neither of the price list nor whole",
    (to) => to.invoices.create({ clientId: 1, items: [{ quantity: 1, name: "Práca" }] }),
    `invoices.create: ${isWhole}`,
  ],
  [
    "a document without a client",
    (to) => to.invoices.create({ items: [line] }),
    "invoices.create: clientId: clientId or client must be given",
  ],
  [
    "a case of both a client and a supplier",
    (to) => to.businessCases.create({ name: "x", clientId: 1, supplierId: 2 }),
    "businessCases.create: clientId: exactly one of clientId, supplierId",
  ],
  [
    "a CRM list for nobody",
    (to) => to.contactActivityLogs.list({}),
    "contactActivityLogs.list: businessCaseId: exactly one of ",
  ],
  ["more than a page may hold", (to) => to.invoices.list({ perPage: 501 }), "invoices.list: perPage: "],
  [
    "a sort key that the service does not take",
    (to) => to.businessCases.list(untyped({ sortBy: "id" })),
    "businessCases.list: sortBy: ",
  ],
  [
    "a day that is none",
    (to) => to.invoices.list({ issueDateFrom: "2026-02-30" }),
    "invoices.list: issueDateFrom: must be a date",
  ],
  [
    "a mail to nobody",
    (to) => to.documentMails.send(mail),
    "documentMails.send: to[0]: must be an e-mail address",
  ],
  [
    "an upload of nothing",
    (to) => to.contactActivityAttachments.upload([]),
    "contactActivityAttachments.upload: files: ",
  ],
  [
    "a subscription without a web address",
    (to) => to.webhookSubscriptions.create(hook),
    "webhookSubscriptions.create: url: must be a web address",
  ],
  [
    "an id that is words",
    (to) => to.invoices.show(untyped("7/../8")),
    `invoices.show: ${noId}, not '7/../8'`,
  ],
  ["an id that a double cannot hold", (to) => to.invoices.show(2 ** 53), `invoices.show: ${noId}`],
  ["a negative id", (to) => to.invoices.show(-1n), `invoices.show: ${noId}`],
  [
    "a key where the service takes none",
    (to) => to.warehouses.delete(1, untyped({ idempotencyKey: "k" })),
    "warehouses.delete: the service takes no Idempotency-Key here",
  ],
  [
    "a key that is no header value",
    (to) => to.orders.create(sale, { idempotencyKey: "a\r\nb" }),
    "orders.create: an Idempotency-Key is 1 to 255 visible ASCII characters",
  ],
];

describe("input that the service would refuse is refused before a request is spent on it", () => {
  it.each(refusals)("%s", async (_what, call, message) => {
    const { error, sent } = await refusal(call);
    expect(error).toMatchObject({ name: "MirrorError", kind: "usage" });
    expect((error as Error).message.slice(0, message.length)).toBe(message);
    expect(sent).toEqual([]);
  });

  it("a field that the service would silently ignore, with the nearest known one", async () => {
    const { error, sent } = await refusal((to) => to.invoices.create(untyped({ ...sale, clinetId: 1 })));
    expect(error).toMatchObject({
      kind: "usage",
      message: "invoices.create: unknown field clinetId",
      hint: "Did you mean clientId?",
    });
    expect(sent).toEqual([]);
  });
});

describe("input that the service accepts is sent", () => {
  it("255 characters are 255 characters, however many bytes they take", async () => {
    const { client, sent } = recordingClient();
    await client.clients.create({ name: "🙂".repeat(255) });
    expect(sent).toHaveLength(1);
    await expect(client.clients.create({ name: "🙂".repeat(256) })).rejects.toThrow("at most 255 characters");
  });

  it("an unknown event name may be subscribed to", async () => {
    const { client, sent } = recordingClient();
    const input = { url: "https://h.example/in", isActive: true, subscribedEvents: ["invoices.viewed"] };
    await client.webhookSubscriptions.create(input);
    expect(sent[0]?.json).toEqual(input);
  });

  it("an id beyond 2^53, exactly", async () => {
    const { client, sent } = recordingClient();
    await client.invoices.show(9_007_199_254_740_993n);
    expect(sent[0]?.path).toBe("/invoices/9007199254740993");
  });

  it("a parameter that is undefined, as if it were not there", async () => {
    const { client, sent } = recordingClient();
    await client.invoices.list({ perPage: undefined, page: 2 });
    expect(sent[0]?.query).toEqual({ page: 2 });
  });
});
