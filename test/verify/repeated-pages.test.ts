import { expect, test } from "vitest";
import { fakturoid } from "../../connectors/fakturoid/fakturoid.ts";
import { invoices } from "../../connectors/fakturoid/resources/invoices-and-expenses.ts";
import { silentLog } from "../../src/base/logger.ts";
import { Tally } from "../../src/sync/context/tally.ts";
import { OutageWatch } from "../../src/sync/retry/outage.ts";
import { ServiceCopy } from "../../src/verify/service-copy.ts";
import { tempFolder } from "../support/mirror/mirror.ts";
import { stillClock } from "../support/mirror/run.ts";

// Fault: pagination | every page repeats the first one | a list without a total, in verify | it ends after a few requests, and the list does not count as whole
test("a list without a total whose pages repeat is given up, and does not count as shown whole", async () => {
  const records = Array.from({ length: 40 }, (_, i) => ({ id: i + 1 }));
  const body = Buffer.from(JSON.stringify(records));
  let asked = 0;
  const send = async () => {
    if (++asked > 50) throw new Error("it does not end");
    return { status: 200, headers: {}, body, requestId: null, attempts: 1 };
  };
  const { signal } = new AbortController();
  const [clock, log, tally] = [stillClock, silentLog, new Tally()];
  const outages = new OutageWatch({ clock, log, tally, longestOutageMs: 0, ended: signal });
  const parts = { outages, probe: async () => null, tally, clock, log, signal, concurrency: 1 };
  const file = `${tempFolder()}/shown.db`;
  const shown = { manifest: fakturoid, resources: [invoices], transport: { send } };
  const copy = new ServiceCopy(file, { ...parts, ...shown });
  await copy.readLists([invoices]);
  expect(copy.isWhole("invoices")).toBe(false);
  expect(copy.ids("invoices").size).toBe(40);
  expect(asked).toBeLessThan(10);
  copy.close();
});
