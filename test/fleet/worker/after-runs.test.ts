import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { exportTables } from "../../../src/export/export-tables.ts";
import { readManifest } from "../../../src/export/files/export-manifest.ts";
import { mirrorFiles } from "../../../src/store/mirror-files.ts";
import type { HostContext, HostProcess } from "../../../src/host/host-context.ts";
import { recordStep, stepsAfterRun, exportStep, backupStep } from "../../../src/status/after-run-record.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { eventually } from "../../support/eventually.ts";
import { aWorkedFleet, little, startNode } from "../../support/fleet/worker.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { wholeRuns, inMirror } from "../../support/company/served-company.ts";
import { look } from "../../support/truth/compare.ts";
import { exportParts, plainRequest } from "../../support/export/export-request.ts";
import { openSink, type Received } from "../../support/sandbox/webhook-sink.ts";

const releasing = "the company is being released";
const goesOn = "claimed: goes on from the mirror that is here";

/** Stands in for what follows runs: notes what it was asked for, and records that all of it shows all changes. */
function aReporter() {
  const asked: string[] = [];
  const afterRun: HostContext["afterRun"] = async ({ config, company }, scope) => {
    asked.push(scope);
    const { afterRun: file, mirror } = mirrorFiles(config, company.name);
    const nowMs = Date.now();
    const seq = look(mirror, (db) => Number(db.prepare("SELECT max(seq) FROM _changes").pluck().get()));
    const result = { outcome: "written", error: null, seq } as const;
    for (const step of stepsAfterRun(config)) recordStep(file, step, result, nowMs, nowMs);
    return null;
  };
  return { asked, afterRun };
}

/** A company that is read nightly, and where reports are published. */
async function aReportedFleet(schedule: object = {}) {
  const fleet = await aWorkedFleet({ records: 1 });
  await fleet.add("acme", { ...little, schedule: { sync: "15 2 * * *", ...schedule } });
  return { fleet, reports: tempFolder() };
}

describeWithPostgres("after a claim", () => {
  // Fault: fleet | a node ends after a run, before report, Parquet files and exports are made | what follows runs, on the node | the next owner makes all of it at once
  test("what follows the last run is made at once where the owner before did not make it", async () => {
    const { fleet, reports } = await aReportedFleet();
    const one = await startNode(fleet, "one", { reports });
    await eventually(() => wholeRuns(one.company) === 1, "a run");
    await one.stop();
    const two = aReporter();
    await startNode(fleet, "two", { afterRun: two.afterRun, reports });
    await eventually(() => two.asked.length > 0, "what follows the run");
    expect(two.asked).toEqual(["all"]);
  });

  // Fault: fleet | a node ends after the report was made, before it is published, or cannot publish it | between the two, on the node that claims the company again | judged by what is published: the report is made and published
  test.each([
    ["the node ended before", () => Promise.reject(new Error("the node ends"))],
    ["the store was away", () => Promise.resolve("the store is away")],
  ])("what counts is what was published, also where it was made on this node: %s", async (_, report) => {
    const { fleet, reports } = await aReportedFleet();
    const reporter = aReporter();
    const publish = { report };
    const one = await startNode(fleet, "one", { afterRun: reporter.afterRun, publish, reports });
    await eventually(() => reporter.asked.length === 1, "what follows the run");
    await eventually(async () => (await fleet.ownerOf("acme")) === null, "no owner");
    await fleet.engine.send("events", ["acme"]);
    await eventually(() => one.said("acme").includes(goesOn), "a claim");
    await eventually(() => reporter.asked.length === 2, "the report, again");
    expect(wholeRuns(one.company)).toBe(1);
  });

  // Fault: fleet | the store of reports is away | the first publication of a node | recorded as failed, and published when `schedule.publish_every` has passed
  test("a report that could not be published is published later, without a change", async () => {
    const { fleet, reports } = await aReportedFleet({ publish_every: "1s" });
    const reporter = aReporter();
    const answers = ["the store is away", null];
    const publishReport = () => Promise.resolve(answers.shift() ?? null);
    const publish = { report: publishReport };
    await startNode(fleet, "one", { afterRun: reporter.afterRun, publish, reports });
    await eventually(() => answers.length === 0, "two publications");
    expect(reporter.asked).toEqual(["all", "report"]);
  });
});

/** A company with an export of its clients to a folder that all nodes share. */
async function anExportedFleet() {
  const fleet = await aWorkedFleet({ records: 1 });
  const place = tempFolder();
  const entry = { format: "csv", out: place, after: "sync", tables: ["clients"] };
  await fleet.add("acme", { ...little, schedule: { publish: "off" }, exports: [entry] });
  const untilReleased = async ({ said }: Pick<Awaited<ReturnType<typeof startNode>>, "said">, times = 1) => {
    const begun = () => said("acme").filter((one) => one === releasing).length;
    await eventually(() => begun() === times, "the begin of a release");
    await eventually(async () => (await fleet.ownerOf("acme")) === null, "a release");
  };
  const publishedSeq = async () => (await fleet.tables.snapshots.current("acme"))?.seq ?? 0;
  return {
    fleet,
    place,
    untilReleased,
    publishedSeq,
    sent: () => readManifest(`${place}/acme/manifest.json`),
  };
}

/** Makes the export as `after-run` does, and counts how often. */
function aMaker() {
  const made = { count: 0 };
  const afterRun: HostProcess["afterRun"] = async ({ config, company }, scope) => {
    const [entry] = config.exports;
    if (scope !== "all" || !entry) return null;
    made.count++;
    const { mirror, afterRun: file } = mirrorFiles(config, company.name);
    const request = { ...plainRequest, tables: entry.tables ?? [], out: entry.out };
    const { manifest: of } = await exportTables(exportParts(mirror, declaration), request);
    const result = { outcome: "written", error: null, seq: of.seq } as const;
    recordStep(file, exportStep(entry, config), result, Date.now(), Date.now());
    return null;
  };
  return { made, afterRun };
}

