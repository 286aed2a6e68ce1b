import { describe, expect, it } from "vitest";
import type { Fault } from "../../connectors/fintoro/sandbox/service/faults.ts";
import { InvalidError, NetworkError, UnavailableError } from "../../src/connector/service-errors.ts";
import { asked, first, newClient, openLive, refusal, work, type Live } from "../support/http/live-client.ts";

/** Does the service have it? Asked past HTTP, its faults and its budget. */
const recordsOf = ({ sandbox }: Live, table: string) => [
  ...(sandbox.control.snapshot().get(table)?.values() ?? []),
];

const named = (live: Live, table: string, name: string) =>
  recordsOf(live, table).filter((record) => record["name"] === name);

const idempotencyKey = "objednavka-2026/11-20";

describe("the same key", () => {
  it("with the same input returns the first record again, and there is one", async () => {
    const live = await openLive();
    const { id: clientId } = await newClient(live.client);
    const before = recordsOf(live, "orders").length;
    const wish = { clientId, items: [work] };
    const made = await live.client.orders.create(wish, { idempotencyKey });
    expect(await live.client.orders.create(wish, { idempotencyKey })).toEqual(made);
    expect(recordsOf(live, "orders")).toHaveLength(before + 1);
  });

  it("with other input is refused, and nothing is made", async () => {
    const live = await openLive();
    const made = await live.client.clients.create({ name: "Prvý" }, { idempotencyKey });
    const error = await refusal(live.client.clients.create({ name: "Druhý" }, { idempotencyKey }));
    expect(error).toBeInstanceOf(InvalidError);
    expect(error).toMatchObject({ serviceMessage: expect.stringContaining("Idempotency-Key"), fields: {} });
    expect(named(live, "clients", "Druhý")).toEqual([]);
    expect(await live.client.clients.show(made.id)).toEqual(made);
  });

  it("after a refusal may be used for the corrected input", async () => {
    const live = await openLive();
    const wrong = live.client.clients.create({ name: "Ján", countryId: 1 }, { idempotencyKey });
    expect(await refusal(wrong)).toMatchObject({ fields: { countryId: [expect.any(String)] } });
    await live.client.clients.create({ name: "Ján" }, { idempotencyKey });
    expect(named(live, "clients", "Ján")).toHaveLength(1);
  });

  it("is not needed for two requests to stay two", async () => {
    const live = await openLive();
    const [one, two] = [await newClient(live.client), await newClient(live.client)];
    expect(one.id).not.toBe(two.id);
  });

  it("shows a webhook's secret again when the first answer was lost", async () => {
    const { client } = await openLive();
    const hook = { url: "https://h.example.com/in", isActive: true, subscribedEvents: ["orders.created"] };
    const made = await client.webhookSubscriptions.create(hook, { idempotencyKey });
    expect(await client.webhookSubscriptions.create(hook, { idempotencyKey })).toEqual(made);
  });
});

const lost: readonly [string, Fault][] = [
  ["before its first byte", { kind: "reset", when: "before" }],
  ["behind its head", { kind: "reset", when: "headers" }],
  ["half way", { kind: "reset", when: "half" }],
];

/** The next request by this method suffers it. */
function strike({ sandbox }: Live, method: string, act: Fault, times = 1): void {
  sandbox.control.fault({ ...act, times, match: { method } });
}

describe("an answer to a creation is lost", () => {
  it.each(lost)("%s: it is asked again with its key, and there is one record", async (_, act) => {
    const live = await openLive();
    strike(live, "POST", act);
    const made = await live.client.clients.create({ name: "Stratený" });
    expect(asked(live.sandbox)).toEqual(["POST /clients 0", "POST /clients 201"]);
    expect(named(live, "clients", "Stratený").map(({ id }) => id)).toEqual([made.id]);
  });

  it("and one payment is one payment, one mail one mail", async () => {
    const live = await openLive();
    const { client, sandbox } = live;
    const { id: documentId } = await client.invoices.create({
      clientId: (await newClient(client)).id,
      items: [work],
    });
    strike(live, "POST", { kind: "reset", when: "headers" });
    await client.documentPayments.create({ documentType: "invoice", documentId, amount: 10 });
    strike(live, "POST", { kind: "reset", when: "headers" });
    const to = ["a@klient.example"];
    await client.documentMails.send({ documentType: "invoice", documentId, to, type: "regular" });
    expect(await client.invoices.show(documentId)).toMatchObject({
      toBePaid: 39.2,
      payments: [{ amount: 10 }],
    });
    expect(sandbox.control.mails()).toHaveLength(1);
  });

  it("and the call was given up: it may be repeated later with the same key", async () => {
    const live = await openLive();
    strike(live, "POST", { kind: "hang", when: "headers" });
    const controller = new AbortController();
    const hanging = live.client.clients.create(
      { name: "Neskôr" },
      { idempotencyKey, signal: controller.signal },
    );
    await expect.poll(() => asked(live.sandbox, "POST")).toHaveLength(1);
    controller.abort();
    expect(await refusal(hanging)).toMatchObject({ kind: "stopped" });
    const made = await live.client.clients.create({ name: "Neskôr" }, { idempotencyKey });
    expect(named(live, "clients", "Neskôr").map(({ id }) => id)).toEqual([made.id]);
  });
});

describe("a service that is down for a moment", () => {
  it("is asked again for a record, and has made it once", async () => {
    const live = await openLive();
    strike(live, "POST", { kind: "status", status: 503 });
    await live.client.suppliers.create({ name: "Trpezlivý" });
    expect(asked(live.sandbox)).toEqual(["POST /suppliers 503", "POST /suppliers 201"]);
    expect(named(live, "suppliers", "Trpezlivý")).toHaveLength(1);
  });
});

/** Calls that the service takes no key for. */
const keyless: readonly [string, (live: Live, id: number) => Promise<unknown>][] = [
  ["PUT", ({ client }, id) => client.clients.update(id, { name: "Zmenený" })],
  ["DELETE", ({ client }, id) => client.clients.delete(id)],
  [
    "POST",
    ({ client }) => client.bankAccounts.create({ name: "x", iban: "SK3112000000198742637541", swift: "X" }),
  ],
];

describe("a write without a key is sent once", () => {
  it.each(keyless)("%s whose answer is lost", async (method, call) => {
    const live = await openLive();
    const { id } = first(await live.client.clients.list());
    strike(live, method, { kind: "reset", when: "before" });
    const error = await refusal(call(live, id));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ status: null });
    expect(asked(live.sandbox, method)).toHaveLength(1);
  });

  it.each(keyless)("%s that was answered with 500", async (method, call) => {
    const live = await openLive();
    const { id } = first(await live.client.clients.list());
    strike(live, method, { kind: "status", status: 500 });
    const error = await refusal(call(live, id));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).toMatchObject({ status: 500, requestId: expect.stringMatching(/^req_/) });
    expect(asked(live.sandbox, method)).toHaveLength(1);
  });
});
