import { describe, expect, it } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { isObject } from "../../src/json/literal.ts";
import { recordingClient } from "../support/http/client.ts";
import { everyCall } from "./every-call.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** The service takes no `Idempotency-Key` for these. */
const withoutKey = new Set([
  "bankAccounts.create",
  "warehouses.create",
  "webhookSubscriptions.rotateSecret",
  "contactActivityAttachments.upload",
]);

describe("a method makes exactly its request", () => {
  it.each(everyCall)("$operation sends $sends", async ({ operation, call, sends, args }) => {
    const { client, sent } = recordingClient();
    await call(client);
    expect(sent).toHaveLength(1);
    const [request] = sent;
    const [method] = sends.split(" ");
    const given = args.find(isObject);
    const isRead = method === "GET";
    const isKeyed = method === "POST" && !withoutKey.has(operation);
    expect(`${request?.method} ${request?.path}`).toBe(sends);
    // A null asks for records without a value.
    const query = isRead ? Object.entries(given ?? {}).map(([name, value]) => [name, value ?? ""]) : [];
    expect(request?.query ?? {}).toStrictEqual(Object.fromEntries(query));
    expect(request?.json).toEqual(isRead ? undefined : given);
    const isFile = /\/(?:pdf|attachments)$/.test(sends);
    const isNothing = method === "DELETE" || operation === "documentMails.send";
    expect(request?.expect).toBe(isFile ? "bytes" : isNothing ? "nothing" : "json");
    const headers = isKeyed ? { "Idempotency-Key": expect.stringMatching(uuid) } : undefined;
    expect(request?.headers).toEqual(headers);
    expect(request?.repeatable).toBe(isRead || isKeyed);
  });
});

describe("the tests above", () => {
  it("call every operation of the service once", () => {
    expect(everyCall.map(({ operation }) => operation).toSorted()).toEqual(
      manifest.operations.map(({ name }) => name).toSorted(),
    );
  });
});

describe("the operations", () => {
  const routes = manifest.operations.map(({ method, path }) => `${method} ${path}`);

  it("have one name and one address each", () => {
    expect(new Set(routes).size).toBe(routes.length);
    expect(new Set(manifest.operations.map(({ name }) => name)).size).toBe(routes.length);
  });

  it("of the interface document are marked as stated", () => {
    const stated = manifest.operations.filter(({ origin }) => origin === "stated");
    const addresses = stated.map(({ method, path }) => `${method} ${path}`);
    const expected = [
      "GET /whoami",
      ...["banks", "countries", "languages", "currencies"].map((one) => `GET /${one}`),
      ...["delivery-methods", "payment-methods", "qr-types", "units"].map((one) => `GET /${one}`),
      "GET /numerical-series",
      "GET /numerical-series/{numericalSeries}",
      "GET /subjects",
      "GET /subjects/{subject}",
      "DELETE /bank-accounts/{bankAccount}",
      "GET /business-case-statuses/{businessCaseStatus}",
      "POST /contact-activity-attachments",
      "GET /contact-activity-logs",
      "DELETE /warehouse-inbound-receipts/{warehouseInboundReceipt}",
      "GET /warehouse-outbound-receipts/{warehouseOutboundReceipt}/pdf",
      "DELETE /webhook-subscriptions/{webhookSubscription}",
      "GET /invoices/{invoice}/pdf",
      "GET /quotations/{quotation}/pdf",
    ];
    expect(addresses.toSorted()).toEqual(expected.toSorted());
  });
});
