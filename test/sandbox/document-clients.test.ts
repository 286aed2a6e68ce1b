import { describe, expect, test } from "vitest";
import {
  all,
  fieldsOf,
  get,
  idOf,
  openSandbox,
  post,
  put,
  type Dict,
  typesOf,
} from "../support/sandbox/sandbox.ts";
import { line, plainClient } from "../support/sandbox/trade.ts";

describe("the client of a document", () => {
  test("is matched by VAT id, country and business id, name and e-mail, name and street, in this order", async () => {
    const sandbox = await openSandbox();
    const facts = {
      name: "Zhoda",
      countryId: 703,
      subjectId: "11111111",
      email: "a@zhoda.example",
      street: "Prvá 1",
    };
    const byVat = await plainClient(sandbox, { ...facts, vatId: "SK1111111111" });
    const bySubject = await plainClient(sandbox, { ...facts, vatId: null, subjectId: "22222222" });
    const drafts: [Dict, unknown][] = [
      [{ name: "Čokoľvek", vatId: "SK1111111111" }, byVat["id"]],
      [{ name: "Čokoľvek", subjectId: "22222222", countryId: 703 }, bySubject["id"]],
      [{ name: "Čokoľvek", subjectId: "22222222" }, bySubject["id"]],
      [{ name: "Zhoda", type: "company", email: "a@zhoda.example" }, byVat["id"]],
      [{ name: "Zhoda", type: "company", street: "Prvá 1" }, byVat["id"]],
    ];
    for (const [client, id] of drafts) {
      expect(
        (await post(sandbox, "/orders", { client, items: [line] })).json["clientId"],
        JSON.stringify(client),
      ).toBe(id);
    }
    const fresh = await post(sandbox, "/orders", { client: { name: "Zhoda" }, items: [line] });
    expect([byVat["id"], bySubject["id"]]).not.toContain(fresh.json["clientId"]);
    expect(typesOf(sandbox).filter((type) => type === "clients.created")).toHaveLength(3);
  });

  test("keeps its record when a document overrides the snapshot", async () => {
    const sandbox = await openSandbox();
    const client = await plainClient(sandbox);
    const sent = { clientId: client["id"], client: { deliveryCity: "Senica", email: "sklad@firma.example" } };
    const { json } = await post(sandbox, "/proformas", { ...sent, items: [line] });
    expect(json["client"]).toMatchObject({
      name: client["name"],
      deliveryCity: "Senica",
      email: "sklad@firma.example",
      hasDeliveryAddress: true,
    });
    expect((await get(sandbox, `/clients/${idOf(client)}`)).json).toEqual(client);
  });

  test("a refused document makes no client", async () => {
    const sandbox = await openSandbox();
    const heard = await post(sandbox, "/invoices", { client: { name: "Nikto" }, items: [{ quantity: 1 }] });
    expect(heard.status).toBe(422);
    expect((await get(sandbox, "/clients?search=nikto")).data).toEqual([]);
  });

  test("owns the business case, or the document is refused", async () => {
    const sandbox = await openSandbox();
    const client = await plainClient(sandbox);
    const item = (await post(sandbox, "/business-cases", { clientId: client["id"], name: "Zákazka" })).json;
    const made = await post(sandbox, "/orders", {
      clientId: client["id"],
      businessCaseId: item["id"],
      items: [line],
    });
    expect(made.json["businessCaseId"]).toBe(item["id"]);
    const other = (await all(sandbox, "/clients")).find(({ id }) => id !== client["id"]);
    const refused = await post(sandbox, "/orders", {
      clientId: other?.["id"],
      businessCaseId: item["id"],
      items: [line],
    });
    expect(fieldsOf(refused)).toEqual(["businessCaseId"]);
  });
});

describe("chains", () => {
  test("a quotation is ordered once, invoiced once, and no longer listed as open", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const quotation = (await post(sandbox, "/quotations", { clientId, items: [line] })).json;
    expect(quotation).toMatchObject({ status: "waiting", validityDate: "2026-12-20", number: "CP26004" });
    const quotationId = quotation["id"];
    const order = (await post(sandbox, "/orders", { clientId, quotationId, items: [line] })).json;
    expect(fieldsOf(await post(sandbox, "/orders", { clientId, quotationId, items: [line] }))).toEqual([
      "quotationId",
    ]);
    const path = `/orders/${idOf(order)}`;
    expect((await put(sandbox, path, { clientId, quotationId, items: [line] })).status).toBe(200);
    const open = async () =>
      (await all(sandbox, "/quotations?withoutOrder=true")).some(({ id }) => id === quotationId);
    expect(await open()).toBe(false);
    await put(sandbox, path, { clientId, items: [line] });
    expect(await open()).toBe(true);
  });

  test("a quotation cannot expire before it was issued", async () => {
    const sandbox = await openSandbox();
    const clientId = (await plainClient(sandbox))["id"];
    const sent = { clientId, issueDate: "2026-11-10", validityDate: "2026-11-09", items: [line] };
    expect(fieldsOf(await post(sandbox, "/quotations", sent))).toEqual(["validityDate"]);
  });
});
