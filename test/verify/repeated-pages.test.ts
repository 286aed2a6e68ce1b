import { expect, test } from "vitest";
import { invoices } from "../../connectors/fakturoid/resources/invoices-and-expenses.ts";
import { Tally } from "../../src/sync/context/tally.ts";
import { readLists } from "../../src/verify/service/list-reading.ts";
import { ServiceReader } from "../../src/verify/service/service-reader.ts";

// Fault: pagination | every page repeats the first one | a list without a total, in verify | it ends after a few requests, and the list does not count as whole
test("a list without a total whose pages repeat is given up, and does not count as shown whole", async () => {
  const records = Array.from({ length: 40 }, (_, i) => ({ id: i + 1 }));
  const body = Buffer.from(JSON.stringify(records));
  let asked = 0;
  const send = async () => {
    if (++asked > 50) throw new Error("it does not end");
    return { status: 200, headers: {}, body, requestId: null, attempts: 1 };
  };
  const outages = { succeeded: () => undefined, untilAnswered: async () => undefined };
  const { signal } = new AbortController();
  const parts = { transport: { send }, outages, probe: async () => null, tally: new Tally(), signal };
  const reader = new ServiceReader({ ...parts, concurrency: 1 } as never);
  const shown = await readLists(reader, invoices, () => undefined);
  expect(shown).toMatchObject({ isWhole: false, withoutId: 0 });
  expect(shown.ids.size).toBe(40);
  expect(asked).toBeLessThan(10);
});
