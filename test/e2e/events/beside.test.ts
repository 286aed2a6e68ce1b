import { describe, expect, test } from "vitest";
import { aMirroredCompany, type Company } from "../../support/company/company.ts";
import { expectEqual, expectTombstonesTrue, serviceIds } from "../../support/truth/equal.ts";
import { eventOf, inboxOf, startWorker, waitingRows } from "../../support/mirror/event-worker.ts";
import { eventually } from "../../support/eventually.ts";

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
    await eventually(list.isHeld, "the list is held");
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

  // Fault: webhook | an event arrives while its record is being read | a delivery in the middle of a read | the record is read again (I4)
  test("I4: an event that comes during the run's last read of its record is read as soon as that is done", async () => {
    const company = await aMirroredCompany();
    const worker = await startWorker(company);
    const [id = 0] = serviceIds(company, "orders");
    company.sandbox.control.alter("orders", id, { issueDate: "2026-11-03" });
    const read = holdAnswer(company, `/orders/${id}`);
    const run = worker.run();
    await eventually(read.isHeld, "the read is held");
    await eventually(() => waitingRows(worker.mirror).length === 1, "one item is left");
    company.sandbox.control.alter("orders", id, { note: "Počas čítania" });
    worker.deliver(eventOf("orders.updated", id));
    read.letGo();
    expect((await run).outcome).toBe("complete");
    await worker.rest();
    expect(inboxOf(worker.mirror)).toEqual(["orders.updated done updated"]);
    expectEqual(company, { tables: ["orders"] });
  });
});
