import { describe, expect, test } from "vitest";
import { get, one, openSandbox, post, put, remove, type Dict } from "../support/sandbox/sandbox.ts";

const acme = {
  name: "Acme s. r. o.",
  subjectId: "12345678",
  vatId: "SK2020123456",
  email: "billing@acme.example",
  street: "Hlavná 1",
  city: "Žilina",
  zip: "010 01",
  countryId: 703,
};

describe("clients", () => {
  test("what is left out is inferred: a company by its ids, a VAT payer by its VAT id, a delivery address", async () => {
    const sandbox = await openSandbox();
    const made = await post(sandbox, "/clients", { ...acme, deliveryCity: "Martin", preferredDueDays: 30 });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      name: acme.name,
      type: "company",
      isVatPayer: true,
      hasDeliveryAddress: true,
      deliveryCity: "Martin",
      preferredDueDays: 30,
      country: { id: 703, code: "SK" },
      deliveryCountry: null,
      preferredNote: null,
    });
    const person = await post(sandbox, "/clients", { name: "Ján Novák" });
    expect(person.json).toMatchObject({ type: "person", isVatPayer: false, hasDeliveryAddress: false });
    expect((await get(sandbox, `/clients/${String(made.json["id"])}`)).json).toEqual(made.json);
    expect((await get(sandbox, "/clients?search=acme")).data).toEqual([made.json]);
  });

  test("PUT is the whole record: what is left out falls back, never to what stood there", async () => {
    const sandbox = await openSandbox();
    const { json } = await post(sandbox, "/clients", { ...acme, preferredNote: "Ďakujeme" });
    const changed = await put(sandbox, `/clients/${String(json["id"])}`, { name: "Acme a. s." });
    expect(changed.status).toBe(200);
    expect(changed.json).toMatchObject({
      name: "Acme a. s.",
      type: "person",
      vatId: null,
      city: null,
      preferredNote: null,
    });
    expect(changed.json["createdAt"]).toBe(json["createdAt"]);
  });

  test.each([
    [{}, ["name"]],
    [{ name: "" }, ["name"]],
    [{ name: 7 }, ["name"]],
    [{ name: "x".repeat(256) }, ["name"]],
    [{ ...acme, type: "firm" }, ["type"]],
    [{ ...acme, email: "nobody" }, ["email"]],
    [{ ...acme, countryId: 1 }, ["countryId"]],
    [{ ...acme, zip: "12345678901" }, ["zip"]],
    [{ ...acme, preferredDueDays: 366 }, ["preferredDueDays"]],
    [
      { ...acme, preferredConstantSymbol: 10_000, preferredCurrencyId: 0 },
      ["preferredConstantSymbol", "preferredCurrencyId"],
    ],
    [
      { ...acme, preferredCurrencyId: 99, preferredLanguageId: 20 },
      ["preferredCurrencyId", "preferredLanguageId"],
    ],
    [{ ...acme, isVatPayer: "yes", street: 5 }, ["isVatPayer", "street"]],
  ])("%j is refused on %j and makes nothing", async (input, fields) => {
    const sandbox = await openSandbox();
    const heard = await post(sandbox, "/clients", input);
    expect(heard.status).toBe(422);
    expect(Object.keys(heard.json["errors"] as Dict).toSorted()).toEqual(fields);
    expect((await get(sandbox, "/clients")).data).toHaveLength(30);
    expect(sandbox.control.events()).toEqual([]);
  });

  test("a deleted client leaves its documents their snapshot, and takes its CRM events along", async () => {
    const sandbox = await openSandbox();
    const invoice = await one(sandbox, "/invoices");
    const id = String(invoice["clientId"]);
    const log = await post(sandbox, "/contact-activity-logs", {
      clientId: invoice["clientId"],
      type: "note",
      metadata: { content: "zavolať" },
    });
    expect((await remove(sandbox, `/clients/${id}`)).status).toBe(204);
    expect((await get(sandbox, `/clients/${id}`)).status).toBe(404);
    expect((await get(sandbox, `/invoices/${String(invoice["id"])}`)).json["client"]).toEqual(
      invoice["client"],
    );
    expect((await get(sandbox, `/contact-activity-logs/${String(log.json["id"])}`)).status).toBe(404);
    expect((await get(sandbox, `/contact-activity-logs?clientId=${id}`)).status).toBe(422);
    const types = sandbox.control.events().map(({ type }) => type);
    expect(types).toEqual(["contact-activity-logs.created", "clients.deleted"]);
  });

  test("a read token may not write, and a refused write changes nothing", async () => {
    const sandbox = await openSandbox();
    const client = await one(sandbox, "/clients");
    const asReader = { token: sandbox.readToken };
    const answers = [
      await post(sandbox, "/clients", acme, asReader),
      await put(sandbox, `/clients/${String(client["id"])}`, acme, asReader),
      await remove(sandbox, `/clients/${String(client["id"])}`, asReader),
      await post(sandbox, "/webhook-subscriptions", {}, asReader),
      await post(sandbox, "/contact-activity-attachments", {}, asReader),
    ];
    for (const { status, json } of answers) {
      expect([status, json]).toEqual([403, { message: "This action is unauthorized." }]);
    }
    expect(await one(sandbox, "/clients")).toEqual(client);
    expect((await get(sandbox, "/webhook-subscriptions", asReader)).status).toBe(200);
  });
});

