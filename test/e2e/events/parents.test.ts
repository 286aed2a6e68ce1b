import { expect, test } from "vitest";
import { manifest } from "../../../connectors/fintoro/manifest.ts";
import { openMirror } from "../../../src/state/mirror.ts";
import { WorkQueue } from "../../../src/state/work-queue.ts";
import { CompanyIngest } from "../../../src/webhook/ingest/ingest.ts";
import { emptyKeyring } from "../../../src/webhook/keys/keyring.ts";
import { aCompany, sync, type Company } from "../../support/company/company.ts";
import { expectEqual } from "../../support/truth/equal.ts";
import { deliveryOf, eventOf } from "../../support/mirror/event-worker.ts";
import { truthOf } from "../../support/truth/truth.ts";

/** Events of the last client, supplier and business case, stored and not read: `serve` ended before. */
async function storeEvents(company: Company): Promise<void> {
  const mirror = await openMirror(company.file, manifest);
  const selected = new Set(manifest.resources.map(({ name }) => name));
  const ingest = new CompanyIngest({
    mirror,
    queue: new WorkQueue(mirror.db),
    selected,
    keyring: emptyKeyring,
  });
  const truth = truthOf(company.sandbox);
  const types = { clients: "clients", suppliers: "suppliers", business_cases: "business-cases" };
  const events = Object.entries(types).flatMap(([table, type]) =>
    [...(truth.get(table)?.keys() ?? [])].map((id) => eventOf(`${type}.updated`, Number(id))),
  );
  ingest.store(events.map(deliveryOf), Date.now());
  mirror.close();
}

// Fault: process | serve is killed before its first run, with events of parents stored and not read | between ingest and run | the run that reads them first reads their CRM events as well
test("I11: the lists of parents that their events inserted are read by the same run", async () => {
  const company = await aCompany();
  await storeEvents(company);
  expect(await sync(company)).toMatchObject({ outcome: "complete" });
  expectEqual(company);
});
