import { expect, test } from "vitest";
import { singular } from "../../connectors/fintoro/sandbox/base/values.ts";
import {
  eventTypes,
  pathOf,
  tableNames,
  type TableName,
} from "../../connectors/fintoro/sandbox/model/catalogue.ts";
import { openSandbox, typesOf } from "../support/sandbox/sandbox.ts";

const received = ["received-invoices.paid", "received-receipts.paid"];

/** The table that an event's name begins with. */
function tableOf(event: string): TableName {
  const table = tableNames.find((name) => event.startsWith(`${pathOf(name)}.`));
  if (!table) throw new Error(`${event} is of no table`);
  return table;
}

test("every event that is triggered follows from a change", async () => {
  const { control } = await openSandbox();
  const tables = control.companies[0]?.company.tables;
  for (const event of eventTypes.filter((type) => !received.includes(type))) {
    const table = tableOf(event);
    const before = new Map([...(tables?.[table].values() ?? [])].map((row) => [row.id, row]));
    const known = control.events().length;
    const { id, events, forged } = control.trigger(event);
    expect([event, forged, control.events().slice(known)]).toEqual([event, false, events]);
    const own = events.filter(({ type }) => type === event).map(({ resource }) => resource);
    expect(own).toEqual([{ type: singular(table), id }]);
    const after = tables?.[table].get(id);
    if (event.endsWith(".deleted")) expect(after, event).toBeUndefined();
    else if (event.endsWith(".created")) expect([before.has(id), after?.id]).toEqual([false, id]);
    else if (event.endsWith(".updated")) expect(after, event).not.toEqual(before.get(id));
    else if (event.endsWith(".paid"))
      expect(control.snapshot().get(table)?.get(id)).toMatchObject({ status: "paid", toBePaid: 0 });
  }
  expect(control.failures()).toEqual([]);
});

test("an event that is forged, or of a record that has no route, changes nothing", async () => {
  const sandbox = await openSandbox();
  const before = sandbox.control.snapshot();
  sandbox.control.trigger("clients.deleted", null, { forge: true });
  for (const event of received)
    expect(sandbox.control.trigger(event, 77)).toMatchObject({ event, id: 77, forged: true });
  expect(typesOf(sandbox)).toEqual(["clients.deleted", ...received]);
  expect(sandbox.control.snapshot()).toEqual(before);
});

async function afterDay(seed: number) {
  const { control } = await openSandbox({ records: 120, seed });
  const report = await control.day({ changes: 300, durationMs: 0, seed }).done;
  expect(control.failures()).toEqual([]);
  return { report, events: control.events().map(({ type, resource }) => [type, resource.id]) };
}

test("a working day makes the same changes with the same seed, and ends when it is stopped, and with the sandbox", async () => {
  const [first, again] = [await afterDay(7), await afterDay(7)];
  expect(again).toEqual(first);
  const { kinds, ...counts } = first.report;
  expect(counts).toEqual({ changes: 300, of: 300, events: first.events.length, ended: true, problem: null });
  expect(Object.keys(kinds).length).toBeGreaterThan(22);
  const sandbox = await openSandbox({ records: 0 });
  const [day, second] = [1, 2].map(() => sandbox.control.day({ changes: 100, durationMs: 60_000 }));
  day?.stop();
  expect(await day?.done).toMatchObject({ of: 100, ended: true, problem: null });
  await sandbox.close();
  expect((await second?.done)?.changes).toBeLessThan(3);
});
