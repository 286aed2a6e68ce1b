import { expect, test } from "vitest";
import { aCompany, sync } from "../support/company.ts";
import { expectEqual, expectTombstonesTrue, look } from "../support/equal.ts";
import { tend } from "../support/event-worker.ts";

/** A log of a client that the mirror never saw, because nobody told it. */
async function withOrphan() {
  const company = await aCompany();
  await sync(company);
  const tended = await tend(company);
  const { control } = company.sandbox;
  const client = Number(control.create("clients", { name: "Nevidený", type: "company" })["id"]);
  const seen = control.events().length;
  const metadata = { content: "Volal" };
  const log = Number(
    control.create("contact_activity_logs", { clientId: client, type: "note", metadata })["id"],
  );
  tended.deliver(...control.events().slice(seen));
  await tended.rest();
  const isLive = () =>
    look(company.file, (db) =>
      db.prepare("SELECT _deleted_at IS NULL FROM contact_activity_logs WHERE id = ?").pluck().get(log),
    ) === 1;
  expect(isLive()).toBe(true);
  return { company, tended, control, client, isLive };
}

test("a log whose parent the mirror never saw goes with it, when an event tells of the parent's end", async () => {
  const { company, tended, control, client, isLive } = await withOrphan();
  const told = control.events().length;
  control.remove("clients", client);
  tended.deliver(...control.events().slice(told));
  await tended.rest();
  expect(isLive()).toBe(false);
  expectTombstonesTrue(company);
});

test("a log whose parent the mirror never saw is asked for by the next run, when no event told of its end", async () => {
  const { company, tended, control, client, isLive } = await withOrphan();
  control.remove("clients", client);
  await tended.run();
  await tended.rest();
  expect(isLive()).toBe(false);
  expectEqual(company);
});
