import { expect, test } from "vitest";
import { aCompany, aMirroredCompany, sync } from "../../support/company/company.ts";
import { count, expectEqual, expectTombstonesTrue, serviceIds } from "../../support/truth/equal.ts";
import { eventOf, startWorker } from "../../support/mirror/event-worker.ts";

// Fault: process | serve is killed before its first run, with events of parents stored and not read | between ingest and run | the run that reads them first reads their CRM events as well
test("I11: the lists of parents that their events inserted are read by the same run", async () => {
  const company = await aCompany();
  // Its token is refused, so that events are stored and not read.
  const stored = await startWorker(company, { token: "1|nobody" });
  const types = { clients: "clients", suppliers: "suppliers", business_cases: "business-cases" };
  for (const [table, type] of Object.entries(types))
    stored.deliver(...serviceIds(company, table).map((id) => eventOf(`${type}.updated`, id)));
  await stored.stop();
  expect(await sync(company)).toMatchObject({ outcome: "complete" });
  expectEqual(company);
});

// Fault: data | a record whose parent the mirror never had | the sandbox | it is deleted with its parent
test("a log whose parent the mirror never had is deleted with it, when an event reports the parent's deletion", async () => {
  const company = await aMirroredCompany();
  const worker = await startWorker(company);
  const { control } = company.sandbox;
  const clientId = Number(control.create("clients", { name: "Nevidený", type: "company" })["id"]);
  const unseen = control.events().length;
  const log = control.create("contact_activity_logs", {
    clientId,
    type: "note",
    metadata: { content: "Volal" },
  });
  worker.deliver(...control.events().slice(unseen));
  await worker.rest();
  const live = "SELECT count(*) FROM contact_activity_logs WHERE id = ? AND _deleted_at IS NULL";
  const isLive = () => count(company.file, live, Number(log["id"]));
  expect(isLive()).toBe(1);
  const known = control.events().length;
  control.remove("clients", clientId);
  worker.deliver(...control.events().slice(known));
  await worker.rest();
  expect(isLive()).toBe(0);
  expectTombstonesTrue(company);
});
