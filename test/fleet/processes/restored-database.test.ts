import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import {
  type Timeline,
  type TimelineMark,
  TimelineTable,
} from "../../../src/fleet/postgres/tables/timeline-table.ts";
import { mirrorKey } from "../../../src/fleet/snapshot/stored-snapshots.ts";
import { readFleetStatus } from "../../../src/fleet/status/read-fleet-status.ts";
import type { StoredMark } from "../../../src/fleet/snapshot/timeline-mark.ts";
import { createTimelineWatch } from "../../../src/fleet/worker/timeline-watch.ts";
import { expectEqual } from "../../support/truth/equal.ts";
import { openFleet, type Fleet } from "../../support/fleet/fleet.ts";
import { aWorkedFleet, startWorker, type FleetWorker, type WorkedFleet } from "../../support/fleet/worker.ts";
import { backUp, connectNode, describeWithPostgres } from "../../support/postgres/databases.ts";
import { deliver, eventAbout, inMirror, wholeRuns } from "../../support/program/serve.ts";
import { recordingLog } from "../../support/terminal/terminal.ts";
import { eventually } from "../../support/eventually.ts";

/** A client is changed, and the service says so. */
async function change({ company: { sandbox } }: WorkedFleet, worker: FleetWorker, id: number): Promise<void> {
  sandbox.control.trigger("clients.updated", id, { company: 0 });
  const event = eventAbout("clients.updated", "client", id);
  await expect.poll(() => deliver(worker, event)).toBe(204);
}

/** How often a client has changed, as far as the worker's mirror knows. */
const changesOf = (worker: FleetWorker, id: number) =>
  inMirror(
    worker.company,
    "SELECT count(*) FROM _changes WHERE resource = 'clients' AND record_id = ? AND op = 'update'",
    id,
  );

const snapshotFolder = ({ company }: WorkedFleet) => path.join(company.folder, "snapshots", "acme");

/** The last change in the published snapshot. */
async function seqOf({ tables }: WorkedFleet): Promise<number> {
  return (await tables.snapshots.current("acme"))?.seq ?? 0;
}

/** Does status say that every company was read whole since the restore? */
async function isReadWhole({ postgres }: WorkedFleet): Promise<boolean> {
  const { restored, problems } = await readFleetStatus(postgres, null);
  return restored?.companies_left === 0 && problems.every(({ kind }) => kind !== "restored");
}

/** The change log in Postgres, which has no hole. */
async function expectNoHole({ postgres }: WorkedFleet): Promise<number> {
  const [log] = await postgres.query<{ last: number; span: number; count: number }>(
    "SELECT max(seq) AS last, max(seq) - min(seq) + 1 AS span, count(*) FROM fintoro_mirror.changes",
  );
  expect(log?.count).toBe(log?.span);
  return log?.last ?? 0;
}

describeWithPostgres("a database that was restored from a backup", () => {
  // Fault: fleet | Postgres is restored from a backup that is older than the published snapshots, and acknowledged deliveries are lost with it | workers start again | no epoch comes twice, companies go on from the newest stored snapshot, the change log has no hole, and all is read whole
  test("loses nothing for good: companies go on from their newest snapshots, and what deliveries said is read again", async () => {
    const fleet = await aWorkedFleet({ records: 6 });
    await fleet.add("acme", { rate_limit: { window: "1s" } });
    const one = await startWorker(fleet, "one");
    await eventually(() => wholeRuns(one.company) === 1, "a first run");
    await one.until("snapshot published");
    const ids = JSON.parse(String(inMirror(one.company, "SELECT json_group_array(id) FROM clients")));
    const [lost = 0, ...published] = (ids as number[]).slice(0, 3);
    await one.end("SIGTERM");
    const restore = await backUp(fleet.url);

    const backedUp = await fleet.tables.snapshots.current("acme");
    const two = await startWorker(fleet, "two");
    for (const id of published) {
      const before = await seqOf(fleet);
      await change(fleet, two, id);
      await eventually(async () => (await seqOf(fleet)) > before, "the change, published");
    }
    await two.end("SIGTERM");
    expect(backedUp && existsSync(path.join(snapshotFolder(fleet), "..", mirrorKey(backedUp)))).toBe(false);
    const three = await startWorker(fleet, "three");
    await change(fleet, three, lost);
    await three.end("SIGKILL");
    const newestSeq = await seqOf(fleet);
    await restore();

    expect(await seqOf(fleet)).toBeLessThan(newestSeq);
    const four = await startWorker(fleet, "four");
    await four.until("Postgres was restored from a backup");
    await four.until("claimed: restored from a snapshot");
    expect(published.map((id) => changesOf(four, id))).toEqual([1, 1]);
    await eventually(() => changesOf(four, lost) === 1, "what the lost delivery said");
    await eventually(() => isReadWhole(fleet), "a company that was read whole");
    expectEqual(four.company);
    expect(await expectNoHole(fleet)).toBeGreaterThan(newestSeq);
    expect(readdirSync(snapshotFolder(fleet))).toEqual(["e1000000001"]);
    expect((await four.end("SIGTERM")).code).toBe(0);
  });
});

