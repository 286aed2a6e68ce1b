import { existsSync, utimesSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { dayMs, systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { OwnersTable } from "../../../src/fleet/postgres/tables/owners-table.ts";
import { noteOwnership } from "../../../src/fleet/assignment/local-mirror.ts";
import { pruneMirrors, surplusMirrors } from "../../../src/fleet/worker/mirror-cache.ts";
import { inboxPositionKey } from "../../../src/state/meta.ts";
import { anOwner } from "../../support/fleet/node.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const nowMs = 100 * dayMs;
const roomy = { freeBytes: 50e9, totalBytes: 100e9 };

function released(company: string, daysAgo: number, sizeBytes = 1e6) {
  return { company, sizeBytes, usedAtMs: nowMs - daysAgo * dayMs };
}

test("mirrors of released companies that are not worth their place are those of a week ago, and the least recently used above 2 GB, or until a tenth of the disk is free", () => {
  const aged = [released("new", 0), released("week", 7), released("old", 7.1)];
  expect(surplusMirrors(aged, roomy, nowMs)).toEqual(["old"]);
  const large = [released("c", 1, 9e8), released("a", 3, 9e8), released("b", 2, 9e8)];
  expect(surplusMirrors(large, roomy, nowMs)).toEqual(["a"]);
  const small = large.map((one) => ({ ...one, sizeBytes: 6e8 }));
  expect(surplusMirrors(small, { freeBytes: 9e9, totalBytes: 100e9 }, nowMs)).toEqual(["a", "b"]);
});

/** A node that has released `acme` eight days ago, after its first snapshot. */
async function aReleasedMirror({ worker = true } = {}) {
  const { fleet, node, mirror, ownership } = await anOwner();
  if (worker) noteOwnership(mirror, ownership, { number: 1 });
  mirror.apply(() => mirror.meta.set(inboxPositionKey, 1));
  await node.make(ownership);
  const owners = new OwnersTable(fleet.postgres);
  const prune = async (isHeld = false) => {
    if (mirror.db.open) mirror.close();
    const longAgo = new Date(Date.now() - 8 * dayMs);
    utimesSync(node.files.mirror, longAgo, longAgo);
    const parts = { dataDir: path.dirname(node.files.mirror), clock: systemClock, log: silentLog };
    await pruneMirrors({ ...parts, owners, snapshots: fleet.snapshots, isHeld: () => isHeld });
    return existsSync(node.files.mirror);
  };
  return { fleet, node, mirror, prune };
}

describeWithPostgres("the mirror of a released company", () => {
  test("is removed when it is old and published, and stays while the company is held", async () => {
    const { prune } = await aReleasedMirror();
    expect([await prune(true), await prune()]).toEqual([true, false]);
  });

  test("stays while its last state is in no snapshot, until another owner followed", async () => {
    const { fleet, mirror, prune } = await aReleasedMirror();
    mirror.apply(() => mirror.meta.set(inboxPositionKey, 2));
    expect(await prune()).toBe(true);
    await fleet.expire();
    await (await fleet.node("node-2")).claim();
    expect(await prune()).toBe(false);
  });

  test("stays where no worker has left it", async () => {
    const { prune } = await aReleasedMirror({ worker: false });
    expect(await prune()).toBe(true);
  });
});
