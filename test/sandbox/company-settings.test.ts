import { describe, expect, test } from "vitest";
import {
  fieldsOf,
  get,
  one,
  openSandbox,
  patch,
  post,
  put,
  remove,
  type Dict,
} from "../support/sandbox/sandbox.ts";

const account = { name: "Nový účet", iban: "SK31 1200 0000 1987 4263 7541", swift: "TATRSKBX", bankId: 23 };
const warehouse = {
  name: "Sklad Nitra",
  code: "NR",
  inboundNumericalSeriesPattern: "P-(RR)(CCC)",
  inboundNumericalSeriesNextNumber: 1,
  outboundNumericalSeriesPattern: "V-(RR)(CCC)",
  outboundNumericalSeriesNextNumber: 7,
};

describe("bank accounts", () => {
  test("a new account becomes the only primary one", async () => {
    const sandbox = await openSandbox();
    const made = await post(sandbox, "/bank-accounts", account);
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      isPrimary: true,
      iban: "SK3112000000198742637541",
      bank: { id: 23 },
      autoPaymentMatching: false,
      autoPairingStrategy: "by_variable_symbol",
      balance: null,
    });
    expect(String(made.json["createdAt"])).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    const { data } = await get(sandbox, "/bank-accounts");
    expect(data.filter(({ isPrimary }) => isPrimary === true)).toHaveLength(1);
  });

  test("isPrimary moves by true only; PATCH keeps what is not sent", async () => {
    const sandbox = await openSandbox();
    const second = (await get(sandbox, "/bank-accounts")).data[1] ?? {};
    const path = `/bank-accounts/${String(second["id"])}`;
    expect((await patch(sandbox, path, { name: "Iný" })).json).toMatchObject({
      ...second,
      name: "Iný",
      updatedAt: expect.any(String) as string,
    });
    expect((await patch(sandbox, path, { isPrimary: true })).json["isPrimary"]).toBe(true);
    expect((await patch(sandbox, path, { isPrimary: false })).json["isPrimary"]).toBe(true);
    expect((await patch(sandbox, path, { bankId: null })).json).toMatchObject({ bankId: null, bank: null });
  });

  test("an IBAN must be valid and of no other account", async () => {
    const sandbox = await openSandbox();
    const taken = await one(sandbox, "/bank-accounts");
    const wrong = [
      [{ ...account, iban: "SK3112000000198742637542" }, ["iban"]],
      [{ ...account, iban: taken["iban"] }, ["iban"]],
      [{ ...account, bankId: 2 }, ["bankId"]],
      [{ name: "x" }, ["iban", "swift"]],
      [{ ...account, autoPairingStrategy: "by_luck" }, ["autoPairingStrategy"]],
    ] as const;
    for (const [input, fields] of wrong)
      expect(fieldsOf(await post(sandbox, "/bank-accounts", input))).toEqual(fields);
    const own = await patch(sandbox, `/bank-accounts/${String(taken["id"])}`, { iban: taken["iban"] });
    expect(own.status).toBe(200);
  });

  test("documents go on showing a deleted account", async () => {
    const sandbox = await openSandbox();
    const invoice = (await get(sandbox, `/invoices/${String((await one(sandbox, "/invoices"))["id"])}`)).json;
    const before = invoice["bankAccount"] as Dict;
    expect((await remove(sandbox, `/bank-accounts/${String(before["id"])}`)).status).toBe(204);
    const after = (await get(sandbox, `/invoices/${String(invoice["id"])}`)).json;
    expect(after["bankAccount"]).toEqual({ ...before, isPrimary: false });
  });
});

