import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startStandIn } from "../../connectors/fakturoid/sandbox/stand-in.ts";
import { fakturoid } from "../../connectors/fakturoid/declaration.ts";
import { isSecret, readDelivery, readHead, readStored } from "../../src/webhook/ingest/delivery.ts";
import { createEventEvaluator } from "../../src/webhook/ingest/ingest.ts";
import { systemClock } from "../../src/base/clock.ts";
import { changesOf } from "../support/company/account-changes.ts";
import { writeAccountConfig } from "../support/company/open-account.ts";
import { look } from "../support/truth/compare.ts";
import { endServe, portToKeep, startServe } from "../support/program/serve-process.ts";
import { tempFolder } from "../support/temporary-folder.ts";

const secret = "a-long-random-text-0123456789";
const form = fakturoid.webhooks?.deliveries ?? { kind: "signed" as const };
const head = ["Authorization", secret, "Idempotency-Key", "018f-1", "Content-Type", "application/json"];
const created_at = "2026-11-02T02:00:00.000+02:00";
const bodyOf = (event_name: string, body: object | null) =>
  Buffer.from(JSON.stringify({ webhook_id: 5, event_name, created_at, body }));

describe("a delivery whose header holds the secret", () => {
  test("has an id in its header, the same for all attempts, and no time", () => {
    expect(readHead(head, form)).toEqual({ id: "018f-1", timestamp: "", signature: secret });
    const missing = { reason: "missing_header", why: "no authorization header" };
    expect(readHead(head.slice(2), form)).toMatchObject(missing);
    expect(readHead([...head, ...head.slice(0, 2)], form)).toMatchObject({ reason: "repeated_header" });
  });

  // Fault: webhook | a wrong secret, an empty one, one that is a part of it | a delivery | it is refused
  test("is the service's when its secret is one of those of the config", () => {
    const given = [secret, "", secret.slice(1), `${secret} `];
    expect(given.filter((one) => isSecret(one, ["another", secret, ""]))).toEqual([secret]);
  });

  test("is about the record below the kind that its type begins with", () => {
    const type = "recurring_generator_invoice_created";
    const body = bodyOf(type, { invoice: { id: 7 }, recurring_generator: { id: 3 } });
    const about = { resourceType: "recurring_generator", resourceId: 3, occurredAt: created_at };
    const read = { eventId: "018f-1", type, ...about, body: body.toString() };
    expect(readDelivery(body, "018f-1", form)).toMatchObject(read);
    expect(readStored("018f-1", body.toString(), form)).toMatchObject(read);
    const paid = bodyOf("invoice_paid", { payment: { id: 9 }, invoice: { id: 7 } });
    expect(readDelivery(paid, "e", form)).toMatchObject({ resourceType: "invoice", resourceId: 7 });
    const longer = bodyOf("invoice_payment_created", { invoice: { id: 7 }, invoice_payment: { id: 9 } });
    expect(readDelivery(longer, "e", form)).toMatchObject({ resourceType: "invoice_payment", resourceId: 9 });
  });

  test.each(["no JSON", "null", '{"event_name":5,"body":{"invoice":{"id":7}}}'])(
    "I12: of %s is kept as it is, and read the same again",
    (text) => {
      const read = { eventId: "e", type: null, resourceType: null, resourceId: null, body: text };
      expect(readDelivery(Buffer.from(text), "e", form)).toMatchObject(read);
      expect(readStored("e", text, form)).toMatchObject(read);
    },
  );

  test("I12: of an unknown type or shape is kept, and leads to no read", () => {
    const evaluate = createEventEvaluator(fakturoid, new Set(["invoices"]));
    const state = (event: string, body: object | null) => {
      const delivery = readDelivery(bodyOf(event, body), "e", form);
      return "status" in delivery ? delivery.why : evaluate(delivery).state;
    };
    expect(state("invoice_updated", { invoice: { id: 1 } })).toBe("waiting");
    expect(state("expense_updated", { expense: { id: 1 } })).toBe("excluded");
    expect(state("invoice_dreamt", { invoice: { id: 1 } })).toBe("unknown");
    expect(state("invoice_paid", null)).toBe("unknown");
    expect(state("inbox_file_created", { inbox_files: [] })).toBe("unknown");
  });
});

test("I5, I6: serve takes the service's events: a change within seconds, a deletion by its 404, a forged one not", async () => {
  const folder = tempFolder();
  const port = await portToKeep();
  const webhookUrl = `http://127.0.0.1:${port}/webhooks/acme`;
  const standIn = await startStandIn({ invoices: 10 });
  const changes = changesOf(standIn.books, systemClock, { url: webhookUrl, secret });
  onTestFinished(() => standIn.close());
  writeAccountConfig(folder, standIn, secret);
  const daemon = await startServe(folder, port);
  const rows = (sql: string) => look(join(folder, "acme.db"), (db) => db.prepare(sql).pluck().all());
  const live = () => rows("SELECT id FROM invoices WHERE _deleted_at IS NULL ORDER BY id") as number[];
  await expect.poll(() => rows("SELECT count(*) FROM _runs WHERE outcome = 'complete'")).toEqual([1]);
  const [first = 0, second = 0] = live();
  changes.change("invoices", first, { note: "seen" });
  changes.remove("invoices", second);
  await expect.poll(() => rows(`SELECT note FROM invoices WHERE id = ${first}`)).toEqual(["seen"]);
  await expect.poll(live).not.toContain(second);
  const request = { method: "POST", headers: { authorization: "guess", "idempotency-key": "x" }, body: "{}" };
  expect((await fetch(webhookUrl, request)).status).toBe(401);
  await expect.poll(() => changes.answers).toEqual([204, 204]);
  expect(await endServe(daemon, "SIGTERM")).toMatchObject({ signal: null });
});
