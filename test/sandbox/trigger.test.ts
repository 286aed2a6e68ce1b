import { describe, expect, test } from "vitest";
import {
  collections,
  eventTypes,
  tableNames,
  type TableName,
} from "../../connectors/fintoro/sandbox/model/catalogue.ts";
import { Missing } from "../../connectors/fintoro/sandbox/rules/problems.ts";
import type { Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import { openSandbox, typesOf, type Dict } from "../support/sandbox/sandbox.ts";

const received = ["received-invoices.paid", "received-receipts.paid"];
const changing = eventTypes.filter((event) => !received.includes(event));

/** The table that an event's name begins with. */
function tableOf(event: string): TableName {
  const table = tableNames.find((name) => event.startsWith(`${collections[name].path}.`));
  if (!table) throw new Error(`${event} is of no table`);
  return table;
}

function record({ control }: Sandbox, table: TableName, id: number): Dict | undefined {
  return control.snapshot().get(table)?.get(id);
}

describe("an event that is triggered follows from a change", () => {
  test.each(changing)("%s", async (event) => {
    const sandbox = await openSandbox();
    const table = tableOf(event);
    const before = sandbox.control.snapshot().get(table);
    const { id, events, forged } = sandbox.control.trigger(event);
    const after = record(sandbox, table, id);
    expect(forged).toBe(false);
    expect(sandbox.control.events()).toEqual(events);
    expect(events.filter(({ type }) => type === event).map(({ resource }) => resource)).toEqual([
      { type: collections[table].type, id },
    ]);
    const made = events.some(({ type, resource }) => type.endsWith(".created") && resource.id === id);
    if (event.endsWith(".deleted"))
      expect([before?.has(id) === true || made, after]).toEqual([true, undefined]);
    else if (event.endsWith(".created")) expect([before?.has(id), after?.["id"]]).toEqual([false, id]);
    else expect(after).not.toEqual(before?.get(id));
    if (event.endsWith(".paid")) expect(after).toMatchObject({ status: "paid", toBePaid: 0 });
    expect(sandbox.control.failures()).toEqual([]);
  });

  test("happens to the record that is named, or not at all", async () => {
    const { control } = await openSandbox();
    const ids = [...(control.snapshot().get("invoices")?.keys() ?? [])];
    for (const id of ids.slice(3, 6)) expect(control.trigger("invoices.updated", id).id).toBe(id);
    const count = control.events().length;
    expect(() => control.trigger("invoices.updated", 999_999)).toThrow(Missing);
    expect(() => control.trigger("invoices.created", 5)).toThrow("gets its id from the service");
    expect(control.events()).toHaveLength(count);
  });

  test("leaves all else about the record as it was", async () => {
    const sandbox = await openSandbox();
    const [id = 0] = [...(sandbox.control.snapshot().get("invoices")?.keys() ?? [])];
    const before = record(sandbox, "invoices", id) ?? {};
    sandbox.control.trigger("invoices.updated", id);
    const after = record(sandbox, "invoices", id) ?? {};
    for (const key of ["number", "clientId", "issueDate", "dueDate", "currencyId", "payments"])
      expect(after[key], key).toEqual(before[key]);
    expect(names(after)).toEqual(names(before));
  });

  test("is chosen by the seed", async () => {
    expect(await chosen(3)).toEqual(await chosen(3));
    expect(await chosen(3)).not.toEqual(await chosen(4));
  });
});

const names = (one: Dict) => (one["items"] as Dict[]).map(({ name, uuid }) => [name, uuid]);

async function chosen(seed: number): Promise<number[]> {
  const { control } = await openSandbox({ seed });
  return Array.from({ length: 8 }, () => control.trigger("clients.updated").id);
}

describe("an event without a change", () => {
  test.each(received)("%s: there is nothing to change", async (event) => {
    const sandbox = await openSandbox();
    const before = sandbox.control.snapshot();
    expect(sandbox.control.trigger(event, 77)).toMatchObject({ event, id: 77, forged: true });
    const type = event === received[0] ? "receivedInvoice" : "receivedReceipt";
    expect(sandbox.control.events()).toMatchObject([{ type: event, resource: { type, id: 77 } }]);
    expect(sandbox.control.snapshot()).toEqual(before);
  });

  test("a forged one looks like any other and changes nothing", async () => {
    const sandbox = await openSandbox();
    const before = sandbox.control.snapshot();
    const { id } = sandbox.control.trigger("clients.deleted", null, { forge: true });
    sandbox.control.trigger("invoices.created", 123_456, { forge: true });
    expect(before.get("clients")?.has(id)).toBe(true);
    expect(typesOf(sandbox)).toEqual(["clients.deleted", "invoices.created"]);
    expect(sandbox.control.snapshot()).toEqual(before);
  });

  test("one that the catalogue does not know is refused with what was most likely meant", async () => {
    const { control } = await openSandbox();
    expect(() => control.trigger("client.updated")).toThrow("Did you mean clients.updated?");
    expect(() => control.trigger("document-payments.updated")).toThrow("unknown event");
    expect(() => control.trigger("webhook-subscriptions.created")).toThrow("unknown event");
  });
});
