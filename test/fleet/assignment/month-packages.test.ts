import path from "node:path";
import { expect, test } from "vitest";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { Semaphore } from "../../../src/base/semaphore.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { createMonthPackages } from "../../../src/fleet/assignment/month-packages.ts";
import { recordHandOver } from "../../../src/state/as-of/hand-overs.ts";
import { readLog } from "../../../src/state/log-identity.ts";
import { openMirror } from "../../../src/state/mirror.ts";
import { Changes } from "../../../src/store/apply/change-log.ts";
import { eventually } from "../../support/eventually.ts";
import { openFleet } from "../../support/fleet/fleet.ts";
import { leaseOf } from "../../support/fleet/node.ts";
import { scopeIn } from "../../support/fleet/snapshot-facts.ts";
import { put } from "../../support/mirror/store.ts";
import { view } from "../../support/terminal/terminal.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const month = "2026-10";

type Parts = Parameters<typeof createMonthPackages>;

/** The packages of a company that is owned here. `pack` makes what is due, and says whether anything was begun. */
async function owned(make: Parts[1]["publish"]["month"], supervisor: Partial<Parts[4]> = {}) {
  const fleet = await openFleet();
  const lease = leaseOf(await fleet.owned("acme"));
  await fleet.packages.ask(["acme"], month, false);
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
        month: make,
      },
    },
    { log: silentLog },
    { guard: (rateLimiter) => rateLimiter, assertMaySend: () => undefined },
    { opened: null, settings: scopeIn(tempFolder()), progress: () => null, ...supervisor },
    () => Promise.resolve(true),
    new Semaphore(1),
  );
  const pack = async () => {
    packages.makeIfAsked();
    const isMaking = packages.isMaking();
    await eventually(() => !packages.isMaking(), "the end of it");
    return isMaking;
  };
  const packAgain = async (proved: boolean) => {
    await fleet.packages.ask(["acme"], month, proved);
    packages.ask();
    await pack();
  };
  return { fleet, lease, packages, pack, packAgain };
}

describeWithPostgres("the packages of a company", () => {
  test("wait for the lists of a run and not for its scrub, and each gets a name of its own", async () => {
    const keys: string[] = [];
    let current = view({ scrub: null });
    const { fleet, lease, packages, pack, packAgain } = await owned(
      (...[, , , , , key]) => Promise.resolve(`${keys.push(key)} of 3 documents equal the service`),
      { progress: () => current },
    );
    expect([await pack(), packages.isPending(), keys]).toEqual([false, true, []]);
    current = view({ scrub: { done: 1, planned: 100 } });
    expect([await pack(), packages.isPending()]).toEqual([true, false]);
    expect(await fleet.packages.next("acme")).toBe(null);
    await packAgain(true);
    const named = (number: number) => `packages/${month}/acme/acme-${month}-${lease.epoch}-${number}.zip`;
    expect(keys).toEqual([named(1), named(2)]);
  });

  test("are made again where the log lost changes since the hand-over, and not where none is in it", async () => {
    const mirror = await openMirror(path.join(tempFolder(), "acme.db"), declaration);
    for (const id of [1, 2]) put(mirror, "currencies", { id, symbol: "EUR" });
    const [{ id: log }, seq] = [readLog(mirror.db), new Changes(mirror.db).lastSeq()];
    recordHandOver(mirror.db, { month, seq, log, at: "2026-11-05T00:00:00.000Z", command: "", files: {} });
    const made = { log, position: seq, proved: false, bytes: 1, sha256: "", without_pdf: [] };
    let times = 0;
    const opened = { mirror } as Parts[4]["opened"];
    const { pack, packAgain } = await owned(
      (...[, , , , , key]) => Promise.resolve({ ...made, key: `${key}${++times}` }),
      { opened },
    );
    await pack();
    await packAgain(false);
    expect(times).toBe(1);
    for (const id of [3, 4, 5]) put(mirror, "currencies", { id, symbol: "EUR" });
    await packAgain(false);
    expect(times).toBe(1);
    mirror.db.exec("DELETE FROM _change_log WHERE seq < (SELECT max(seq) FROM _change_log)");
    await packAgain(false);
    expect(times).toBe(2);
    mirror.close();
  });
});
