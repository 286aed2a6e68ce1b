import { expect, test } from "vitest";
import { Semaphore } from "../../../src/base/semaphore.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { createMonthPackages } from "../../../src/fleet/assignment/month-packages.ts";
import type { ProgressView } from "../../../src/log/progress.ts";
import { eventually } from "../../support/eventually.ts";
import { openFleet } from "../../support/fleet/fleet.ts";
import { leaseOf } from "../../support/fleet/node.ts";
import { scopeIn } from "../../support/fleet/snapshot-facts.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const month = "2026-10";
const budget = { limit: 120, granted: 120, remaining: null, waitMs: 0 };
const view = { company: "acme", elapsedMs: 0, resources: [], requests: 0, queued: 1, windowMs: 60_000 };

/** A run that reads lists, or one that scrubs. */
const run = (scrub: ProgressView["scrub"]): ProgressView => ({ ...view, scrub, budget });

describeWithPostgres("the packages of a company", () => {
  test("wait for the lists of a run and not for its scrub, and each gets a name of its own", async () => {
    const fleet = await openFleet();
    const lease = leaseOf(await fleet.owned("acme"));
    await fleet.packages.ask(["acme"], month, false);
    const keys: string[] = [];
    let current: ProgressView | null = run(null);
    const packages = createMonthPackages(
      lease,
      {
        tables: fleet,
        cutOff: new AbortController().signal,
        packagePlaces: new Semaphore(1),
        publish: {
          report: () => Promise.resolve(null),
          exports: () => Promise.resolve(false),
          files: () => Promise.resolve(true),
          month: (...[, , , , , key]) =>
            Promise.resolve(`${keys.push(key)} of 3 documents equal the service`),
        },
      },
      { log: silentLog },
      { guard: (rateLimiter) => rateLimiter, assertMaySend: () => undefined },
      { opened: null, settings: scopeIn(tempFolder()), progress: () => current },
      () => Promise.resolve(true),
      new Semaphore(1),
    );
    const pack = async () => {
      packages.makeIfAsked();
      const isMaking = packages.isMaking();
      await eventually(() => !packages.isMaking(), "the end of it");
      return isMaking;
    };
    expect([await pack(), packages.isPending(), keys]).toEqual([false, true, []]);
    current = run({ done: 1, planned: 100 });
    expect([await pack(), packages.isPending()]).toEqual([true, false]);
    expect(await fleet.packages.next("acme")).toBe(null);
    await fleet.packages.ask(["acme"], month, true);
    packages.ask();
    await pack();
    const named = (number: number) => `packages/${month}/acme/acme-${month}-${lease.epoch}-${number}.zip`;
    expect(keys).toEqual([named(1), named(2)]);
  });
});
