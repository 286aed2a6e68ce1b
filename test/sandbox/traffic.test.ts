import { expect, test } from "vitest";
import { openSandbox, typesOf } from "../support/sandbox/sandbox.ts";

const received = ["received-invoices.paid", "received-receipts.paid"];

test("an event that is forged, or of a record that has no route, changes nothing", async () => {
  const sandbox = await openSandbox();
  const before = sandbox.control.snapshot();
  sandbox.control.trigger("clients.deleted", null, { forge: true });
  for (const event of received)
    expect(sandbox.control.trigger(event, 77)).toMatchObject({ event, id: 77, forged: true });
  expect(typesOf(sandbox)).toEqual(["clients.deleted", ...received]);
  expect(sandbox.control.snapshot()).toEqual(before);
});

async function afterWork(seed: number) {
  const { control } = await openSandbox({ records: 120, seed });
  const done = Array.from({ length: 300 }, (_, turn) => control.work(turn, seed));
  expect(control.failures()).toEqual([]);
  return { done, events: control.events().map(({ type, resource }) => [type, resource.id]) };
}

test("work of a day makes the same changes with the same seed, of many kinds, and counts its events", async () => {
  const [first, again] = [await afterWork(7), await afterWork(7)];
  expect(again).toEqual(first);
  expect(first.done.reduce((sum, { events }) => sum + events, 0)).toBe(first.events.length);
  expect(new Set(first.done.map(({ name }) => name)).size).toBeGreaterThan(22);
});
