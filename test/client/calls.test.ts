import { describe, expect, it } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { recordingClient, type ClientCall } from "../support/http/client.ts";
import { basicCalls } from "./calls/basics.ts";
import { contactCalls } from "./calls/contacts.ts";
import { documentCalls } from "./calls/documents.ts";
import { warehouseCalls } from "./calls/warehouse.ts";

const all: readonly ClientCall[] = [...basicCalls, ...contactCalls, ...warehouseCalls, ...documentCalls];
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("a method makes exactly its request", () => {
  it.each(all)("$operation sends $sends", async ({ call, sends, query, json, expects, keyed }) => {
    const { client, sent } = recordingClient();
    await call(client);
    expect(sent).toHaveLength(1);
    const [request] = sent;
    expect(`${request?.method} ${request?.path}`).toBe(sends);
    expect(request?.query ?? {}).toStrictEqual(query ?? {});
    expect(request?.json).toEqual(json);
    expect(request?.expect).toBe(expects ?? "json");
    const headers = keyed ? { "Idempotency-Key": expect.stringMatching(uuid) } : undefined;
    expect(request?.headers).toEqual(headers);
    expect(request?.repeatable).toBe(request?.method === "GET" || keyed === true);
  });
});

describe("the tests above", () => {
  it("call every operation of the service once", () => {
    expect(all.map(({ operation }) => operation).toSorted()).toEqual(
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
