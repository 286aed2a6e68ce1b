import { expect, test } from "vitest";
import { fakturoid } from "../../connectors/fakturoid/fakturoid.ts";
import { invoices } from "../../connectors/fakturoid/resources/invoices-and-expenses.ts";
import { silentLog } from "../../src/base/logger.ts";
import type { ServiceRequest } from "../../src/connector/transport.ts";
import { Tally } from "../../src/sync/context/tally.ts";
import { batchRetryPolicy } from "../../src/sync/retry/batch-retry-policy.ts";
import { ServiceCopy } from "../../src/verify/service-copy.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { stillClock } from "../support/mirror/run.ts";
import { answerOf } from "../support/mirror/whole-run.ts";

/** A service whose list of invoices shows on each page what `page` says, and what `verify` reads of it. */
async function readInvoices(page: (number: number) => readonly { readonly id: number }[]) {
  const pages: number[] = [];
  const send = async ({ query }: ServiceRequest) => {
    pages.push(Number(query?.["page"]));
    if (pages.length > 50) throw new Error("it does not end");
    return answerOf(page(pages.at(-1) ?? 0));
  };
  const { signal } = new AbortController();
  const [clock, log, tally] = [stillClock, silentLog, new Tally()];
  const waiting = { clock, log, tally, patienceMs: 0, ended: signal };
  const policy = batchRetryPolicy(waiting, async () => null);
  const parts = { clock, log, signal, concurrency: 1, transport: { send } };
  const shown = { ...parts, manifest: fakturoid, resources: [invoices] };
  const copy = new ServiceCopy(`${tempFolder()}/shown.db`, shown, tally, policy);
  await copy.readLists([invoices]);
  const read = { pages, ids: copy.ids("invoices").size, isWhole: copy.isWhole("invoices") };
  copy.close();
  return read;
}

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ id: from + i }));

test("a list without a total is read once, to its last page", async () => {
  const read = await readInvoices((page) => numbered(1 + (page - 1) * 40, Math.min(1 + page * 40, 91)));
  expect(read).toEqual({ pages: [1, 2, 3], ids: 90, isWhole: true });
});

// Fault: pagination | every page repeats the first one | a list without a total, in verify | it ends after a few requests, and the list does not count as whole
test("a list without a total whose pages repeat is given up, and does not count as shown whole", async () => {
  const { pages, ids, isWhole } = await readInvoices(() => numbered(1, 41));
  expect({ ids, isWhole }).toEqual({ ids: 40, isWhole: false });
  expect(pages.length).toBeLessThan(10);
});
