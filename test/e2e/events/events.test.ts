import { expect, test } from "vitest";
import { manifest } from "../../../connectors/fintoro/manifest.ts";
import type { SentEvent } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { differences } from "../../support/truth/compare.ts";
import { aMirroredCompany } from "../../support/company/company.ts";
import { expectEqual, expectReplayable, expectTombstonesTrue, look } from "../../support/truth/equal.ts";
import { inboxOf, startWorker } from "../../support/mirror/event-worker.ts";
import { truthOf } from "../../support/truth/truth.ts";

const kept = new Set(["received-invoices.paid", "received-receipts.paid"]);

/**
 * What a record repeats of another (the warehouse's name in its items) changes in silence: the next list or scrub
 * shows it, no event does.
 */
function isAnnounced(difference: string, events: readonly SentEvent[]): boolean {
  if (difference === "...") return false;
  if (difference.includes("warehouse_name is")) return false;
  if (!difference.endsWith("_raw differs")) return true;
  return events.some(({ type, resource: { id } }) => {
    const rule = manifest.events.find((one) => one.type === type);
    return difference.startsWith(`${rule?.resource} ${id}:`);
  });
}

/** What a read after this event finds. */
function outcomeOf(type: string): string {
  if (type.endsWith(".created")) return "inserted";
  return type.endsWith(".deleted") ? "deleted" : "updated";
}

test("every event of the catalogue leads to the right read and the right rows: the mirror is as the service at once", async () => {
  const company = await aMirroredCompany({ records: 14 });
  const worker = await startWorker(company);
  for (const { type } of manifest.events) {
    const { events } = company.sandbox.control.trigger(type);
    expect(events.map((event) => event.type)).toContain(type);
    const asked = company.proxy.asked.length;
    worker.deliver(...events);
    await worker.rest();
    if (kept.has(type)) expect(company.proxy.asked.length).toBe(asked);
    // A payment's event may have shown the document before.
    else if (!type.endsWith(".paid"))
      expect(inboxOf(worker.mirror)).toContain(`${type} done ${outcomeOf(type)}`);
    const truth = truthOf(company.sandbox);
    const tables = [...truth.keys()];
    const wrong = look(company.file, (db) => tables.flatMap((table) => differences(db, truth, [table])));
    expect({ type, wrong: wrong.filter((what) => isAnnounced(what, events)) }).toEqual({ type, wrong: [] });
    if (wrong.length > 0) await worker.run({ full: true });
    await worker.rest();
  }
  expect(inboxOf(worker.mirror).filter((row) => !/ (done \w+|kept)$/.test(row))).toEqual([]);
  await worker.run();
  expectEqual(company);
  expectTombstonesTrue(company);
  expectReplayable(company);
});
