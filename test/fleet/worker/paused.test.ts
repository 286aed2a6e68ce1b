import { expect, test } from "vitest";
import { expectEqual } from "../../support/equal.ts";
import { aWorkedFleet, startWorker, within } from "../../support/fleet-worker.ts";
import { describeWithPostgres } from "../../support/postgres.ts";
import { wholeRuns } from "../../support/serve.ts";

describeWithPostgres("a worker", () => {
  test("that was stopped for longer than its lease sends, stores and publishes nothing afterwards, and says so", async () => {
    const fleet = await aWorkedFleet({ records: 40 });
    const { company } = fleet;
    company.proxy.obstruct(async (_, passOn) => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return passOn();
    });
    const one = await startWorker(fleet, "one");
    await fleet.add("acme", { rate_limit: { window: "1s" } });
    await within(20_000, () => one.asked() > 10, "a run under way");
    const two = await startWorker(fleet, "two");
    one.child.kill("SIGSTOP");
    const [asked, published] = [
      one.asked(),
      one.said().filter((message) => message === "snapshot published"),
    ];
    await two.until("claimed", 30_000);
    await within(60_000, () => wholeRuns(two.company) === 1, "the whole run of the next owner");
    await two.until('"why":"after a run"');
    const pointer = await fleet.tables.snapshots.current("acme");
    one.child.kill("SIGCONT");
    await one.until("the company is lost");
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(one.asked()).toBe(asked);
    expect(await fleet.tables.snapshots.current("acme")).toEqual(pointer);
    expect(await fleet.ownerOf("acme")).toBe("two");
    expect(one.said().filter((message) => message === "snapshot published")).toEqual(published);
    expectEqual(two.company);
  }, 120_000);
});
