import { expect, test } from "vitest";
import { Invalid } from "../../connectors/fintoro/sandbox/rules/rules.ts";
import { get, openSandbox, WoundClock } from "../support/sandbox/sandbox.ts";

const line = { name: "Práca", quantity: 1, unitPrice: 10, vatRate: 23 };

const of = (type: string, resource: string, id: unknown, at = "2026-11-20T09:00:00.000Z") => {
  return {
    id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
    type,
    occurredAt: at,
    resource: { type: resource, id },
  };
};

test("the control writes by the service's rules, without HTTP and without budget", async () => {
  const clock = new WoundClock(Date.UTC(2026, 10, 20, 9));
  const sandbox = await openSandbox({ limit: 1, companies: 2, clock });
  const { control } = sandbox;
  const heard: string[] = [];
  control.onEvent(({ id }) => heard.push(id));
  const client = control.create("clients", { name: "Zvnútra" });
  const invoice = control.create("invoices", { clientId: client["id"], items: [line] });
  clock.wind(1_500);
  const changed = control.update("clients", Number(client["id"]), { name: "Zmenený" });
  control.remove("invoices", Number(invoice["id"]));
  expect(() => control.create("orders", { clientId: client["id"], items: [] })).toThrow(Invalid);
  expect(() => control.remove("clients", 999_999)).toThrow("No query results");
  const later = "2026-11-20T09:00:01.500Z";
  expect(control.events()).toEqual([
    of("clients.created", "client", client["id"]),
    of("invoices.created", "invoice", invoice["id"]),
    of("clients.updated", "client", client["id"], later),
    of("invoices.deleted", "invoice", invoice["id"], later),
  ]);
  expect(new Set(heard)).toEqual(new Set(control.events().map(({ id }) => id)));
  expect([control.events(1), sandbox.requests()]).toEqual([[], []]);
  expect((await get(sandbox, `/clients/${Number(client["id"])}`)).json).toEqual(changed);
});

test("it changes what the API may not, silently or with an event, and shows records as their routes do", async () => {
  const sandbox = await openSandbox({ companies: 2 });
  const { control } = sandbox;
  const [id = 0] = control.snapshot().get("quotations")?.keys() ?? [];
  control.alter("quotations", id, { answer: "accepted" });
  expect([control.snapshot().get("quotations")?.get(id)?.["status"], control.events()]).toEqual([
    "accepted",
    [],
  ]);
  control.alter("quotations", id, { note: "zmena" }, { event: true });
  expect(control.events()).toMatchObject([{ type: "quotations.updated" }]);
  for (const path of [
    "invoices",
    "price-list-items",
    "business-cases",
    "document-payments",
    "numerical-series",
  ]) {
    const [[one, record] = []] = control.snapshot().get(path.replaceAll("-", "_")) ?? [];
    expect((await get(sandbox, `/${path}/${String(one)}`)).json, path).toEqual(record);
  }
  control.rename("Nové meno", 1);
  const theirs = { token: sandbox.companies[1]?.token ?? "" };
  expect((await get(sandbox, "/whoami", theirs)).json).toEqual({ name: "Nové meno" });
  expect((await get(sandbox, "/whoami")).json).toEqual({ name: sandbox.companies[0]?.name });
});
