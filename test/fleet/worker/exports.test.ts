import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { mirrorFiles } from "../../../src/store/mirror-files.ts";
import type { HostProcess } from "../../../src/host/host-context.ts";
import { exportTables } from "../../../src/export/export-tables.ts";
import { readManifest } from "../../../src/export/files/export-manifest.ts";
import { wholeRuns } from "../../support/company/served-company.ts";
import { exportStep, recordStep } from "../../../src/status/after-run-record.ts";
import { eventually } from "../../support/eventually.ts";
import { exportParts, plainRequest } from "../../support/export/export-request.ts";
import { startNode } from "../../support/fleet/short-node.ts";
import { aWorkedFleet, little, startWorker } from "../../support/fleet/worker.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { tempFolder } from "../../support/temporary-folder.ts";

/** A company with an export of its clients to a folder that all nodes share. */
async function aFleet() {
  const fleet = await aWorkedFleet({ records: 1 });
  const place = tempFolder();
  const entry = { format: "csv", out: place, after: "sync", tables: ["clients"] };
  await fleet.add("acme", { ...little, schedule: { publish: "off" }, exports: [entry] });
  /** Waits until a node has released the company so many times. */
  const untilReleased = async ({ said }: Pick<Awaited<ReturnType<typeof startNode>>, "said">, times = 1) => {
    const begun = () => said("acme").filter((one) => one === "the company is being released").length;
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
    const { fleet, untilReleased, publishedSeq, sent } = await aFleet();
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
    const { fleet, place } = await aFleet();
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
    expect(existsSync(path.join(place, "acme"))).toBe(false);
  });

  // Fault: fleet | an export cannot be sent | a folder in the place of its file, on a node that releases the company afterwards | the last snapshot says so, for `fleet status`
  test("that cannot be sent are a fact of the last snapshot", async () => {
    const { fleet, place, untilReleased } = await aFleet();
    mkdirSync(path.join(place, "acme/clients.csv/obstacle"), { recursive: true });
    await untilReleased(await startNode(fleet, "one", { afterRun: aMaker().afterRun }));
    const facts = JSON.stringify((await fleet.tables.snapshots.current("acme"))?.facts);
    expect(facts).toContain(`not made after the last run: csv ${place}: it could not be sent`);
  });

  // Fault: fleet | the owner is killed after a run, before its exports are sent | process `worker` by SIGKILL | the next owner makes and sends them
  test("are made and sent by the next owner where the one before was killed", async () => {
    const { fleet, place, sent } = await aFleet();
    const one = await startWorker(fleet, "one");
    await eventually(
      async () => (await sent()) !== null,
      () => `an export: ${one.said().join("; ")}`,
    );
    const before = await sent();
    await one.end("SIGKILL");
    // As it was a moment earlier.
    rmSync(path.join(place, "acme"), { recursive: true });
    await fleet.postgres.query("UPDATE fintoro_mirror.alerts SET steps = NULL");
    const two = await startWorker(fleet, "two");
    await fleet.engine.send("events", ["acme"]);
    await eventually(
      async () => (await sent()) !== null,
      () => `an export: ${two.said().join("; ")}`,
    );
    const [first] = before?.files ?? [];
    expect((await sent())?.files[0]?.sha256).toBe(first?.sha256);
    expect((await two.end("SIGTERM")).code).toBe(0);
  });
});
