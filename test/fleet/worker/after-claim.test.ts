import { expect, test } from "vitest";
import { mirrorFiles } from "../../../src/store/mirror-files.ts";
import type { HostContext } from "../../../src/host/host-context.ts";
import { recordStep, stepsAfterRun } from "../../../src/status/after-run-record.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { startNode } from "../../support/fleet/short-node.ts";
import { eventually } from "../../support/eventually.ts";
import { aWorkedFleet, little } from "../../support/fleet/worker.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { wholeRuns } from "../../support/company/served-company.ts";
import { look } from "../../support/truth/compare.ts";

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
async function aFleet(schedule: object = {}) {
  const fleet = await aWorkedFleet({ records: 1 });
  await fleet.add("acme", { ...little, schedule: { sync: "15 2 * * *", ...schedule } });
  return { fleet, reports: tempFolder() };
}

describeWithPostgres("after a claim", () => {
  // Fault: fleet | a node ends after a run, before report and Parquet files are made | what follows runs, on the node | the next owner makes all of it at once
  test("what follows the last run is made at once where the owner before did not make it", async () => {
    const { fleet, reports } = await aFleet();
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
    const { fleet, reports } = await aFleet();
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
    const { fleet, reports } = await aFleet({ publish_every: "1s" });
    const reporter = aReporter();
    const answers = ["the store is away", null];
    const publishReport = () => Promise.resolve(answers.shift() ?? null);
    const publish = { report: publishReport };
    await startNode(fleet, "one", { afterRun: reporter.afterRun, publish, reports });
    await eventually(() => answers.length === 0, "two publications");
    expect(reporter.asked).toEqual(["all", "report"]);
  });
});
