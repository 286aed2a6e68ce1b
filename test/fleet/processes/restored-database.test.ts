import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/file-store/open-store.ts";
import { TimelineTable, type Timeline } from "../../../src/fleet/postgres/tables/timeline-table.ts";
import { mirrorKey } from "../../../src/fleet/snapshot/stored-snapshots.ts";
import { readFleetStatus } from "../../../src/fleet/status/read-fleet-status.ts";
import { createTimelineWatch } from "../../../src/fleet/worker/timeline-watch.ts";
import { expectEqual } from "../../support/truth/equal.ts";
import { aFileStore, aRight, type TestStore } from "../../support/file-store.ts";
import { openFleet, test, type Fleet } from "../../support/fleet/fleet.ts";
import { aWorkedFleet, little, startNode, type WorkedFleet } from "../../support/fleet/worker.ts";
import { backUp, connectNode, describeWithPostgres } from "../../support/postgres/databases.ts";
import { eventOf } from "../../support/program/deliveries.ts";
import { inMirror } from "../../support/company/served-company.ts";
import { recordingLog } from "../../support/terminal/terminal.ts";
import { eventually } from "../../support/eventually.ts";

/** A client is changed, and a delivery says so. */
async function change({ company: { sandbox }, receive }: WorkedFleet, id: number): Promise<void> {
  sandbox.control.trigger("clients.updated", id, { company: 0 });
  await receive(eventOf("clients.updated", id));
}

/** How often a client has changed, as far as the node's mirror knows. */
const updates =
  "SELECT count(*) FROM _changes WHERE resource = 'clients' AND record_id = ? AND op = 'update'";
const changesOf = ({ company }: Awaited<ReturnType<typeof startNode>>, id: number) =>
  inMirror(company, updates, id);

const snapshotFolder = ({ company }: WorkedFleet) => path.join(company.folder, "snapshots", "acme");

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
    await fleet.add("acme", little);
    const one = await startNode(fleet, "one");
    await eventually(async () => (await seqOf(fleet)) > 0, "a snapshot");
    const ids = JSON.parse(String(inMirror(one.company, "SELECT json_group_array(id) FROM clients")));
    const [lost = 0, ...published] = (ids as number[]).slice(0, 3);
    await one.stop();
    const restore = await backUp(fleet.url);

    const backedUp = await fleet.tables.snapshots.current("acme");
    const two = await startNode(fleet, "two");
    for (const id of published) {
      const before = await seqOf(fleet);
      await change(fleet, id);
      await eventually(async () => (await seqOf(fleet)) > before, "the change, published");
    }
    await two.stop();
    expect(backedUp && existsSync(path.join(snapshotFolder(fleet), "..", mirrorKey(backedUp)))).toBe(false);
    await fleet.tables.owners.claim("acme", "three", 60_000);
    await change(fleet, lost);
    const newestSeq = await seqOf(fleet);
    await restore();

    expect(await seqOf(fleet)).toBeLessThan(newestSeq);
    const four = await startNode(fleet, "four", { times: { idleMs: 600_000 }, snapshotEvery: "1s" });
    const restored = "claimed: restored from a snapshot";
    await eventually(() => four.said("acme").includes(restored), "the newest snapshot, restored");
    expect(JSON.stringify(four.records())).toContain("Postgres was restored from a backup");
    expect(published.map((id) => changesOf(four, id))).toEqual([1, 1]);
    await eventually(() => changesOf(four, lost) === 1, "what the lost delivery said");
    await eventually(() => isReadWhole(fleet), "a company that was read whole");
    expectEqual(four.company, { tables: ["clients"] });
    expect(await expectNoHole(fleet)).toBeGreaterThan(newestSeq);
    expect(readdirSync(snapshotFolder(fleet))).toContain("e1000000001");
  });
});

