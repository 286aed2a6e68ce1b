import { describe, expect, it } from "vitest";
import { rejectionOf } from "../support/errors.ts";
import { callOf, recordingClient } from "../support/http/client.ts";

const line = { name: "Práca", unitPrice: 40, vatRate: 23, quantity: 2 };
const sale = { clientId: 1, items: [line] };
const mail = { documentType: "invoice", documentId: 1, to: ["nobody"], type: "regular" };
const hook = { url: "ftp://x", isActive: true, subscribedEvents: ["orders.created"] };
const empty = { ...line, quantity: 0 };
const vague = { quantity: 1, name: "Práca" };
const isWhole = "items[0].priceListItemId: priceListItemId or name with unitPrice with vatRate";
const noClient = "clientId: clientId or client must be given";
const ofBoth = "clientId: exactly one of clientId, supplierId";
const noUrl = "url: must be a web address";
const noId = "the id must be a whole number";
const key = { idempotencyKey: "k" };
const noKey = "an Idempotency-Key is 1 to 255 visible ASCII characters";

/** What is wrong, the call as somebody without types would make it, and how the message begins. */
const refusals: readonly (readonly [what: string, operation: string, args: unknown[], message: string])[] = [
  ["a missing field", "clients.create", [{}], "name: "],
  ["no input at all", "clients.create", [undefined], ""],
  ["a field of a line", "orders.create", [{ ...sale, items: [line, empty] }], "items[1].quantity: "],
  ["a line that is not whole", "invoices.create", [{ ...sale, items: [vague] }], isWhole],
  ["a document without a client", "invoices.create", [{ items: [line] }], noClient],
  ["a case of two", "businessCases.create", [{ name: "x", clientId: 1, supplierId: 2 }], ofBoth],
  ["a CRM list for nobody", "contactActivityLogs.list", [{}], "businessCaseId: exactly one of "],
  ["more than a page may hold", "invoices.list", [{ perPage: 501 }], "perPage: "],
  ["a sort key that the service does not take", "businessCases.list", [{ sortBy: "id" }], "sortBy: "],
  ["a day that is none", "invoices.list", [{ issueDateFrom: "2026-02-30" }], "issueDateFrom: must be a date"],
  ["a mail to nobody", "documentMails.send", [mail], "to[0]: must be an e-mail address"],
  ["an upload of nothing", "contactActivityAttachments.upload", [{ files: [] }], "files: "],
  ["a subscription without a web address", "webhookSubscriptions.create", [hook], noUrl],
  ["an id that is words", "invoices.show", ["7/../8"], `${noId}, not '7/../8'`],
  ["an id that a double cannot hold", "invoices.show", [2 ** 53], noId],
  ["a negative id", "invoices.show", [-1n], noId],
  ["a key where none is taken", "warehouses.delete", [1, key], "the service takes no Idempotency-Key"],
  ["a key that is no header value", "orders.create", [sale, { idempotencyKey: "a\r\nb" }], noKey],
  ["a field that would be ignored", "invoices.create", [{ ...sale, clinetId: 1 }], "unknown field clinetId"],
];

it.each(refusals)(
  "input that the service would refuse or ignore is refused before a request is spent on it: %s",
  async (_what, operation, args, message) => {
    const { client, sent } = recordingClient();
    const begins = `${operation}: ${message}`;
    const error = await rejectionOf(callOf(client, operation, args));
    expect([error.kind, error.message.slice(0, begins.length)]).toEqual(["usage", begins]);
    if (message.startsWith("unknown field")) expect(error.hint).toBe("Did you mean clientId?");
    expect(sent).toEqual([]);
  },
);

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