describeWithPostgres("a database that is restored under a running worker", () => {
  test("is noticed within seconds: the worker loses its companies, takes them again, and reads them whole", async () => {
    const fleet = await aWorkedFleet({ records: 6 });
    await fleet.add("acme", { rate_limit: { window: "1s" } });
    const worker = await startWorker(fleet, "one");
    await worker.until("snapshot published");
    const restore = await backUp(fleet.url);
    const { beats } = await fleet.tables.timeline.read();
    const ids = JSON.parse(
      String(inMirror(worker.company, "SELECT json_group_array(id) FROM clients")),
    ) as number[];
    for (const id of ids.slice(0, 2)) {
      await change(fleet, worker, id);
      await eventually(() => changesOf(worker, id) === 1, "the change, read");
    }
    await eventually(async () => (await fleet.tables.timeline.read()).beats > beats, "a heartbeat");
    await restore();
    fleet.company.sandbox.control.trigger("clients.updated", ids[2], { company: 0 });
    await worker.until("Postgres was restored from a backup");
    await worker.until("claimed: restored from a snapshot");
    await eventually(() => isReadWhole(fleet), "a company that was read whole");
    expectEqual(worker.company);
    await expectNoHole(fleet);
    expect((await worker.end("SIGTERM")).code).toBe(0);
  });
});

/** A mark in memory, and a watch of its own connection. */
async function aWatch({ url }: Fleet, stored: { mark: TimelineMark | null }, node = "one") {
  const { log, records } = recordingLog();
  const table = new TimelineTable(await connectNode(url, node));
  const kept: StoredMark = {
    read: () => Promise.resolve(stored.mark),
    write: ({ number, id, beats }) => {
      stored.mark = { number, id, beats };
      return Promise.resolve();
    },
  };
  const watch = createTimelineWatch(table, kept, log, new AbortController().signal);
  await watch.start();
  return { watch, said: () => records().map(({ msg }) => String(msg).split(":")[0]) };
}

/** As after the restore of a backup of so many heartbeats ago. */
async function putBack({ postgres }: Fleet, to: Timeline): Promise<void> {
  await postgres.query(
    "UPDATE fintoro_mirror.timeline SET number = $1, id = $2::uuid, beats = $3, marked_at = NULL",
    [to.number, to.id, to.beats],
  );
}

describeWithPostgres("a node that watches the timeline", () => {
  test("notices at its next look that the database was set back, and of several nodes one begins a new timeline", async () => {
    const fleet = await openFleet();
    const stored = { mark: null };
    const nodes = await Promise.all(["one", "two", "three"].map((name) => aWatch(fleet, stored, name)));
    const owner = await fleet.owned("acme", "one");
    await fleet.add("never-owned");
    const backup = nodes[0]?.watch.current;
    for (const { watch } of nodes) await watch.beat();
    for (const { watch } of nodes) await watch.look();
    if (backup) await putBack(fleet, backup);
    await Promise.all(nodes.map(({ watch }) => watch.look()));
    expect(nodes.map(({ watch }) => watch.current.number)).toEqual([2, 2, 2]);
    const { restored, problems } = await readFleetStatus(fleet.postgres, null);
    expect(restored).toMatchObject({ companies_left: 2 });
    expect(problems).toContainEqual(expect.objectContaining({ kind: "restored", severity: "difference" }));
    expect(await fleet.owners.renew("one", [owner], 10_000)).toEqual([]);
    expect(await fleet.owners.claim("acme", "two", 10_000)).toMatchObject({ epoch: 1_000_000_001 });
    expect(await fleet.owners.claim("never-owned", "two", 10_000)).toMatchObject({ epoch: 1_000_000_001 });
    await fleet.add("new");
    expect(await fleet.owners.claim("new", "two", 10_000)).toMatchObject({ epoch: 1_000_000_001 });
  });

  test("knows at its start from the store what the database was, also when the same backup is restored again", async () => {
    const fleet = await openFleet();
    const stored = { mark: null };
    const { watch: first } = await aWatch(fleet, stored);
    const backup = first.current;
    await first.beat();
    await fleet.postgres.query("UPDATE fintoro_mirror.timeline SET marked_at = NULL");
    await first.mark();
    for (const number of [2, 3, 4]) {
      await putBack(fleet, backup);
      const { watch, said } = await aWatch(fleet, stored);
      expect(watch.current.number).toBe(number);
      expect(said()).toEqual(["Postgres was restored from a backup, or replaced"]);
    }
    const { watch, said } = await aWatch(fleet, stored);
    expect(watch.current.number).toBe(4);
    expect(said()).toEqual([]);
  });

  test("takes no crash of Postgres for a restore, also where the database does not wait for the disk", async () => {
    const fleet = await openFleet({ server: "own, durable" });
    await fleet.postgres.query("ALTER DATABASE postgres SET synchronous_commit = off");
    const table = new TimelineTable(await connectNode(fleet.url));
    let known = await table.read();
    for (let beats = 1; beats <= 20; beats++) known = (await table.beat(known)) ?? known;
    await fleet.server?.crash();
    await fleet.server?.start();
    expect(await table.read()).toEqual(known);
    expect(known.beats).toBeGreaterThanOrEqual(20);
  });

  test("says that another database has the same store, and leaves that one's mark alone", async () => {
    const fleet = await openFleet();
    const stored = { mark: null as TimelineMark | null };
    const { watch, said } = await aWatch(fleet, stored);
    const foreign = { number: 1, id: "00000000-0000-4000-8000-000000000000", beats: 7 };
    stored.mark = foreign;
    await fleet.postgres.query("UPDATE fintoro_mirror.timeline SET marked_at = NULL");
    await watch.mark();
    expect(said()).toEqual(["another database writes to the same fleet.snapshots"]);
    expect(watch.current.number).toBe(1);
    expect(stored.mark).toEqual(foreign);
  });
});
