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
