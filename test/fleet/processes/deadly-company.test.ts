import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { readFleetStatus } from "../../../src/fleet/status/read-fleet-status.ts";
import { aWorkedFleet, startWorker } from "../../support/fleet/worker.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { eventually } from "../../support/eventually.ts";

describeWithPostgres("a company whose work ends the process", () => {
  // Fault: process | a company ends each process that holds it | SIGKILL by the process itself | after three of them it is left alone, and fleet status names it
  test("ends three workers, and is then left alone: the fourth one lives and works", async () => {
    const fleet = await aWorkedFleet({ records: 3, companies: 2 });
    await fleet.add("acme");
    for (const name of ["one", "two", "three"]) {
      const { child } = await startWorker(fleet, name, { diesHolding: "acme" });
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      expect(child.signalCode).toBe("SIGKILL");
    }
    const four = await startWorker(fleet, "four", { diesHolding: "acme" });
    await fleet.add("beta", {}, 1);
    await four.until("it is left alone for a while");
    await eventually(async () => (await fleet.tables.snapshots.current("beta")) !== null, "beta's snapshot");
    // Nobody takes it for half a minute at least; jobs for it change nothing.
    await fleet.engine.send("run", ["acme"]);
    await pause(4_000);
    expect(four.child.exitCode).toBeNull();
    const status = await readFleetStatus(fleet.postgres, null);
    expect(status.companies["acme"]).toMatchObject({
      epoch: 3,
      held: false,
      problems: [{ kind: "nodes_died" }],
    });
    expect(status.companies["beta"]?.problems).toEqual([]);
    expect((await four.end("SIGTERM")).code).toBe(0);
  });
});
