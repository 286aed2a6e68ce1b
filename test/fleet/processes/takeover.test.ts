import { expect, test } from "vitest";
import { expectEqual } from "../../support/truth/equal.ts";
import { aWorkedFleet, startWorker } from "../../support/fleet/worker.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { wholeRuns } from "../../support/program/serve.ts";
import { eventually } from "../../support/eventually.ts";

describeWithPostgres("two workers", () => {
  test("take over from one that was killed in the middle of a run, within 30 s, with no request too many", async () => {
    const fleet = await aWorkedFleet({ records: 40, limit: 60, windowMs: 4_000 });
    let refused = 0;
    fleet.company.proxy.obstruct(async (_, passOn) => {
      const reply = await passOn();
      if (reply.status === 429) refused++;
      return reply;
    });
    await fleet.add("acme", { rate_limit: { window: "4s" } });
    const one = await startWorker(fleet, "one");
    await one.until("snapshot published");
    const two = await startWorker(fleet, "two");
    await one.end("SIGKILL");
    const killedMs = performance.now();
    await two.until("claimed: restored from a snapshot");
    expect(performance.now() - killedMs).toBeLessThan(30_000);
    await eventually(() => wholeRuns(two.company) >= 1, "the run, ended");
    expectEqual(two.company);
    expect(refused).toBe(0);
    expect((await two.end("SIGTERM")).code).toBe(0);
  });
});
