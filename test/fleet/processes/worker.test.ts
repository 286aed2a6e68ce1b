import { expect, test } from "vitest";
import { expectEqual } from "../../support/truth/equal.ts";
import { aWorkedFleet, startWorker } from "../../support/fleet/worker.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { deliver, eventAbout, inMirror, wholeRuns } from "../../support/program/serve.ts";
import { eventually } from "../../support/eventually.ts";

describeWithPostgres("two workers", () => {
  test("hold each company once; either answers a delivery, and the owner reads what it is about", async () => {
    const fleet = await aWorkedFleet({ records: 5 });
    await fleet.add("acme");
    const workers = await Promise.all([startWorker(fleet, "one"), startWorker(fleet, "two")]);
    await eventually(async () => (await fleet.ownerOf("acme")) !== null, "an owner");
    const name = await fleet.ownerOf("acme");
    const [owner, other] = name === "one" ? workers : workers.toReversed();
    if (!owner || !other) throw new Error("there are two");
    await eventually(() => wholeRuns(owner.company) === 1, "a first whole run");
    expectEqual(owner.company);
    const id = Number(inMirror(owner.company, "SELECT min(id) FROM clients"));
    fleet.company.sandbox.control.alter("clients", id, { name: "Told by an event" });
    expect(await deliver(other, eventAbout("clients.updated", "client", id))).toBe(204);
    const newName = () => inMirror(owner.company, "SELECT name FROM clients WHERE id = ?", id);
    await eventually(() => newName() === "Told by an event", "the client's new name");
    await eventually(async () => {
      const pointer = await fleet.tables.snapshots.current("acme");
      return pointer?.inboxSeq === 1 && pointer.node === owner.node;
    }, "a snapshot with the event");
    expect(other.asked()).toBe(0);
    for (const worker of workers) expect((await worker.end("SIGTERM")).code).toBe(0);
    expect(await fleet.ownerOf("acme")).toBeNull();
  });
});
