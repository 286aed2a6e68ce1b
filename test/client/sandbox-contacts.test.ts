import { describe, expect, it } from "vitest";
import { NotFoundError } from "../../src/connector/service-errors.ts";
import { czechia, first, openLive, slovakia } from "../support/http/live-client.ts";

const whole = {
  name: "Ďurko & synovia, s.r.o.",
  type: "company",
  subjectId: "36421928",
  taxId: "2021234567",
  vatId: "SK2021234567",
  isVatPayer: true,
  email: "ucty@durko.example",
  street: "Hlavná 1/A",
  city: "Košice",
  zip: "040 01",
} as const;

describe("a client", () => {
  it("is made, found, changed and deleted", async () => {
    const { client } = await openLive();
    const made = await client.clients.create({ ...whole, countryId: slovakia, preferredDueDays: 30 });
    expect(made).toMatchObject({ ...whole, country: { id: slovakia }, preferredDueDays: 30 });
    expect(await client.clients.show(made.id)).toEqual(made);
    expect(await client.clients.list({ subjectId: whole.subjectId })).toEqual([made]);
    const changed = await client.clients.update(made.id, { ...whole, city: "Prešov", countryId: slovakia });
    expect(changed).toMatchObject({ id: made.id, city: "Prešov", createdAt: made.createdAt });
    expect(await client.clients.delete(made.id)).toBeUndefined();
    await expect(client.clients.show(made.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it("loses at an update what the update leaves out, for PUT replaces", async () => {
    const { client } = await openLive();
    const made = await client.clients.create({ ...whole, preferredNote: "platí načas" });
    const changed = await client.clients.update(made.id, { name: whole.name });
    expect(changed).toMatchObject({ name: whole.name, email: null, vatId: null, preferredNote: null });
  });

  it("has a delivery address and preferences of its own", async () => {
    const { client } = await openLive();
    const facts = {
      deliveryStreet: "Skladová 9",
      deliveryCity: "Žilina",
      preferredVariableSymbol: 9_999_999_999,
      preferredTextAboveItems: "Fakturujeme vám:\n„podľa zmluvy“",
    };
    const made = await client.clients.create({ name: "Ján", ...facts, deliveryCountryId: czechia });
    expect(made).toMatchObject({ ...facts, hasDeliveryAddress: true, deliveryCountry: { id: czechia } });
  });

  it("is listed by the filters and in the order that were asked for", async () => {
    const { client, sandbox } = await openLive();
    const people = await client.clients.list({ type: "person", sortBy: "createdAt", sortDirection: "desc" });
    const stamps = people.map(({ createdAt }) => createdAt ?? "");
    expect(people.every(({ type }) => type === "person")).toBe(true);
    expect(stamps).toEqual(stamps.toSorted().toReversed());
    expect(await client.clients.list()).toHaveLength(sandbox.control.snapshot().get("clients")?.size ?? -1);
  });
});

describe("a supplier", () => {
  it("is made, found, changed and deleted", async () => {
    const { client } = await openLive();
    const made = await client.suppliers.create({ ...whole, countryId: slovakia });
    expect(made).toMatchObject({ ...whole, country: { id: slovakia } });
    expect(await client.suppliers.show(made.id)).toEqual(made);
    expect(await client.suppliers.list({ search: "Ďurko" })).toEqual([made]);
    const changed = await client.suppliers.update(made.id, { name: "Ďurko a dcéry" });
    expect(changed).toMatchObject({ id: made.id, name: "Ďurko a dcéry", vatId: null });
    await client.suppliers.delete(made.id);
    await expect(client.suppliers.show(made.id)).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe("a bank account", () => {
  const account = { name: "Druhý", iban: "SK31 1200 0000 1987 4263 7541", swift: "TATRSKBX" };

  it("is made, found, changed and deleted, and replaces another as the primary one", async () => {
    const { client } = await openLive();
    const bank = first(await client.lookups.banks());
    const before = (await client.bankAccounts.list()).find(({ isPrimary }) => isPrimary);
    const made = await client.bankAccounts.create({ ...account, bankId: bank.id });
    expect(made).toMatchObject({ name: "Druhý", iban: "SK3112000000198742637541", bank, isPrimary: true });
    expect(await client.bankAccounts.show(made.id)).toEqual(made);
    expect(await client.bankAccounts.show(before?.id ?? 0)).toMatchObject({ isPrimary: false });
    await client.bankAccounts.delete(made.id);
    await expect(client.bankAccounts.show(made.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it("keeps at an update what the update leaves out, for PATCH changes", async () => {
    const { client } = await openLive();
    const made = await client.bankAccounts.create({ ...account, autoPairingStrategy: "by_price" });
    const changed = await client.bankAccounts.update(made.id, { name: "Premenovaný" });
    expect(changed).toEqual({ ...made, name: "Premenovaný", updatedAt: changed.updatedAt });
  });

  it("becomes the primary one on request", async () => {
    const { client } = await openLive();
    const before = first(await client.bankAccounts.list());
    await client.bankAccounts.create(account);
    expect(await client.bankAccounts.update(before.id, { isPrimary: true })).toMatchObject({
      isPrimary: true,
    });
    expect((await client.bankAccounts.list()).filter(({ isPrimary }) => isPrimary)).toHaveLength(1);
  });
});