describe("suppliers", () => {
  test("are created, changed as a whole and deleted, each with its event", async () => {
    const sandbox = await openSandbox();
    const { json } = await post(sandbox, "/suppliers", acme);
    expect(json).toMatchObject({ type: "company", isVatPayer: true, country: { code: "SK" } });
    const path = `/suppliers/${String(json["id"])}`;
    expect((await put(sandbox, path, { name: "Nový" })).json).toMatchObject({
      name: "Nový",
      type: "person",
      vatId: null,
    });
    expect((await remove(sandbox, path)).status).toBe(204);
    expect((await get(sandbox, path)).status).toBe(404);
    const events = sandbox.control.events();
    expect(events.map(({ type }) => type)).toEqual([
      "suppliers.created",
      "suppliers.updated",
      "suppliers.deleted",
    ]);
    expect(new Set(events.map(({ resource }) => JSON.stringify(resource)))).toEqual(
      new Set([JSON.stringify({ type: "supplier", id: json["id"] })]),
    );
  });
});

const keyed = (key: string) => ({ headers: { "Idempotency-Key": key } });

describe("Idempotency-Key", () => {
  test("the same key and payload give the original answer and make nothing twice", async () => {
    const sandbox = await openSandbox();
    const first = await post(sandbox, "/clients", acme, keyed("a-1"));
    const again = await post(sandbox, "/clients", acme, keyed("a-1"));
    expect(first.headers.get("idempotency-status")).toBe("Original");
    expect(again.headers.get("idempotency-status")).toBe("Repeated");
    expect(again.headers.get("idempotency-key")).toBe("a-1");
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect((await get(sandbox, "/clients?search=acme")).data).toHaveLength(1);
    expect(sandbox.control.events()).toHaveLength(1);
  });

  test("the same key with another payload is refused, another key is another client", async () => {
    const sandbox = await openSandbox();
    await post(sandbox, "/clients", acme, keyed("a-1"));
    const other = await post(sandbox, "/clients", { ...acme, city: "Nitra" }, keyed("a-1"));
    expect(other.status).toBe(422);
    expect(other.json).toEqual({ error: "Idempotency-Key reused with different request payload" });
    expect((await post(sandbox, "/clients", acme, keyed("a-2"))).status).toBe(201);
    expect((await get(sandbox, "/clients?search=acme")).data).toHaveLength(2);
  });

  test("a refused request keeps no key: mended, it goes through", async () => {
    const sandbox = await openSandbox();
    expect((await post(sandbox, "/clients", {}, keyed("a-1"))).status).toBe(422);
    expect((await post(sandbox, "/clients", acme, keyed("a-1"))).status).toBe(201);
  });

  test("companies do not share keys", async () => {
    const sandbox = await openSandbox({ companies: 2 });
    const token = sandbox.companies[1]?.token ?? "";
    await post(sandbox, "/clients", acme, keyed("a-1"));
    const theirs = await post(sandbox, "/clients", acme, { ...keyed("a-1"), token });
    expect(theirs.headers.get("idempotency-status")).toBe("Original");
  });
});
