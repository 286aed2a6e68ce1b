import { expect, test } from "vitest";
import { aMirroredCompany } from "../../support/company/company.ts";
import { expectTombstonesTrue, look } from "../../support/truth/equal.ts";
import { startWorker } from "../../support/mirror/event-worker.ts";

/** A log of a client that the mirror never had, because no event announced it. */
async function withOrphan() {
  const company = await aMirroredCompany();
  const worker = await startWorker(company);
  const { control } = company.sandbox;
  const client = Number(control.create("clients", { name: "Nevidený", type: "company" })["id"]);
  const seen = control.events().length;
  const metadata = { content: "Volal" };
  const log = Number(
    control.create("contact_activity_logs", { clientId: client, type: "note", metadata })["id"],
  );
  worker.deliver(...control.events().slice(seen));
  await worker.rest();
  const isLive = () =>
    look(company.file, (db) =>
      db.prepare("SELECT _deleted_at IS NULL FROM contact_activity_logs WHERE id = ?").pluck().get(log),
    ) === 1;
  expect(isLive()).toBe(true);
  return { company, worker, control, client, isLive };
}

// Fault: data | a record whose parent the mirror never had | the sandbox | it is deleted with its parent
test("a log whose parent the mirror never had is deleted with it, when an event reports the parent's deletion", async () => {
  const { company, worker, control, client, isLive } = await withOrphan();
  const known = control.events().length;
  control.remove("clients", client);
  worker.deliver(...control.events().slice(known));
  await worker.rest();
  expect(isLive()).toBe(false);
  expectTombstonesTrue(company);
});
