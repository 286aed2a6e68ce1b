import { expect, test } from "vitest";
import { startNode } from "../../support/fleet/short-node.ts";
import { eventually } from "../../support/eventually.ts";
import { aWorkedFleet, little } from "../../support/fleet/worker.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { inMirror } from "../../support/company/served-company.ts";
import { backupStep, recordStep } from "../../../src/status/after-run-record.ts";
import { openSink, type Received } from "../../support/sandbox/webhook-sink.ts";
import { tempFolder } from "../../support/temporary-folder.ts";

const release = "the company is being released";
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
    await eventually(() => two.said("acme").includes(release), "a release");
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
    const released = () => node.said("acme").filter((message) => message === release).length;
    await eventually(() => asked.length > 0, "a backup");
    expect(asked[0]).toBe(backup.to);
    await eventually(() => released() > releases, "a release");
    const { facts } = (await fleet.tables.snapshots.current("acme")) ?? {};
    expect(facts).toMatchObject({ summary: { conditions: [{ kind: "failed", subject: "after_run" }] } });
    expect((await fleet.tables.companies.notesOf("acme")).steps).toMatchObject({ backup: failed });
  });
});