/** A watch with a connection and a store of its own, as a process has. */
async function aWatch({ url }: Fleet, { address, env }: TestStore, node = "one") {
  const store = openStore(address, { clock: systemClock, env, onSecrets: () => undefined });
  const { log, records } = recordingLog();
  const table = new TimelineTable(await connectNode(url, node));
  const watch = createTimelineWatch(table, store, log, new AbortController().signal);
  await watch.start();
  return { watch, said: () => records().map(({ msg }) => String(msg).split(":")[0]) };
}

/** As after the restore of a backup of so many heartbeats ago. */
const putBack = ({ set }: Fleet, { number, id, beats }: Timeline) =>
  set("timeline", `number = ${number}, id = '${id}', beats = ${beats}, marked_at = NULL`);

describeWithPostgres("a node that watches the timeline", () => {
  test("notices at its next look that the database was set back, and of several nodes one begins a new timeline", async () => {
    const fleet = await openFleet();
    const stored = await aFileStore("folder");
    const nodes = await Promise.all(["one", "two", "three"].map((name) => aWatch(fleet, stored, name)));
    const owner = await fleet.owned("acme", "one");
    await fleet.add("never-owned");
    const backup = nodes[0]?.watch.current();
    for (const { watch } of nodes) await watch.beat();
    for (const { watch } of nodes) await watch.look();
    if (backup) await putBack(fleet, backup);
    await Promise.all(nodes.map(({ watch }) => watch.look()));
    expect(nodes.map(({ watch }) => watch.current().number)).toEqual([2, 2, 2]);
    const { restored, problems } = await readFleetStatus(fleet.postgres, null);
    expect(restored).toMatchObject({ companies_left: 2 });
    expect(problems).toContainEqual(expect.objectContaining({ kind: "restored", severity: "difference" }));
    expect(await fleet.owners.renew("one", [owner], 10_000)).toEqual([]);
    expect(await fleet.owners.claim("acme", "two", 10_000)).toMatchObject({ epoch: 1_000_000_001 });
    expect(await fleet.owners.claim("never-owned", "two", 10_000)).toMatchObject({ epoch: 1_000_000_001 });
    await fleet.add("new");
    expect(await fleet.owners.claim("new", "two", 10_000)).toMatchObject({ epoch: 1_000_000_001 });
  });

  test("knows at its start what the database was, however often it is restored", async ({ fleet }) => {
    const stored = await aFileStore("folder");
    const { watch: first } = await aWatch(fleet, stored);
    const backup = first.current();
    await first.beat();
    await fleet.set("timeline", "marked_at = NULL");
    await first.mark();
    for (const number of [2, 3, 4]) {
      await putBack(fleet, backup);
      const { watch, said } = await aWatch(fleet, stored);
      expect(watch.current().number).toBe(number);
      expect(said()).toEqual(["Postgres was restored from a backup, or replaced"]);
    }
    const { watch, said } = await aWatch(fleet, stored);
    expect(watch.current().number).toBe(4);
    expect(said()).toEqual([]);
  });

  test("says that another database has the same store, and leaves its mark alone", async ({ fleet }) => {
    const stored = await aFileStore("folder");
    const file = stored.fileOf(".fleet/timeline.json");
    const { watch, said } = await aWatch(fleet, stored);
    const foreign = JSON.stringify({ number: 1, id: "00000000-0000-4000-8000-000000000000", beats: 7 });
    writeFileSync(file, foreign);
    await fleet.set("timeline", "marked_at = NULL");
    await watch.mark();
    expect(said()).toEqual(["another database writes to the same fleet.snapshots"]);
    expect(watch.current().number).toBe(1);
    expect(readFileSync(file, "utf8")).toBe(foreign);
  });

  test("refuses what no worker wrote in the place of the mark, with what to do", async ({ fleet }) => {
    const stored = await aFileStore("folder");
    for (const text of ["", "{}", "[1]", "null"]) {
      await stored.store.put(".fleet/timeline.json", Buffer.from(text), aRight());
      const hint = expect.stringContaining("remove it") as string;
      await expect(aWatch(fleet, stored)).rejects.toMatchObject({ kind: "config", hint });
    }
  });
});