describe("warehouses", () => {
  test("need a free code and patterns with a counter; PUT wants everything", async () => {
    const sandbox = await openSandbox();
    const made = await post(sandbox, "/warehouses", warehouse);
    expect(made.json).toEqual({ id: made.json["id"], ...warehouse });
    const path = `/warehouses/${String(made.json["id"])}`;
    expect(fieldsOf(await post(sandbox, "/warehouses", warehouse))).toEqual(["code"]);
    expect(fieldsOf(await put(sandbox, path, { name: "x", code: "NR" }))).toHaveLength(4);
    const flat = { ...warehouse, outboundNumericalSeriesPattern: "V-2026" };
    expect(fieldsOf(await put(sandbox, path, flat))).toEqual(["outboundNumericalSeriesPattern"]);
    expect((await put(sandbox, path, { ...warehouse, name: "Nitra 2" })).json["name"]).toBe("Nitra 2");
    expect((await remove(sandbox, path)).status).toBe(204);
  });

  test("the last one and those with receipts stay", async () => {
    const sandbox = await openSandbox();
    const used = await one(sandbox, "/warehouses");
    expect(fieldsOf(await remove(sandbox, `/warehouses/${String(used["id"])}`))).toEqual(["warehouse"]);
    const bare = await openSandbox({ records: 0 });
    const only = await post(bare, "/warehouses", warehouse);
    const last = await remove(bare, `/warehouses/${String(only.json["id"])}`, { language: "sk" });
    expect(last.json["errors"]).toEqual({ warehouse: ["Posledný sklad nie je možné vymazať."] });
  });
});

describe("webhook subscriptions", () => {
  const wish = { url: "https://hooks.firma.sk/in", isActive: true, subscribedEvents: ["invoices.created"] };

  test("the secret is shown at creation and rotation, and never else", async () => {
    const sandbox = await openSandbox();
    const made = await post(sandbox, "/webhook-subscriptions", wish);
    expect(made.status).toBe(201);
    const { plainTextSecret, ...rest } = made.json;
    expect(plainTextSecret).toMatch(/^whsec_/);
    const path = `/webhook-subscriptions/${String(made.json["id"])}`;
    expect((await get(sandbox, path)).json).toEqual(rest);
    const changed = await put(sandbox, path, { ...wish, isActive: false, name: "ERP" });
    expect(changed.json).not.toHaveProperty("plainTextSecret");
    expect(changed.json).toMatchObject({ isActive: false, name: "ERP" });
    const rotated = await post(sandbox, `${path}/rotate-secret`, {});
    expect([rotated.status, rotated.json["plainTextSecret"] === plainTextSecret]).toEqual([200, false]);
    expect((await remove(sandbox, path)).status).toBe(204);
    expect((await get(sandbox, path)).status).toBe(404);
    expect(sandbox.control.events()).toEqual([]);
  });

  test.each([
    "http://hooks.firma.sk/in",
    "https://user:secret@hooks.firma.sk/in",
    "https://localhost/in",
    "https://tlaciaren.local/in",
    "https://127.0.0.1/in",
    "https://10.1.2.3/in",
    "https://172.20.0.1/in",
    "https://192.168.1.10/in",
    "https://169.254.169.254/latest",
    "https://100.64.0.1/in",
    "https://[::1]/in",
    "https://[fe80::1]/in",
    "https://[fd00::1]/in",
    "https://intranet/in",
    "not a url",
  ])("%s is no address to send to", async (url) => {
    const sandbox = await openSandbox();
    expect(fieldsOf(await post(sandbox, "/webhook-subscriptions", { ...wish, url }))).toEqual(["url"]);
  });

  test("a sandbox takes addresses of this machine where its options say so", async () => {
    const sandbox = await openSandbox({ allowLoopbackWebhooks: true });
    const heard = await post(sandbox, "/webhook-subscriptions", {
      ...wish,
      url: "http://127.0.0.1:8787/webhooks/a",
    });
    expect(heard.status).toBe(201);
  });

  test("events must be of the catalogue, and at least one", async () => {
    const sandbox = await openSandbox();
    const none = await post(sandbox, "/webhook-subscriptions", { ...wish, subscribedEvents: [] });
    const unknown = await post(sandbox, "/webhook-subscriptions", {
      ...wish,
      subscribedEvents: ["invoices.lost"],
    });
    expect([fieldsOf(none), fieldsOf(unknown)]).toEqual([["subscribedEvents"], ["subscribedEvents.0"]]);
    expect(fieldsOf(await post(sandbox, "/webhook-subscriptions", { url: wish.url }))).toEqual([
      "isActive",
      "subscribedEvents",
    ]);
  });
});
