import { describe, expect, it } from "vitest";
import type { FintoroClient } from "../../connectors/fintoro/client/client.ts";
import { recordingClient } from "../support/http/client.ts";

/** Bodies as somebody without types would give them. */
const untyped = (value: unknown) => value as never;

const line = { name: "Práca", unitPrice: 40, vatRate: 23, quantity: 2 };

async function refusal(call: (client: FintoroClient) => Promise<unknown>) {
  const { client, sent } = recordingClient();
  const error: unknown = await call(client).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { error, sent };
}

interface Refusal {
  readonly what: string;
  readonly call: (client: FintoroClient) => Promise<unknown>;
  readonly message: RegExp;
}

const refusals: readonly Refusal[] = [
  {
    what: "a missing field",
    call: (client) => client.clients.create(untyped({})),
    message: /^clients\.create: name: /,
  },
  {
    what: "no input at all",
    call: (client) => client.clients.create(untyped(undefined)),
    message: /^clients\.create: /,
  },
  {
    what: "a field of a line, by its place",
    call: (client) => client.orders.create({ clientId: 1, items: [line, { ...line, quantity: 0 }] }),
    message: /^orders\.create: items\[1\]\.quantity: /,
  },
  {
    what: "a line that is neither of the price list nor whole",
    call: (client) => client.invoices.create({ clientId: 1, items: [{ quantity: 1, name: "Práca" }] }),
    message:
      /^invoices\.create: items\[0\]\.priceListItemId: priceListItemId or name with unitPrice with vatRate/,
  },
  {
    what: "a document without a client",
    call: (client) => client.invoices.create({ items: [line] }),
    message: /^invoices\.create: clientId: clientId or client must be given/,
  },
  {
    what: "a case of both a client and a supplier",
    call: (client) => client.businessCases.create({ name: "x", clientId: 1, supplierId: 2 }),
    message: /^businessCases\.create: clientId: exactly one of clientId, supplierId/,
  },
  {
    what: "a CRM list for nobody",
    call: (client) => client.contactActivityLogs.list({}),
    message: /^contactActivityLogs\.list: businessCaseId: exactly one of /,
  },
  {
    what: "more than a page may hold",
    call: (client) => client.invoices.list({ perPage: 501 }),
    message: /^invoices\.list: perPage: /,
  },
  {
    what: "a CRM page of more than 200",
    call: (client) => client.contactActivityLogs.list({ clientId: 1, perPage: 201 }),
    message: /^contactActivityLogs\.list: perPage: /,
  },
  {
    what: "a sort key that the service does not take",
    call: (client) => client.businessCases.list(untyped({ sortBy: "id" })),
    message: /^businessCases\.list: sortBy: /,
  },
  {
    what: "a day that is none",
    call: (client) => client.invoices.list({ issueDateFrom: "2026-02-30" }),
    message: /^invoices\.list: issueDateFrom: must be a date/,
  },
  {
    what: "two letters to search for",
    call: (client) => client.subjects.search({ searchQuery: "ab" }),
    message: /^subjects\.search: searchQuery: /,
  },
  {
    what: "a mail to nobody",
    call: (client) =>
      client.documentMails.send({ documentType: "invoice", documentId: 1, to: ["nobody"], type: "regular" }),
    message: /^documentMails\.send: to\[0\]: must be an e-mail address/,
  },
  {
    what: "an upload of nothing",
    call: (client) => client.contactActivityAttachments.upload([]),
    message: /^contactActivityAttachments\.upload: files: /,
  },
  {
    what: "a subscription without a web address",
    call: (client) =>
      client.webhookSubscriptions.create({
        url: "ftp://x",
        isActive: true,
        subscribedEvents: ["orders.created"],
      }),
    message: /^webhookSubscriptions\.create: url: must be a web address/,
  },
  {
    what: "an id that is words",
    call: (client) => client.invoices.show(untyped("7/../8")),
    message: /^invoices\.show: the id must be a whole number, not '7\/\.\.\/8'/,
  },
  {
    what: "an id that a double cannot hold",
    call: (client) => client.invoices.show(2 ** 53),
    message: /^invoices\.show: the id must be a whole number/,
  },
  {
    what: "a negative id",
    call: (client) => client.invoices.show(-1n),
    message: /^invoices\.show: the id must be a whole number/,
  },
  {
    what: "a key where the service takes none",
    call: (client) => client.warehouses.delete(1, untyped({ idempotencyKey: "k" })),
    message: /^warehouses\.delete: the service takes no Idempotency-Key here/,
  },
  {
    what: "a key that is no header value",
    call: (client) => client.orders.create({ clientId: 1, items: [line] }, { idempotencyKey: "a\r\nb" }),
    message: /^orders\.create: an Idempotency-Key is 1 to 255 visible ASCII characters/,
  },
];

describe("input that the service would refuse is refused before a request is spent on it", () => {
  it.each(refusals)("$what", async ({ call, message }) => {
    const { error, sent } = await refusal(call);
    expect(error).toMatchObject({
      name: "MirrorError",
      kind: "usage",
      message: expect.stringMatching(message),
    });
    expect(sent).toEqual([]);
  });

  it("a field that the service would silently ignore, with the nearest known one", async () => {
    const { error, sent } = await refusal((client) =>
      client.invoices.create(untyped({ clinetId: 1, client: { name: "Nový" }, items: [line] })),
    );
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
