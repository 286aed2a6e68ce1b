import { describe, expect, test } from "vitest";
import { Invalid } from "../../connectors/fintoro/sandbox/rules/problems.ts";
import { all, get, one, openSandbox, WoundClock, type Dict } from "../support/sandbox/sandbox.ts";

const line = { name: "Práca", quantity: 1, unitPrice: 10, vatRate: 23 };

describe("the sandbox from the inside", () => {
  test("writes by the service's rules, without HTTP and without budget", async () => {
    const sandbox = await openSandbox({ limit: 1 });
    const { control } = sandbox;
    const client = control.create("clients", { name: "Zvnútra" });
    const invoice = control.create("invoices", { clientId: client["id"], items: [line] });
    const changed = control.update("clients", Number(client["id"]), { name: "Zmenený" });
    control.update("contact_activity_logs", logId(control.snapshot()), { metadata: { content: "zmenené" } });
    control.remove("invoices", Number(invoice["id"]));
    expect(changed["name"]).toBe("Zmenený");
    expect(control.events().map(({ type, resource }) => [type, resource.id])).toEqual([
      ["clients.created", client["id"]],
      ["invoices.created", invoice["id"]],
      ["clients.updated", client["id"]],
      ["contact-activity-logs.updated", logId(control.snapshot())],
      ["invoices.deleted", invoice["id"]],
    ]);
    expect(sandbox.requests()).toEqual([]);
    expect((await get(sandbox, `/clients/${Number(client["id"])}`)).json).toEqual(changed);
    expect(() => control.create("clients", {})).toThrow(Invalid);
    expect(() => control.remove("clients", 999_999)).toThrow("No query results");
  });

  test("may change what the API may not, silently or with an event", async () => {
    const sandbox = await openSandbox();
    const quotation = (await all(sandbox, "/quotations")).find(({ status }) => status === "waiting") ?? {};
    const id = Number(quotation["id"]);
    sandbox.control.alter("quotations", id, { answer: "accepted" });
    expect((await get(sandbox, `/quotations/${id}`)).json["status"]).toBe("accepted");
    expect(sandbox.control.events()).toEqual([]);
    sandbox.control.alter("quotations", id, { note: "tichá zmena" }, { event: true });
    expect(sandbox.control.events().map(({ type }) => type)).toEqual(["quotations.updated"]);
  });

  test("shows every record as its own route does", async () => {
    const sandbox = await openSandbox();
    const snapshot = sandbox.control.snapshot();
    for (const [name, path] of [
      ["invoices", "/invoices"],
      ["price_list_items", "/price-list-items"],
      ["business_cases", "/business-cases"],
      ["contact_activity_logs", "/contact-activity-logs"],
      ["document_payments", "/document-payments"],
      ["numerical_series", "/numerical-series"],
    ] as const) {
      const [id, record] = [...(snapshot.get(name) ?? [])][3] ?? [];
      expect((await get(sandbox, `${path}/${String(id)}`)).json, name).toEqual(record);
    }
    const listed = (await get(sandbox, "/clients")).data.map(({ id }) => Number(id));
    expect(listed.toSorted((a, b) => a - b)).toEqual([...(snapshot.get("clients")?.keys() ?? [])]);
    expect(snapshot.get("company")?.get(1)).toEqual({ name: sandbox.companies[0]?.name });
  });

  test("renames a company, moves today, and answers in the words of a language", async () => {
    const sandbox = await openSandbox({ companies: 2 });
    sandbox.control.rename("Nové meno", 1);
    const theirs = { token: sandbox.companies[1]?.token ?? "" };
    expect((await get(sandbox, "/whoami", theirs)).json).toEqual({ name: "Nové meno" });
    expect((await get(sandbox, "/whoami")).json).toEqual({ name: sandbox.companies[0]?.name });
    const unit = (language: string) => sandbox.control.snapshot(0, language).get("units")?.get(1);
    expect([unit("en"), unit("sk")]).toEqual([
      { id: 1, name: "pcs" },
      { id: 1, name: "ks" },
    ]);
  });
});

describe("the event log", () => {
  test("carries unique ids, the time in UTC, and the resource; listeners hear each event once", async () => {
    const clock = new WoundClock(Date.UTC(2026, 10, 20, 9));
    const sandbox = await openSandbox({ clock });
    const heard: string[] = [];
    const silence = sandbox.control.onEvent(({ id }) => heard.push(id));
    const status = sandbox.control.create("business_case_statuses", { name: "A", color: "#fff" });
    clock.wind(1_500);
    sandbox.control.remove("business_case_statuses", Number(status["id"]));
    silence();
    sandbox.control.create("business_case_statuses", { name: "B", color: "#000" });
    const events = sandbox.control.events();
    expect(events.slice(0, 2)).toMatchObject([
      {
        type: "business-case-statuses.created",
        occurredAt: "2026-11-20T09:00:00.000Z",
        resource: { type: "businessCaseStatus", id: status["id"] },
      },
      {
        type: "business-case-statuses.deleted",
        occurredAt: "2026-11-20T09:00:01.500Z",
        resource: { id: status["id"] },
      },
    ]);
    expect(heard).toEqual(events.slice(0, 2).map(({ id }) => id));
    expect(new Set(events.map(({ id }) => id)).size).toBe(3);
    for (const { id } of events) expect(id).toMatch(/^evt_[0-9a-f]{32}$/);
  });

  test("is each company's own", async () => {
    const sandbox = await openSandbox({ companies: 2 });
    sandbox.control.create("suppliers", { name: "Jeden" }, 1);
    expect(sandbox.control.events(0)).toEqual([]);
    expect(sandbox.control.events(1)).toHaveLength(1);
  });

  test("refused and repeated requests leave nothing in it", async () => {
    const sandbox = await openSandbox();
    const client = await one(sandbox, "/clients");
    expect(() => sandbox.control.create("orders", { clientId: client["id"], items: [] })).toThrow(Invalid);
    expect(sandbox.control.events()).toEqual([]);
  });
});

function logId(snapshot: ReadonlyMap<string, ReadonlyMap<number, Dict>>): number {
  for (const [id, { type }] of snapshot.get("contact_activity_logs") ?? []) if (type === "note") return id;
  throw new Error("there is no note");
}
