import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { mirrorFiles } from "../../../src/store/mirror-files.ts";
import type { HostContext } from "../../../src/host/host-context.ts";
import { forgetCompany } from "../../../src/fleet/postgres/tables/removed-companies.ts";
import { readFleetStatus } from "../../../src/fleet/status/read-fleet-status.ts";
import { damageTable } from "../../support/verify/verify.ts";
import { expectEqual } from "../../support/truth/equal.ts";
import { aWorkedFleet, little, startNode } from "../../support/fleet/worker.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { inMirror, wholeRuns } from "../../support/company/served-company.ts";
import { eventually } from "../../support/eventually.ts";

const released = "the company is being released";
const restored = "claimed: restored from a snapshot";
const goesOn = "claimed: goes on from the mirror that is here";

/** A fleet whose company was read and released by a node that has ended. */
async function aReadFleet() {
  const fleet = await aWorkedFleet({ records: 1 });
  await fleet.add("acme", little);
  const one = await startNode(fleet, "one");
  await eventually(() => one.said("acme").includes(released), "a release");
  await one.stop();
  return fleet;
}

describeWithPostgres("a node", () => {
  test("releases a company with nothing to do, has it looked at when its schedule comes, and goes on from its file", async () => {
    const fleet = await aWorkedFleet({ records: 1 });
    await fleet.add("acme", { schedule: { sync: "15 2 * * *", publish: "off", timezone: "Asia/Tokyo" } });
    const node = await startNode(fleet, "one");
    await eventually(() => node.said("acme").includes(released), "a release");
    await eventually(async () => (await fleet.ownerOf("acme")) === null, "no owner");
    expectEqual(node.company);
    expect((await fleet.tables.snapshots.current("acme"))?.seq).toBe(
      inMirror(node.company, "SELECT max(seq) FROM _changes"),
    );
    const slot = async () => {
      const [later] = await fleet.postgres.query<{ at: Date }>(
        "SELECT start_after AS at FROM pgboss.job WHERE name = 'later' AND state = 'created'",
      );
      return later?.at.toLocaleTimeString("sv", { timeZone: "Asia/Tokyo", timeStyle: "short" });
    };
    await expect.poll(slot).toBe("02:15");
    await fleet.engine.send("events", ["acme"]);
    await eventually(() => node.said("acme").includes(goesOn), "the company, claimed again");
    expect(wholeRuns(node.company)).toBe(1);
  });

  test("publishes no report that is ahead of its snapshot, applies a changed config, and lets go of a company that left the fleet", async () => {
    const fleet = await aWorkedFleet({ records: 1 });
    await fleet.add("acme", little);
    const published: (number | undefined)[] = [];
    const report = async () => {
      published.push((await fleet.tables.snapshots.current("acme"))?.seq);
      return null;
    };
    const node = await startNode(fleet, "one", { times: { idleMs: 600_000 }, publish: { report } });
    await eventually(() => published.length > 0, "a report");
    // Else the next owner's changes would get numbers that readers have seen.
    expect(published).toEqual([inMirror(node.company, "SELECT max(seq) FROM _changes")]);
    const counts = () => node.node.assignments.counts;
    await eventually(() => counts().snapshots.published === 1, "a snapshot that counts while it is held");
    expect(node.node.assignments.requests["200"]).toBeGreaterThan(0);
    await fleet.add("acme", { ...little, language: "sk" });
    const opened = () => node.said("acme").filter((message) => message.startsWith("the mirror is open"));
    await eventually(() => opened().length === 2, "a mirror that was opened anew");
    await fleet.tables.companies.remove("acme");
    await eventually(async () => (await fleet.ownerOf("acme")) === null, "no owner");
    await eventually(() => node.node.assignments.size === 0, "nothing held");
    await fleet.engine.send("run", ["acme"]);
    await eventually(() => node.node.assignments.counts.claims.removed > 0, "a claim that was refused");
  });

  test("that releases a company before it has read its changed config has it taken again at once", async () => {
    const fleet = await aWorkedFleet({ records: 1 });
    const nightly = { ...little, schedule: { sync: "15 2 * * *", publish: "off" } };
    await fleet.add("acme", nightly);
    const { node, said } = await startNode(fleet, "one", { times: { idleMs: 600_000, configMs: 600_000 } });
    const opened = () => said("acme").filter((message) => message.startsWith("the mirror is open"));
    const hasNothingToDo = () => {
      const [nextMs] = node.assignments.all().map(({ supervisor }) => supervisor.nextWorkMs());
      return typeof nextMs === "number" && nextMs > Date.now();
    };
    await eventually(hasNothingToDo, "nothing to do");
    await fleet.add("acme", { ...nightly, language: "sk" });
    const jobs = "SELECT FROM pgboss.job WHERE name = 'run' AND state <> 'completed'";
    await expect.poll(() => fleet.postgres.query(jobs)).toEqual([]);
    for (const assignment of node.assignments.all()) assignment.release("the test asks for it");
    await eventually(() => opened().length === 2, "the company, claimed again");
  });

  test("that is drained releases everything and takes nothing more; another one goes on where it was", async () => {
    const fleet = await aWorkedFleet({ records: 1 });
    const { proxy } = fleet.company;
    proxy.obstruct(async (_, passOn) => {
      await pause(100);
      return passOn();
    });
    await fleet.add("acme", { rate_limit: { window: "1s" } });
    const one = await startNode(fleet, "one");
    await eventually(() => proxy.asked.length > 20, "a run under way");
    expect(await fleet.tables.nodes.drain("one")).toBe(true);
    await eventually(async () => (await fleet.ownerOf("acme")) === null, "no owner");
    const two = await startNode(fleet, "two");
    await eventually(() => wholeRuns(two.company) === 1, "the run, ended by the other node");
    expectEqual(two.company);
    expect(one.node.assignments.counts.claims).toMatchObject({ claimed: 1, owned: 0 });
  });

  test("that releases a company unpublished leaves a job that is due at once: the next one has to read it again", async () => {
    const fleet = await aWorkedFleet({ records: 1 });
    const snapshots = path.join(fleet.company.folder, "snapshots");
    mkdirSync(snapshots);
    writeFileSync(path.join(snapshots, "acme"), "no folder");
    await fleet.add("acme", { ...little, schedule: { sync: "15 2 * * *", publish: "off" } });
    const node = await startNode(fleet, "one");
    await eventually(() => node.said("acme").includes("the snapshot could not be published"), "a failure");
    expect(await fleet.tables.nodes.drain("one")).toBe(true);
    await eventually(() => node.node.assignments.size === 0, "nothing held");
    const due = await fleet.postgres.query(
      "SELECT name FROM pgboss.job WHERE name = 'later' AND state = 'created' AND start_after <= now()",
    );
    expect(due).toHaveLength(1);
  });

  test("that cannot stop a company's work in order gives the company back all the same", async () => {
    const fleet = await aWorkedFleet({ records: 1 });
    await fleet.add("acme", { ...little, schedule: { sync: "15 2 * * *", publish: "off" } });
    const { node, said } = await startNode(fleet, "one", { times: { idleMs: 600_000 } });
    await eventually(() => node.assignments.all().length === 1, "a company that is held");
    for (const assignment of node.assignments.all()) {
      vi.spyOn(assignment.supervisor, "stop").mockRejectedValueOnce(new Error("a broken file"));
      assignment.release("the test asks for it");
      expect(await assignment.ended).toMatchObject({ outcome: "failed" });
    }
    expect(said("acme")).toContain("a broken file");
  });

  test("with two new tokens of one company of the service asks with both only whose they are, and reads one after the other", async () => {
    const fleet = await aWorkedFleet({ records: 1 });
    const { proxy } = fleet.company;
    const schedule = { sync: "15 2 * * *", publish: "off" };
    const documents = { acme: { language: "en" }, twin: { language: "sk" } };
    for (const [name, more] of Object.entries(documents))
      await fleet.add(name, { schedule, rate_limit: { window: "1s" }, ...more });
    proxy.obstruct(async (_, passOn) => {
      await pause(30);
      return passOn();
    });
    const node = await startNode(fleet, "one");
    const isRead = async (name: string) => (await fleet.tables.snapshots.current(name))?.facts["last_run"];
    await eventually(async () => Boolean((await isRead("acme")) && (await isRead("twin"))), "both, read");
    const readers = proxy.asked
      .filter((request) => request.path !== "/whoami")
      .map(({ headers }) => headers["accept-language"]);
    const turns = readers.filter((reader, index) => reader !== readers[index - 1]);
    expect(turns).toHaveLength(2);
    expect(node.node.assignments.counts.ends.failed).toBe(0);
  });

  test("looks at a company again and again while another one of its account is owned, and reads it then", async () => {
    const fleet = await aWorkedFleet({ records: 1 });
    await fleet.add("acme", little);
    await fleet.tables.companies.put("twin", {});
    await fleet.postgres.query("UPDATE fintoro_mirror.companies SET account = 'of both'");
    await fleet.tables.owners.claim("twin", "other", 600_000);
    const node = await startNode(fleet, "one");
    await eventually(() => node.node.assignments.counts.claims.account > 2, "claims that were refused");
    await fleet.postgres.query("UPDATE fintoro_mirror.owners SET node = NULL, expires_at = now()");
    await eventually(() => wholeRuns(node.company) === 1, "the run");
  });

  // Fault: process | the nodes that hold a company die one after another | owners that renew no more, and a node after them | it leaves the company alone and works on, and fleet status names it
  test("leaves a company alone that the last three nodes died of, and works on", async () => {
    const fleet = await aWorkedFleet({ records: 1, companies: 2 });
    for (const [index, name] of ["acme", "beta"].entries()) await fleet.add(name, little, index);
    for (const dying of ["one", "two", "three"]) {
      await fleet.tables.owners.claim("acme", dying, 60_000);
      await fleet.postgres.query("UPDATE fintoro_mirror.owners SET expires_at = now() - interval '1 second'");
    }
    const { node, said } = await startNode(fleet, "four");
    const isSaid = () => said("acme").some((message) => message.endsWith("it is left alone for a while"));
    await eventually(isSaid, "what it does not take");
    const refused = () => node.assignments.counts.claims.set_aside;
    const before = refused();
    // One that is sent while the job before it ends may count as that one.
    const isRefused = async () => {
      await fleet.engine.send("run", ["acme"]);
      return refused() > before;
    };
    await eventually(isRefused, "a claim that was refused");
    await eventually(async () => (await fleet.tables.snapshots.current("beta")) !== null, "beta's snapshot");
    const { companies } = await readFleetStatus(fleet.postgres, null);
    expect(companies["acme"]).toMatchObject({ epoch: 3, held: false, problems: [{ kind: "nodes_died" }] });
    expect(companies["beta"]?.problems).toEqual([]);
  });

  test("believes no damaged snapshot: it says so, sends nothing, and goes on when the file is brought back", async () => {
    const fleet = await aReadFleet();
    const { proxy, folder } = fleet.company;
    const pointer = await fleet.tables.snapshots.current("acme");
    const file = path.join(folder, "snapshots", `acme/e${pointer?.epoch}/${pointer?.id}.db.zst`);
    const stored = readFileSync(file);
    writeFileSync(file, stored.subarray(0, stored.length / 2));
    const asked = proxy.asked.length;
    await fleet.engine.send("events", ["acme"]);
    const two = await startNode(fleet, "two");
    const isSaid = () => two.said("acme").some((message) => message.includes("is lost or damaged"));
    await eventually(isSaid, "what is wrong");
    expect(await fleet.tables.snapshots.current("acme")).toEqual(pointer);
    expect([existsSync(two.company.file), proxy.asked.length]).toEqual([false, asked]);
    writeFileSync(file, stored);
    await eventually(() => two.said("acme").includes(restored), "the snapshot, restored");
  });

  // Fault: clock | the node that had a forgotten company had a clock that was ahead | another node begins the company anew | another log, whose numbers are above all that were published
  test("reads a company anew whose snapshot is lost for good, once it was forgotten and added again", async () => {
    const fleet = await aReadFleet();
    rmSync(path.join(fleet.company.folder, "snapshots"), { recursive: true });
    const logs = "SELECT DISTINCT log, min(seq) AS first FROM fintoro_mirror.changes GROUP BY log";
    const [before] = await fleet.postgres.query<{ log: string; first: number }>(logs);
    const last = 10 ** 15;
    await fleet.postgres.query("UPDATE fintoro_mirror.snapshots SET seq = $1", [last]);
    await fleet.tables.companies.remove("acme");
    expect(await forgetCompany(fleet.postgres, "acme")).toBe("forgotten");
    await fleet.add("acme", little);
    const two = await startNode(fleet, "two");
    await eventually(() => two.said("acme").includes(released), "a release");
    expectEqual(two.company, { tables: ["clients"] });
    const [after, ...more] = await fleet.postgres.query<{ log: string; first: number }>(logs);
    expect(more).toEqual([]);
    expect(after?.log).not.toBe(before?.log);
    expect(after?.first).toBeGreaterThan(last);
  });

  test("removes a report of a company that was lost while it was made: the next owner changes other things", async () => {
    const fleet = await aWorkedFleet({ records: 1 });
    await fleet.add("acme", little);
    const [made, lost] = [Promise.withResolvers<string>(), Promise.withResolvers<undefined>()];
    const afterRun: HostContext["afterRun"] = async ({ config, company }) => {
      const { report } = mirrorFiles(config, company.name);
      await lost.promise;
      writeFileSync(report, "of changes that nobody published");
      made.resolve(report);
      return null;
    };
    const node = await startNode(fleet, "one", { afterRun });
    await eventually(() => node.said("acme").includes("a run ended"), "a run");
    await fleet.postgres.query("UPDATE fintoro_mirror.owners SET epoch = epoch + 1, node = 'two'");
    await eventually(() => node.node.assignments.counts.ends.lost === 1, "a loss");
    lost.resolve(undefined);
    const report = await made.promise;
    await eventually(() => !existsSync(report), "no report");
  });

  test("whose file of a company is damaged gives the company back, and goes on from the snapshot", async () => {
    const fleet = await aWorkedFleet({ records: 1 });
    await fleet.add("acme", little);
    const node = await startNode(fleet, "one", { times: { openMs: 1_500 } });
    await eventually(() => node.said("acme").includes(released), "a release");
    await eventually(() => node.node.assignments.size === 0, "nothing held");
    damageTable(node.company, "_work");
    await fleet.engine.send("events", ["acme"]);
    await eventually(() => node.said("acme").includes(goesOn), "a claim");
    await eventually(() => node.said("acme").includes(restored), "the snapshot, restored");
    const releases = () => node.said("acme").filter((message) => message === released);
    await eventually(() => releases().length > 1, "a release");
    expectEqual(node.company, { tables: ["clients"] });
  });
});
