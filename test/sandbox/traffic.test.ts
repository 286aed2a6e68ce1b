import { describe, expect, test } from "vitest";
import { singular } from "../../connectors/fintoro/sandbox/base/values.ts";
import {
  eventTypes,
  pathOf,
  tableNames,
  type TableName,
} from "../../connectors/fintoro/sandbox/model/catalogue.ts";
import type { Sandbox } from "../support/sandbox/control.ts";
import { openSandbox, typesOf, type Dict } from "../support/sandbox/sandbox.ts";

const received = ["received-invoices.paid", "received-receipts.paid"];

/** The table that an event's name begins with. */
function tableOf(event: string): TableName {
  const table = tableNames.find((name) => event.startsWith(`${pathOf(name)}.`));
  if (!table) throw new Error(`${event} is of no table`);
  return table;
}

function record({ control }: Sandbox, table: TableName, id: number): Dict | undefined {
  return control.snapshot().get(table)?.get(id);
}

test("every event that is triggered follows from a change", async () => {
  for (const event of eventTypes.filter((type) => !received.includes(type))) {
    const sandbox = await openSandbox();
    const table = tableOf(event);
    const before = sandbox.control.snapshot().get(table);
    const { id, events, forged } = sandbox.control.trigger(event);
    const after = record(sandbox, table, id);
    expect([event, forged]).toEqual([event, false]);
    expect(sandbox.control.events()).toEqual(events);
    expect(events.filter(({ type }) => type === event).map(({ resource }) => resource)).toEqual([
      { type: singular(table), id },
    ]);
    if (event.endsWith(".deleted")) expect(after, event).toBeUndefined();
    else if (event.endsWith(".created")) expect([before?.has(id), after?.["id"]]).toEqual([false, id]);
    else expect(after, event).not.toEqual(before?.get(id));
    if (event.endsWith(".paid")) expect(after).toMatchObject({ status: "paid", toBePaid: 0 });
    expect(sandbox.control.failures()).toEqual([]);
  }
});

describe("an event that is triggered", () => {
  test("changes nothing where it is forged, or is of a record that has no route", async () => {
    const sandbox = await openSandbox();
    const before = sandbox.control.snapshot();
    sandbox.control.trigger("clients.deleted", null, { forge: true });
    for (const event of received)
      expect(sandbox.control.trigger(event, 77)).toMatchObject({ event, id: 77, forged: true });
    expect(typesOf(sandbox)).toEqual(["clients.deleted", ...received]);
    expect(sandbox.control.snapshot()).toEqual(before);
  });

  test("is refused with what was most likely meant where the catalogue does not know it", async () => {
    const { control } = await openSandbox();
    expect(() => control.trigger("client.updated")).toThrow("Did you mean clients.updated?");
    expect(() => control.trigger("document-payments.updated")).toThrow("unknown event");
  });
});

const afterDay = async (seed: number) => {
  const { control } = await openSandbox({ records: 120, seed });
  const report = await control.day({ changes: 300, durationMs: 0, seed }).done;
  return { report, events: control.events().map(({ type, resource }) => [type, resource.id]) };
};

describe("a working day", () => {
  test("makes the same changes with the same seed, of every kind that people make", async () => {
    const [first, again, other] = [await afterDay(7), await afterDay(7), await afterDay(8)];
    expect(again).toEqual(first);
    expect(other.events).not.toEqual(first.events);
    const { kinds, ...counts } = first.report;
    expect(counts).toEqual({
      changes: 300,
      of: 300,
      events: first.events.length,
      ended: true,
      problem: null,
    });
    expect(Object.keys(kinds).length).toBeGreaterThan(22);
  });

  test("ends when it is stopped, and with the sandbox; an empty company is no problem", async () => {
    const sandbox = await openSandbox({ records: 0 });
    const { problem } = await sandbox.control.day({ changes: 100, durationMs: 0 }).done;
    expect([problem, sandbox.control.failures()]).toEqual([null, []]);
    const day = sandbox.control.day({ changes: 100, durationMs: 60_000 });
    day.stop();
    expect(await day.done).toMatchObject({ of: 100, ended: true });
    const second = sandbox.control.day({ changes: 100, durationMs: 60_000 });
    await sandbox.close();
    expect((await second.done).changes).toBeLessThan(3);
  });
});
