import { systemClock } from "../../../src/base/clock.ts";
import { Lease, readSentAt } from "../../../src/fleet/ownership/ownership.ts";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import type { Owner } from "../../../src/fleet/postgres/tables/owners-table.ts";
import { SnapshotsTable, type SnapshotPointer } from "../../../src/fleet/postgres/tables/snapshots-table.ts";
import type { Timeline } from "../../../src/fleet/postgres/tables/timeline-table.ts";
import { MirrorSnapshots } from "../../../src/fleet/snapshot/mirror-snapshots.ts";
import { aFileStore, type StoreKind, type TestStore } from "../file-store.ts";
import { openHasty } from "../mirror/mirror.ts";
import { tempFolder } from "../temporary-folder.ts";
import { openFleet, ttlMs, type Fleet } from "./fleet.ts";
import { scopeIn } from "./snapshot-facts.ts";
import { connectNode } from "../postgres/databases.ts";
import { loggingTo } from "../company/open-company.ts";

/** Postgres with company `acme`, a store, and nodes that share both. */
export type TestFleet = Awaited<ReturnType<typeof aFleet>>;

/** A node of a fleet of its own that owns the company, with the mirror on its disk. */
export async function anOwner(kind: StoreKind = "folder") {
  const fleet = await aFleet(kind);
  const node = await fleet.node("node-1");
  const mirror = await node.open();
  return { fleet, node, mirror, ownership: await node.claim() };
}

/** A worker's disk, and its connection to Postgres. */
export type FleetNode = ReturnType<typeof aNode>;

interface RestoreOptions {
  readonly pointer?: SnapshotPointer;
  readonly signal?: AbortSignal;
}

export async function aFleet(kind: StoreKind) {
  const fleet = await openFleet();
  const { url, postgres, snapshots } = fleet;
  const stored = await aFileStore(kind);
  await fleet.add("acme");
  return {
    ...stored,
    postgres,
    snapshots,
    node: async (name: string) => aNode(name, await connectNode(url, name), fleet, stored),
    /** Ends the ownership of now in Postgres, as if its time were over. */
    expire: () => fleet.expire("acme"),
  };
}

function aNode(name: string, postgres: Postgres, fleet: Fleet, { store }: TestStore) {
  const scope = scopeIn(tempFolder());
  const { files } = scope;
  const said: string[] = [];
  const snapshots = new SnapshotsTable(postgres);
  const aborts = new AbortController();
  const parts = { store, snapshots, clock: systemClock, log: loggingTo(said), version: "1.2.3" };
  const usual = { scope, requests: 0, signal: aborts.signal };
  return {
    name,
    files,
    scope,
    said,
    /** The mirror of `acme` on this node's disk, opened by its owner. */
    open: () => openHasty({ path: files.mirror }),
    claim: async () => leaseOf(await fleet.owned("acme", name)),
    make: (ownership: Lease, more: Partial<typeof usual & typeof parts> = {}) => {
      const { scope: published, requests, signal } = { ...usual, ...more };
      return new MirrorSnapshots({ ...parts, ...more }).publish(ownership, published, requests, signal);
    },
    /** The snapshot that a claim begins with. */
    current: (timeline: Timeline) => new MirrorSnapshots(parts).current("acme", timeline, aborts.signal),
    restore: async ({ pointer, signal = aborts.signal }: RestoreOptions = {}) => {
      const published = pointer ?? (await snapshots.current("acme"));
      if (!published) throw new Error("nothing is published");
      await new MirrorSnapshots(parts).restore(published, files, signal);
    },
  };
}

/** An ownership that the node believes in as long as no test lasts, whatever Postgres says. */
export function leaseOf(owner: Owner): Lease {
  return new Lease({ ...owner, heldMs: ttlMs }, readSentAt(systemClock), systemClock);
}
