import { hash } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { parseBackupManifest } from "../../../src/backup/stored-backups.ts";
import type { ArchiveCheck } from "../../../src/files/check-archive.ts";
import { readPackageStatus } from "../../../src/fleet/status/package-status.ts";
import { filesStep, recordStep } from "../../../src/status/after-run-record.ts";
import type { SnapshotSummary } from "../../../src/fleet/snapshot/snapshot-facts.ts";
import { eventually } from "../../support/eventually.ts";
import { filesIn } from "../../support/export/export.ts";
import {
  aWorkedFleet,
  little,
  startNode,
  startWorker,
  type WorkedFleet,
} from "../../support/fleet/worker.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { runCommand, temporaryFolder } from "../../support/program/cli.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { look } from "../../support/truth/compare.ts";

const isFile = (asked: string) => /\/(?:pdf|attachments)$/.test(asked);

const askedFiles = ({ company }: WorkedFleet) =>
  company.proxy.asked.map(({ path: asked }) => asked).filter(isFile);

const contentsIn = (folder: string) => filesIn(folder).map((file) => path.join(folder, file));

/** How many files the mirror in a backup knows, by the backup's manifest. */
const filesOf = (manifest: string) =>
  parseBackupManifest(readFileSync(manifest, "utf8"), manifest).rows["document_files"];

/** A command of an operator, whose config names the company and where its mirror and backups are. */
async function run({ company, secrets, url }: WorkedFleet, cwd: string, line: string, more: object) {
  const companies = { acme: { token: "${env:TOKEN0}" } };
  const config = { base_url: company.proxy.baseUrl, companies, ...more };
  const { code, stdout, stderr } = await runCommand([...line.split(" "), "--json"], {
    cwd: temporaryFolder({ "config.yaml": JSON.stringify({ data_dir: cwd, ...config }) }),
    env: { ...secrets, DATABASE_URL: url },
  });
  const said = JSON.parse(stdout === "" ? "{}" : stdout) as { companies?: { acme: ArchiveCheck } };
  return { code, stderr, acme: said.companies?.acme };
}

describeWithPostgres("the files of a company of the fleet", () => {
  // Fault: fleet | the owner is killed while it fetches files | process `worker` by SIGKILL | the next owner goes on with the chain that was published, and asks for none again that a snapshot has
  test("are fetched once by one owner after another, into one chain that checks, backups and packages read", async () => {
    const fleet = await aWorkedFleet({ records: 4, windowMs: 2_000 });
    const [reports, backups] = [tempFolder(), tempFolder()];
    await fleet.add("acme", {
      rate_limit: { window: "2s" },
      files: { pdf: "on", attachments: "on" },
      backup: { to: backups, schedule: "*/15 * * * * *", keep: 100 },
    });
    let asked = 0;
    const clear = fleet.company.proxy.obstruct(({ path: file }) =>
      isFile(file) && ++asked > 8 ? "hang" : undefined,
    );
    const summary = async () =>
      (await fleet.tables.snapshots.current("acme"))?.facts["summary"] as SnapshotSummary | undefined;
    const stored = async () => (await summary())?.files.stored ?? 0;
    const one = await startWorker(fleet, "one", { reports });
    const hasSome = async () => (await stored()) >= 4;
    await eventually(hasSome, () => `a snapshot with files: ${one.said().join("; ")}`);
    await one.end("SIGKILL");
    const before = await stored();
    clear();

    const two = await startWorker(fleet, "two", { reports });
    const isAll = async () => (await stored()) > before && (await summary())?.files.pending === 0;
    await eventually(isAll, () => `a snapshot with all files: ${two.said().join("; ")}`);
    const times = Object.values(Object.groupBy(askedFiles(fleet), (file) => file)).map((all) => all?.length);
    expect(times.filter((count) => count !== 1).length).toBeLessThanOrEqual(8 + 2 - before);
    const snapshots = path.join(fleet.company.folder, "snapshots");
    const contents = contentsIn(path.join(snapshots, ".files/acme/objects"));
    for (const file of contents) expect(hash("sha256", readFileSync(file))).toBe(path.basename(file));
    const folder = path.join(path.dirname(two.company.file), ".files/acme");
    await eventually(() => contentsIn(path.join(folder, "objects")).length === 0, "no content on the disk");

    const operator = { fleet: { postgres: "${env:DATABASE_URL}", snapshots } };
    const whole = { match: true, files: await stored(), contents: contents.length, lines: await stored() };
    expect(await run(fleet, tempFolder(), "files check", operator)).toMatchObject({ code: 0, acme: whole });

    const count = askedFiles(fleet).length;
    const sql = "SELECT substr(path, 1, 4) || '-' || substr(path, 6, 2) FROM document_files LIMIT 1";
    const month = look(two.company.file, (db) => db.prepare(sql).pluck().get()) as string;
    await fleet.tables.packages.ask(["acme"], month, false);
    const isPacked = async () =>
      (await readPackageStatus(fleet.postgres, month, ["acme"])).companies["acme"]?.outcome === "done";
    await eventually(isPacked, () => `a package: ${two.said().join("; ")}`);
    expect(askedFiles(fleet).length).toBe(count);

    const manifests = () => contentsIn(backups).filter((file) => path.basename(file) === "manifest.json");
    const isBackedUp = () => manifests().some((file) => filesOf(file) === whole.files);
    await eventually(isBackedUp, () => `a backup: ${two.said().join("; ")}`);
    expect((await two.end("SIGTERM")).code).toBe(0);
    const machine = tempFolder();
    await run(fleet, machine, `restore --from ${backups}`, {});
    expect(await run(fleet, machine, "files check", {})).toMatchObject({ code: 0, acme: whole });

    appendFileSync(contents[0] ?? "", "%");
    const { code, acme } = await run(fleet, tempFolder(), "files check", operator);
    expect([code, acme?.damaged.map(({ problem }) => problem)]).toEqual([1, ["changed"]]);
  });

  // Fault: fleet | files of a company take hours, and no place is free | a node with one place | others have it after a while, and the company is taken again for the rest
  test("keep no other company from its place", async () => {
    const fleet = await aWorkedFleet({ records: 1, companies: 2 });
    const fetched: string[] = [];
    let most = 0;
    const { node } = await startNode(fleet, "one", {
      capacity: 1,
      publish: {
        files: async ({ company: { name }, files }) => {
          // What was released takes no place, also while its jobs are given back.
          const owned = node.assignments.all().filter(({ lease }) => !lease.lost.aborted);
          most = Math.max(most, owned.length);
          if (fetched.at(-1) !== name) fetched.push(name);
          await pause(50);
          const step = { outcome: "written", error: null, seq: null } as const;
          recordStep(files.afterRun, filesStep, step, Date.now(), Date.now());
          return false;
        },
      },
    });
    const resources = { include: ["clients", "invoices"] };
    for (const [index, name] of ["acme", "beta"].entries())
      await fleet.add(name, { ...little, resources, files: { pdf: "on" } }, index);
    const turns = () => `turns: ${fetched.join()}`;
    await eventually(() => fetched.length >= 4, turns);
    expect(most).toBe(1);
  });
});