describeWithPostgres("exports of a company of the fleet", () => {
  test("are sent after a run, once a snapshot has what they show, and not again by the next owner", async () => {
    const { fleet, untilReleased, publishedSeq, sent } = await anExportedFleet();
    const { made, afterRun } = aMaker();
    const one = await startNode(fleet, "one", { afterRun });
    await untilReleased(one);
    const manifestOf = await sent();
    expect(manifestOf?.files.map(({ file }) => file)).toEqual(["clients.csv"]);
    expect(manifestOf?.seq).toBeLessThanOrEqual(await publishedSeq());
    await fleet.engine.send("events", ["acme"]);
    await untilReleased(one, 2);
    expect(made.count).toBe(wholeRuns(one.company));
  });

  // Fault: fleet | the store of snapshots is away after a run | the folder of snapshots, before exports are sent | no export is sent that is ahead of the published snapshot
  test("are not sent while no snapshot can be published", async () => {
    const { fleet, place } = await anExportedFleet();
    const { afterRun } = aMaker();
    const snapshots = path.join(fleet.company.folder, "snapshots");
    const node = await startNode(fleet, "one", {
      afterRun: async (...asked) => {
        rmSync(snapshots, { recursive: true });
        writeFileSync(snapshots, "");
        return afterRun(...asked);
      },
    });
    const refusal = `an export could not be sent: csv ${place}`;
    await eventually(() => node.said("acme").includes(refusal), "a refusal");
    expect(path.join(place, "acme")).not.toSatisfy(existsSync);
  });

  // Fault: fleet | an export cannot be sent | a folder in the place of its file, on a node that releases the company afterwards | the last snapshot says so, for `fleet status`
  test("that cannot be sent are a fact of the last snapshot", async () => {
    const { fleet, place, untilReleased } = await anExportedFleet();
    mkdirSync(path.join(place, "acme/clients.csv/obstacle"), { recursive: true });
    await untilReleased(await startNode(fleet, "one", { afterRun: aMaker().afterRun }));
    const facts = JSON.stringify((await fleet.tables.snapshots.current("acme"))?.facts);
    expect(facts).toContain(`not made after the last run: csv ${place}: it could not be sent`);
  });
});

const seqOf = ({ json }: Received) => (json["data"] as { readonly seq: number }).seq;

describeWithPostgres("a company of the fleet", () => {
  // Fault: fleet | a node releases a company whose changes it has sent | before another one takes it | the other one sends none of them again, and none was sent that no snapshot had
  test("sends its changes as serve does: all before its release, none before a snapshot has it, and none again by the next node", async () => {
    const [fleet, sink] = [await aWorkedFleet({ records: 1 }), await openSink()];
    const ahead: number[] = [];
    const taken: number[] = [];
    sink.treat(async (request, index) => {
      const published = (await fleet.tables.snapshots.current("acme"))?.seq ?? 0;
      if (seqOf(request) > published) ahead.push(seqOf(request));
      // Longer than a node waits for more to do.
      if (index < 2) return 500;
      taken.push(seqOf(request));
      return 204;
    });
    const notify = [{ url: sink.url, secret: `whsec_${"A".repeat(32)}`, allow_private: "on" }];
    await fleet.add("acme", { ...little, notify });
    const hasReleased = async () => (await fleet.ownerOf("acme")) === null;
    const one = await startNode(fleet, "one");
    await eventually(() => sink.received.length > 0, "a change");
    await eventually(hasReleased, "a release");
    await one.stop();
    const all = inMirror(one.company, "SELECT json_group_array(seq) FROM _changes");
    expect(JSON.stringify(taken)).toBe(all);

    const two = await startNode(fleet, "two");
    await fleet.engine.send("events", ["acme"]);
    await eventually(() => two.said("acme").includes("claimed: restored from a snapshot"), "a restore");
    await eventually(() => two.said("acme").includes(releasing), "a release");
    await eventually(hasReleased, "no owner");
    expect(JSON.stringify(taken)).toBe(all);
    expect(ahead).toEqual([]);
  });

  // Fault: fleet | the place of backups is away | a backup by its schedule, of a company that a node holds | tried again where it is held, and the company is released all the same, with the failure in its snapshot and for its next owner
  test("is backed up by its schedule, and kept from no other node by a backup that fails, which is known afterwards", async () => {
    const fleet = await aWorkedFleet({ records: 1 });
    const backup = { to: tempFolder(), schedule: "*/10 * * * * *" };
    await fleet.add("acme", { ...little, backup });
    const failed = { outcome: "failed", error: "the place of backups is away", seq: null } as const;
    const asked: (string | null)[] = [];
    let releases = 0;
    const node = await startNode(fleet, "one", {
      afterRun: async ({ config, files }, scope) => {
        if (scope !== "backup") return null;
        asked.push(config.backup.to);
        if (asked.length === 1) releases = released();
        recordStep(files.afterRun, backupStep, failed, Date.now(), Date.now());
        return null;
      },
    });
    const released = () => node.said("acme").filter((message) => message === releasing).length;
    await eventually(() => asked.length > 0, "a backup");
    expect(asked[0]).toBe(backup.to);
    await eventually(() => released() > releases, "a release");
    const { facts } = (await fleet.tables.snapshots.current("acme")) ?? {};
    expect(facts).toMatchObject({ summary: { conditions: [{ kind: "failed", subject: "after_run" }] } });
    expect((await fleet.tables.companies.notesOf("acme")).steps).toMatchObject({ backup: failed });
  });
});
