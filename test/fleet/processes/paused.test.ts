import { expect, test } from "vitest";
import { expectEqual } from "../../support/truth/equal.ts";
import { aWorkedFleet, startWorker } from "../../support/fleet/worker.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { inMirror, wholeRuns } from "../../support/program/serve.ts";
import { eventually } from "../../support/eventually.ts";

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
    await eventually(() => one.asked() > 10, "a run under way");
    const two = await startWorker(fleet, "two");
    one.child.kill("SIGSTOP");
    await two.until("claimed");
    // What it had sent by then has arrived.
    const [asked, published] = [
      one.asked(),
      one.said().filter((message) => message === "snapshot published"),
    ];
    await eventually(() => wholeRuns(two.company) === 1, "the whole run of the next owner");
    const publishedBy = () => fleet.tables.snapshots.current("acme");
    const lastSeq = () => inMirror(two.company, "SELECT max(seq) FROM _changes");
    await eventually(async () => (await publishedBy())?.seq === lastSeq(), "a snapshot of all");
    const pointer = await publishedBy();
    one.child.kill("SIGCONT");
    await one.until("the company is lost");
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(one.asked()).toBe(asked);
    expect(await fleet.tables.snapshots.current("acme")).toEqual(pointer);
    expect(await fleet.ownerOf("acme")).toBe("two");
    expect(one.said().filter((message) => message === "snapshot published")).toEqual(published);
    expectEqual(two.company);
    // Nobody touched its lock file: what it says must not send an operator after one.
    expect((await one.end("SIGKILL")).stderr).not.toContain("lock file");
  });
});
