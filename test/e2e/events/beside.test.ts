import { describe, expect, test } from "vitest";
import { seededRandom } from "../../support/seeded-random.ts";
import { aCompany, aMirroredCompany, sync, type Company } from "../../support/company/company.ts";
import {
  count,
  expectEqual,
  expectReplayable,
  expectTombstonesTrue,
  serviceIds,
} from "../../support/truth/equal.ts";
import { seededChoice, mutate } from "../../support/company/scenario.ts";
import { eventOf, inboxOf, startWorker, until, waitingRows } from "../../support/mirror/event-worker.ts";

/** Holds the answer of the first request to this path, once it is there, until the test releases it. */
function holdAnswer({ proxy }: Company, path: string): { readonly isHeld: () => boolean; letGo: () => void } {
  const { promise: released, resolve: letGo } = Promise.withResolvers<void>();
  let held = false;
  const remove = proxy.obstruct(async (asked, passOn) => {
    if (asked.path !== path) return undefined;
    remove();
    const reply = await passOn();
    held = true;
    await released;
    return reply;
  });
  return { isHeld: () => held, letGo };
}

describe("a run beside the event worker", () => {
  test("neither reports as absent what was created meanwhile nor brings back what was deleted", async () => {
    const company = await aMirroredCompany();
    const worker = await startWorker(company);
    const gone = serviceIds(company, "suppliers").at(-1) ?? 0;
    const list = holdAnswer(company, "/suppliers");
    const run = worker.run();
    await until(list.isHeld);
    const made = Number(company.sandbox.control.create("suppliers", { name: "Medzitým" })["id"]);
    company.sandbox.control.remove("suppliers", gone);
    worker.deliver(eventOf("suppliers.created", made), eventOf("suppliers.deleted", gone));
    await worker.rest();
    const asked = company.proxy.asked.length;
    list.letGo();
    expect((await run).outcome).toBe("complete");
    await worker.rest();
    expect(company.proxy.asked.slice(asked).some(({ path }) => path === `/suppliers/${made}`)).toBe(false);
    expectEqual(company, { tables: ["suppliers"] });
    expectTombstonesTrue(company);
  });

  test("does not read again what the event worker has read: its preview is covered", async () => {
    const company = await aMirroredCompany();
    const worker = await startWorker(company);
    const [id = 0] = serviceIds(company, "invoices");
    company.sandbox.control.alter("invoices", id, { issueDate: "2026-11-03" });
    worker.deliver(eventOf("invoices.updated", id));
    await worker.rest();
    const asked = company.proxy.asked.length;
    const report = await worker.run();
    expect(report.resources["invoices"]).toMatchObject({ inserted: 0, updated: 0, deleted: 0 });
    expect(company.proxy.asked.slice(asked).filter(({ path }) => path.startsWith("/invoices/"))).toEqual([]);
    expectEqual(company, { tables: ["invoices"] });
  });

  // Fault: webhook | an event arrives while its record is being read | a delivery in the middle of a read | the record is read again (I4)
  test("I4: an event that comes during the run's last read of its record is read as soon as that is done", async () => {
    const company = await aMirroredCompany();
    const worker = await startWorker(company);
    const [id = 0] = serviceIds(company, "orders");
    company.sandbox.control.alter("orders", id, { issueDate: "2026-11-03" });
    const read = holdAnswer(company, `/orders/${id}`);
    const run = worker.run();
    await until(read.isHeld);
    await until(() => waitingRows(worker.mirror).length === 1);
    company.sandbox.control.alter("orders", id, { note: "Počas čítania" });
    worker.deliver(eventOf("orders.updated", id));
    read.letGo();
    expect((await run).outcome).toBe("complete");
    await worker.rest();
    expect(inboxOf(worker.mirror)).toEqual(["orders.updated done updated"]);
    expectEqual(company, { tables: ["orders"] });
  });

  test("leaves the lane of events to the event worker, and its events are read while it waits for a slow list", async () => {
    const company = await aMirroredCompany();
    const worker = await startWorker(company);
    const list = holdAnswer(company, "/clients");
    const run = worker.run();
    await until(list.isHeld);
    const [id = 0] = serviceIds(company, "orders");
    company.sandbox.control.alter("orders", id, { note: "Počas behu" });
    worker.deliver(eventOf("orders.updated", id));
    await worker.rest();
    expect(inboxOf(worker.mirror)).toEqual(["orders.updated done updated"]);
    list.letGo();
    expect((await run).outcome).toBe("complete");
  });

  test.each([1, 2])(
    "under changes and lost events, with a crash in between (seed %i): equal after one quiet run",
    async (seed) => {
      const dice = seededChoice(seededRandom(seed));
      const company = await aCompany({ seed, records: 10 + dice.below(20) });
      await sync(company);
      for (let start = 0; start < 2; start++) {
        const worker = await startWorker(company);
        worker.ingest.requeueLost(Date.now());
        worker.follow(() => !dice.probability(0.2));
        company.proxy.obstruct(async (_asked, passOn) => {
          if (!dice.probability(0.3)) return undefined;
          mutate(company, dice);
          const reply = await passOn();
          mutate(company, dice);
          return reply;
        });
        const run = worker.run({ full: dice.probability(0.5), allowMassDelete: true });
        for (let left = 10; left > 0; left--) mutate(company, dice);
        if (start === 0) {
          const asked = company.proxy.asked.length;
          await until(() => company.proxy.asked.length > asked + 10);
          worker.mirror.db.close();
          await Promise.allSettled([run]);
          await worker.stop().catch(() => undefined);
          company.recover();
          continue;
        }
        await run;
        company.recover();
        await worker.rest();
        await worker.run({ full: true, allowMassDelete: true });
        await worker.rest();
      }
      // An item that waits for a route proof is tried again seconds later.
      await until(
        () => count(company.file, "SELECT count(*) FROM _work WHERE lane = 0 AND attempts > 0") === 0,
      );
      expectEqual(company);
      expectTombstonesTrue(company);
      expectReplayable(company);
      expect(count(company.file, "SELECT count(*) FROM _inbox WHERE state = 'waiting'")).toBe(0);
      expect(company.sandbox.control.failures()).toEqual([]);
    },
    60_000,
  );
});
