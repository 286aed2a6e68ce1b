import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readLog } from "../../../src/state/log-identity.ts";
import { inboxPositionKey } from "../../../src/state/meta.ts";
import { Runs } from "../../../src/state/runs.ts";
import { Changes } from "../../../src/store/apply/change-log.ts";
import type { Mirror } from "../../../src/state/mirror.ts";
import { rejectionOf } from "../../support/errors.ts";
import { eventually } from "../../support/eventually.ts";
import { aFleet, anOwner, type TestFleet } from "../../support/fleet/node.ts";
import { aRight, storeKinds, type StoreKind } from "../../support/file-store.ts";
import { look } from "../../support/truth/equal.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { put } from "../../support/mirror/store.ts";

const signal = new AbortController().signal;
let people = 0;

function read(mirror: Mirror): void {
  put(mirror, "people", { id: ++people, name: `person ${people}`, email: null, score: 0.5 });
}

/** The owner of a company that was read. */
async function aNode(kind?: StoreKind) {
  const owner = await anOwner(kind);
  owner.mirror.meta.set("identity", { name: "Acme", salt: "salt", fingerprint: "f", businessId: "123" });
  for (let each = 0; each < 5; each++) read(owner.mirror);
  return owner;
}

/** Names of people, in the mirror's file alone. */
function peopleIn(file: string): unknown[] {
  return look(file, (db) => db.prepare("SELECT name FROM people ORDER BY id").pluck().all());
}

const keysOf = async ({ store }: TestFleet) => (await store.list("acme/", signal)).toSorted();

async function publishedChanges({ postgres }: TestFleet) {
  return postgres.query<{ seq: number }>(
    `SELECT log, seq, resource, record_id AS "recordId", op, cause, at FROM fintoro_mirror.changes
     WHERE company = 'acme' ORDER BY seq`,
  );
}

