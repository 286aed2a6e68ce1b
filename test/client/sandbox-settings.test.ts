import { describe, expect, it } from "vitest";
import type { FintoroClient } from "../../connectors/fintoro/client/client.ts";
import { NotFoundError } from "../../src/connector/service-errors.ts";
import { asked, clientOf, first, openLive, refusal } from "../support/http/live-client.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";

describe("whose token it is", () => {
  it("is asked of the service", async () => {
    const { client, sandbox } = await openLive();
    expect(await client.whoami()).toMatchObject({ name: sandbox.companies[0]?.name });
  });

  it("is another company's for another company's token", async () => {
    const sandbox = await openSandbox({ companies: 2 });
    const [, other] = sandbox.companies;
    const client = clientOf(sandbox, { token: other?.token ?? "" });
    expect(await client.whoami()).toMatchObject({ name: other?.name });
  });
});

type Lookups = FintoroClient["lookups"];
const worded = [
  "countries",
  "languages",
  "currencies",
  "deliveryMethods",
  "paymentMethods",
  "units",
] as const;

async function labelsOf(lookups: Lookups, name: (typeof worded)[number]) {
  const list = await lookups[name]();
  return { ids: list.map(({ id }) => id), labels: list.map((one) => one.name) };
}

describe("a lookup", () => {
  it.each(worded)("is the same in two languages except for its labels: %s", async (name) => {
    const sandbox = await openSandbox();
    const english = await labelsOf(clientOf(sandbox).lookups, name);
    const slovak = await labelsOf(clientOf(sandbox, { language: "sk" }).lookups, name);
    expect(english.ids.length).toBeGreaterThan(3);
    expect(slovak.ids).toEqual(english.ids);
    expect(slovak.labels).not.toEqual(english.labels);
  });

  it("without labels is the same: banks and kinds of QR codes", async () => {
    const { client, sandbox } = await openLive();
    const truth = sandbox.control.snapshot();
    expect(await client.lookups.banks()).toEqual([...(truth.get("banks")?.values() ?? [])]);
    expect(await client.lookups.qrTypes()).toEqual([...(truth.get("qr_types")?.values() ?? [])]);
  });
});

describe("numerical series", () => {
  it.each(["invoice", "proforma", "credit-note", "order", "quotation"] as const)(
    "of one kind of documents only, each shown as it is listed: %s",
    async (documentType) => {
      const { client } = await openLive();
      const series = await client.numericalSeries.list({ documentType });
      expect(series.length).toBeGreaterThan(0);
      for (const one of series) {
        expect(one.documentType).toBe(documentType);
        expect(await client.numericalSeries.show(one.id)).toEqual(one);
      }
    },
  );

  it("show the number that the next document gets", async () => {
    const { client } = await openLive();
    const series = await client.numericalSeries.list({ documentType: "order" });
    const next = series.find(({ isDefault }) => isDefault);
    const { clientId } = first((await client.orders.list()).data);
    const items = [{ name: "Práca", unitPrice: 1, vatRate: 0, quantity: 1 }];
    const order = await client.orders.create({ clientId, items });
    expect(order).toMatchObject({ number: next?.nextDocumentNumber, numericalSeriesId: next?.id });
    const counted = await client.numericalSeries.show(next?.id ?? 0);
    expect(counted.nextNumber).toBe((next?.nextNumber ?? 0) + 1);
  });
});

describe("a subject of the register", () => {
  it("is found by name, by number, and shown", async () => {
    const { client } = await openLive();
    const search = { searchQuery: "pekaren", legalForm: "company", limit: 3 } as const;
    const found = await client.subjects.search(search);
    const subject = first(found);
    expect(found.length).toBeLessThanOrEqual(3);
    expect(subject.legalForm).toBe("company");
    expect(await client.subjects.search({ searchQuery: String(subject.id) })).toEqual([subject]);
    expect(await client.subjects.show(subject.id)).toEqual(subject);
    await expect(client.subjects.show(1)).rejects.toBeInstanceOf(NotFoundError);
  });
});

const hook = {
  name: "zrkadlo",
  url: "https://hooks.example.com/in",
  isActive: true,
  subscribedEvents: ["invoices.created", "invoices.paid"],
};

describe("a webhook subscription", () => {
  it("shows its secret when it is made and never again", async () => {
    const { client } = await openLive();
    const { plainTextSecret, ...made } = await client.webhookSubscriptions.create(hook);
    expect(made).toMatchObject({ ...hook, disabledAt: null });
    expect(plainTextSecret.length).toBeGreaterThan(20);
    expect(await client.webhookSubscriptions.show(made.id)).toEqual(made);
    expect(await client.webhookSubscriptions.list()).toContainEqual(made);
    const changed = await client.webhookSubscriptions.update(made.id, { ...hook, isActive: false });
    expect(changed).toEqual({ ...made, isActive: false, updatedAt: changed.updatedAt });
  });

  it("gets another secret when it is rotated, in one request", async () => {
    const { client, sandbox } = await openLive();
    const made = await client.webhookSubscriptions.create(hook);
    const rotated = await client.webhookSubscriptions.rotateSecret(made.id);
    expect(rotated.plainTextSecret).not.toBe(made.plainTextSecret);
    expect(rotated).toEqual({
      ...made,
      plainTextSecret: rotated.plainTextSecret,
      updatedAt: rotated.updatedAt,
    });
    expect(asked(sandbox).at(-1)).toBe(`POST /webhook-subscriptions/${made.id}/rotate-secret 200`);
  });

  it("is gone once it is deleted", async () => {
    const { client } = await openLive();
    const { id } = await client.webhookSubscriptions.create(hook);
    await client.webhookSubscriptions.delete(id);
    await expect(client.webhookSubscriptions.show(id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it.each([
    ["without TLS", "http://hooks.example.com/in"],
    ["with a password in it", "https://me:secret@hooks.example.com/in"],
    ["of this machine", "https://localhost/in"],
    ["of a private network", "https://10.0.0.7/in"],
  ])("to an address %s is refused by field", async (_, url) => {
    const { client } = await openLive();
    const error = await refusal(client.webhookSubscriptions.create({ ...hook, url }));
    expect(error).toMatchObject({ kind: "invalid", fields: { url: [expect.any(String)] } });
  });
});