describeWithPostgres("a snapshot", () => {
  test.each(storeKinds)("of one node is the mirror of the next, which goes on counting: %s", async (kind) => {
    const { fleet, node: one, mirror, ownership } = await aNode(kind);
    const other = await fleet.node("node-2");
    mirror.meta.set(inboxPositionKey, 7);
    const pointer = await one.make(ownership);
    expect(pointer).toMatchObject({ company: "acme", epoch: 1, node: "node-1", seq: 5, inbox_seq: 7 });
    expect(await fleet.snapshots.current("acme")).toEqual(pointer);
    const found = new Changes(mirror.db).factsAfter(0, 10);
    const { id: log } = readLog(mirror.db);
    const changes = found.map(({ recordId, at, ...facts }) => {
      return { log, ...facts, recordId: String(recordId), at: new Date(at) };
    });
    expect(await publishedChanges(fleet)).toEqual(changes);
    await fleet.expire();
    const next = await other.claim();
    await other.restore();
    expect(peopleIn(other.files.mirror)).toEqual(peopleIn(one.files.mirror));
    read(await other.open());
    expect(await other.make(next)).toMatchObject({ epoch: 2, node: "node-2", seq: 6 });
    expect((await publishedChanges(fleet)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("has a manifest beside it that says what it is", async () => {
    const { fleet, node, mirror, ownership } = await aNode();
    const runs = new Runs(mirror.db);
    const at = "2026-11-22T01:05:00.000Z";
    runs.finish(runs.begin("full", at, null, {}), at, "complete", {});
    const pointer = await node.make(ownership);
    const [mirrorKey = "", manifestKey = ""] = await keysOf(fleet);
    expect(manifestKey).toBe(`acme/e1/${pointer?.id}.json`);
    const manifest: unknown = JSON.parse(readFileSync(fleet.fileOf(manifestKey), "utf8"));
    const owner = { company: "acme", epoch: 1, node: "node-1" };
    const packed = { size_bytes: readFileSync(fleet.fileOf(mirrorKey)).length, sha256: pointer?.sha256 };
    expect(manifest).toMatchObject({ format: 1, version: "1.2.3", id: pointer?.id, ...owner, packed });
    expect(manifest).toMatchObject({ seq: 5, inbox_seq: 0, rows: { people: 5, _change_log: 5 } });
    const last_run = { id: 1, outcome: "complete", finished_at: at };
    expect(manifest).toMatchObject({ identity: { name: "Acme", business_id: "123" }, last_run });
  });

  test("is made only when changes, deliveries or a run came since the last one", async () => {
    const fleet = await aFleet("folder");
    const node = await fleet.node("node-1");
    const ownership = await node.claim();
    expect(await node.make(ownership)).toBeNull();
    const mirror = await node.open();
    expect(await node.make(ownership)).toBeNull();
    read(mirror);
    expect(await node.make(ownership)).not.toBeNull();
    expect(await node.make(ownership)).toBeNull();
    mirror.meta.set(inboxPositionKey, 1);
    expect(await node.make(ownership)).toMatchObject({ inbox_seq: 1 });
    const runs = new Runs(mirror.db);
    const at = "2026-11-22T01:00:00.000Z";
    const run = runs.begin("incremental", at, null, {});
    expect(await node.make(ownership)).toBeNull();
    runs.finish(run, at, "complete", {});
    expect(await node.make(ownership)).not.toBeNull();
    expect(await node.make(ownership)).toBeNull();
    await fleet.expire();
    expect(await node.make(await node.claim())).toBeNull();
  });

  test("leaves the last two, and what was stored and never published is removed with older ones", async () => {
    const { fleet, node, mirror, ownership: first } = await aNode();
    const ids: (string | undefined)[] = [];
    const publish = async (ownership = first) => {
      read(mirror);
      ids.push((await node.make(ownership))?.id);
    };
    for (let each = 0; each < 3; each++) await publish();
    const keysOfLast = (...epochs: number[]) => {
      const keys = ids.slice(-2).map((id, at) => `acme/e${epochs[at]}/${id}`);
      return keys.flatMap((key) => [`${key}.db.zst`, `${key}.json`]);
    };
    expect(await keysOf(fleet)).toEqual(keysOfLast(1, 1));

    const name = "2026-01-01T00-00-00-000Z-3.db.zst";
    const lost = [`acme/e1/${name}`, `acme/e2/${name}.0a1b2c3d.partial`];
    const others = [`acme/e3/${name}`, "acme/notes.txt", "acme2/e1/a.db.zst"];
    for (const key of [...lost, ...others]) await fleet.store.put(key, node.files.mirror, aRight());
    await fleet.expire();
    const second = await node.claim();
    await publish(second);
    expect(await keysOf(fleet)).toEqual([...keysOfLast(1, 2), ...others.slice(0, 2)].toSorted());
    await publish(second);
    expect(await keysOf(fleet)).toEqual([...keysOfLast(2, 2), ...others.slice(0, 2)].toSorted());
    expect(await fleet.store.list("acme2/", signal)).toEqual(["acme2/e1/a.db.zst"]);
  });

  test("does not fail when older ones cannot be removed", async () => {
    const { fleet, node, ownership } = await aNode();
    const store = { ...fleet.store, list: () => Promise.reject(new Error("no answer")) };
    expect(await node.make(ownership, { store })).not.toBeNull();
    expect(node.said).toEqual(["warn acme: older snapshots were not removed: no answer {}"]);
  });
});

describeWithPostgres("nothing is published", () => {
  // Fault: fleet | a node goes on after another one has taken over its company | ownership expired in Postgres, still believed on the node | no pointer, change or inbox position moves, and the new owner's stay
  test("by an owner of an older epoch, although it believes that it still owns", async () => {
    const { fleet, node: one, mirror, ownership: stale } = await aNode();
    const other = await fleet.node("node-2");
    await one.make(stale);
    await fleet.expire();
    const next = await other.claim();
    await other.restore();
    read(mirror);
    expect(await rejectionOf(one.make(stale))).toMatchObject({ kind: "locked" });
    expect(await fleet.snapshots.current("acme")).toMatchObject({ epoch: 1, seq: 5 });
    const taken = await other.open();
    read(taken);
    read(taken);
    const published = await other.make(next);
    read(mirror);
    expect(await rejectionOf(one.make(stale))).toMatchObject({ kind: "locked" });
    expect(await fleet.snapshots.current("acme")).toEqual(published);
    expect(await publishedChanges(fleet)).toHaveLength(7);
    expect((await keysOf(fleet)).filter((key) => key.startsWith("acme/e2/"))).toHaveLength(2);
  });

  // Fault: fleet | the ownership ends during a snapshot | while it is packed, stored, read back or published | the snapshot ends with `locked` or `stopped`, and the earlier one stays published
  test.each(["put", "read", "publish"] as const)("once the ownership is lost: %s", async (when) => {
    const { fleet, node, mirror, ownership } = await aNode("s3");
    const before = await node.make(ownership);
    read(mirror);
    const { store, snapshots } = fleet;
    const lose = () => ownership.end("the test ended it");
    const losing = {
      store: {
        ...store,
        put: async (...args: Parameters<typeof store.put>) => {
          if (when === "put") lose();
          const sent = await store.put(...args);
          // The last thing before the transaction.
          if (when === "publish" && args[0].endsWith(".json")) lose();
          return sent;
        },
        read: (...args: Parameters<typeof store.read>) => {
          if (when === "read") lose();
          return store.read(...args);
        },
      },
    };
    expect(["locked", "stopped"]).toContain((await rejectionOf(node.make(ownership, losing))).kind);
    expect(await snapshots.current("acme")).toEqual(before);
  });

  // Fault: fleet | the store gives back other bytes than it was given | what is read back after an upload | an error that may pass; the earlier snapshot stays published, and the next one replaces both
  test("that the store did not keep as it was given", async () => {
    const { fleet, node, mirror, ownership } = await aNode();
    const before = await node.make(ownership);
    read(mirror);
    const lossy = {
      ...fleet.store,
      read: async function* (...args: Parameters<typeof fleet.store.read>) {
        for await (const part of fleet.store.read(...args)) yield part.fill(0, 0, 1);
      },
    };
    const error = await rejectionOf(node.make(ownership, { store: lossy }));
    expect([error.kind, error.retryable]).toEqual(["unavailable", true]);
    expect(await fleet.snapshots.current("acme")).toEqual(before);
    expect(await node.make(ownership)).toMatchObject({ seq: 6 });
  });

  // Fault: fleet | a worker is asked to stop while it packs a mirror | the thread that copies and packs | it ends, nothing is stored, and no reader holds back the mirror's log
  test("when the work is ended, and the mirror is free at once", async () => {
    const { fleet, node, mirror, ownership } = await aNode();
    mirror.db.exec(`CREATE TABLE filler AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
      WHERE i < 20000) SELECT i, hex(randomblob(1000)) AS text FROM n`);
    const stopping = new AbortController();
    const making = node.make(ownership, { signal: stopping.signal });
    const { snapshotStaging } = node.files;
    const copying = eventually(() => existsSync(path.join(snapshotStaging, "mirror.db")), "a copy");
    void copying.then(() => stopping.abort());
    expect(await rejectionOf(making)).toMatchObject({ kind: "stopped" });
    expect(mirror.db.pragma("wal_checkpoint(TRUNCATE)")).toEqual([{ busy: 0, log: 0, checkpointed: 0 }]);
    expect(await keysOf(fleet)).toEqual([]);
  });
});
