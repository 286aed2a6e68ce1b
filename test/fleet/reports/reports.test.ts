import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { mirrorFiles, type MirrorFiles } from "../../../src/config/mirror-files.ts";
import { publishReports } from "../../../src/fleet/reports/publish-reports.ts";
import type { ReportQuestion } from "../../../src/connector/report-view.ts";
import type { Ownership } from "../../../src/fleet/ownership/ownership.ts";
import type { Mirror } from "../../../src/state/mirror.ts";
import { duckRows, exportOf } from "../../support/export/export.ts";
import { openFleet, type Fleet } from "../../support/fleet/fleet.ts";
import { leaseOf } from "../../support/fleet/node.ts";
import { aFileStore, storeKinds, type StoreKind, type TestStore } from "../../support/file-store.ts";
import { openHasty, tempFolder } from "../../support/mirror/mirror.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { publish } from "../../support/export/published.ts";
import { put, rejectionOf } from "../../support/mirror/store.ts";

interface TestLake extends Fleet, TestStore {
  /** Publishes what stands in these files, as the owner. */
  publish(
    ownership: Ownership,
    files: MirrorFiles,
    schedule?: Parameters<typeof publishReports>[1],
    store?: Parameters<typeof publishReports>[3],
  ): ReturnType<typeof publishReports>;
}

/** Postgres, and a store for reports. */
async function aLake(kind: StoreKind = "folder"): Promise<TestLake> {
  const fleet = await openFleet();
  const stored = await aFileStore(kind);
  const signal = new AbortController().signal;
  return {
    ...fleet,
    ...stored,
    publish: (ownership, files, schedule = { publish: "after_sync" }, store = stored.store) =>
      publishReports(ownership, schedule, files, store, fleet.reports, signal),
  };
}

interface TestCompany {
  readonly mirror: Mirror;
  readonly files: MirrorFiles;
  /** What follows a run: report and Parquet files. */
  readonly make: (tables?: readonly string[]) => Promise<void>;
}

/** A company with so many people, on the disk of a node. */
async function aCompany(people: number, company = "acme", dataDir = tempFolder()): Promise<TestCompany> {
  const files = mirrorFiles({ dataDir, report: { out: null } }, company);
  const mirror = await openHasty({ path: files.mirror });
  for (let id = 1; id <= people; id++)
    put(mirror, "people", { id, name: `${company} ${id}`, email: null, score: 0.5 });
  const { manifest } = mirror;
  const make = async (tables: readonly string[] = []) => {
    await exportOf(mirror, { format: "parquet", company, tables, out: path.dirname(files.parquetFolder) });
    await publish(mirror, { manifest, company, report: files.report });
  };
  await make();
  return { mirror, files, make };
}

const peopleKey = "parquet/people/company=acme/data.parquet";
const reportKey = "report/acme.report.db";

describeWithPostgres("after a run", () => {
  test.each(storeKinds)(
    "the report and all tables are stored, and later what has changed: %s",
    async (kind) => {
      const lake = await aLake(kind);
      const owner = leaseOf(await lake.owned("acme"));
      const { mirror, files, make } = await aCompany(3);
      const first = await lake.publish(owner, files);
      expect(first?.written).toEqual(expect.arrayContaining([peopleKey, reportKey]));
      const row = await lake.reports.current("acme");
      expect(row).toMatchObject({ epoch: 1, seq: 3 });
      expect(Object.keys(row?.files ?? {}).toSorted()).toEqual([...(first?.written ?? [])].toSorted());
      for (const [key, { bytes }] of Object.entries(row?.files ?? {}))
        expect([key, readFileSync(lake.fileOf(key)).length]).toEqual([key, bytes]);
      expect(readFileSync(lake.fileOf(reportKey)).equals(readFileSync(files.report))).toBe(true);

      expect(await lake.publish(owner, files)).toBeNull();
      put(mirror, "people", { id: 9, name: "new", email: null, score: 1 });
      await make();
      expect(await lake.publish(owner, files)).toMatchObject({
        seq: 4,
        written: [reportKey, peopleKey],
        removed: [],
      });
      const names = await duckRows(`SELECT name FROM '${files.parquetFolder}/people.parquet' WHERE id = 9`);
      expect(names).toEqual([["new"]]);
      expect(await lake.reports.current("acme")).toMatchObject({ seq: 4 });
    },
  );

  test("what its questions say that concern everybody stands beside it, as of the report that is stored", async () => {
    const lake = await aLake();
    const owner = leaseOf(await lake.owned("acme"));
    const { mirror, files, make } = await aCompany(1);
    const questions: readonly ReportQuestion[] = [
      { name: "silent", title: "", doc: "", sql: "SELECT 1", inStatus: () => null },
      { name: "asked_only", title: "", doc: "", sql: "SELECT :name" },
      {
        name: "people",
        title: "",
        doc: "",
        sql: "SELECT count(*) AS people FROM people",
        inStatus: ({ people }) => `there are ${people}`,
      },
    ];
    const publishAgain = (schedule = { publish: "after_sync" }) =>
      publishReports(
        owner,
        schedule,
        files,
        lake.store,
        lake.reports,
        new AbortController().signal,
        questions,
      );
    const answers = async () => (await lake.reports.current("acme"))?.answers;
    await publishAgain();
    expect(await answers()).toEqual({ people: "there are 1" });
    put(mirror, "people", { id: 9, name: "new", email: null, score: 1 });
    expect(await answers()).toEqual({ people: "there are 1" });
    await make();
    await publishAgain();
    expect(await answers()).toEqual({ people: "there are 2" });
    await publishAgain({ publish: null } as never);
    expect(await answers()).toBeNull();
  });

  test("a table that is not mirrored any more disappears", async () => {
    const lake = await aLake();
    const owner = leaseOf(await lake.owned("acme"));
    const { files, make } = await aCompany(1);
    await lake.publish(owner, files);
    rmSync(files.parquetFolder, { recursive: true });
    await make(["people"]);
    const { removed } = (await lake.publish(owner, files)) ?? {};
    expect(removed).toContain("parquet/orders/company=acme/data.parquet");
    const stored = await lake.store.list("", new AbortController().signal);
    expect(stored.toSorted()).toEqual([peopleKey, reportKey]);
  });

  test("a report that this node has not made stays, and goes when the config asks for none", async () => {
    const lake = await aLake();
    const owner = leaseOf(await lake.owned("acme"));
    const { files } = await aCompany(1);
    await lake.publish(owner, files);
    rmSync(files.report);
    expect(await lake.publish(owner, files)).toBeNull();
    const silent = { publish: null };
    expect(await lake.publish(owner, files, silent)).toMatchObject({ removed: [reportKey], written: [] });
    expect(await lake.publish(owner, files, silent)).toBeNull();
  });

  // Fault: fleet | the owner is lost, and the next one has made the report only, after events | no Parquet files on the node | the report is stored, the Parquet files of the owner before stay
  test("Parquet files that this node has not made stay beside a new report", async () => {
    const lake = await aLake();
    const owner = leaseOf(await lake.owned("acme"));
    const { mirror, files, make } = await aCompany(1);
    await lake.publish(owner, files);
    const before = await lake.reports.current("acme");
    put(mirror, "people", { id: 9, name: "by an event", email: null, score: 1 });
    await make();
    rmSync(files.parquetFolder, { recursive: true });
    expect(await lake.publish(owner, files)).toMatchObject({ seq: 1, written: [reportKey], removed: [] });
    const after = await lake.reports.current("acme");
    expect(after?.files[peopleKey]).toEqual(before?.files[peopleKey]);
    expect(after?.files[reportKey]?.content).not.toBe(before?.files[reportKey]?.content);
  });

  test("nothing is stored before a run was followed by files", async () => {
    const lake = await aLake();
    const owner = leaseOf(await lake.owned("acme"));
    const files = mirrorFiles({ dataDir: tempFolder(), report: { out: null } }, "acme");
    expect(await lake.publish(owner, files)).toBeNull();
    expect(await lake.reports.current("acme")).toBeNull();
  });
});

describeWithPostgres("only the owner", () => {
  // Fault: fleet | a node publishes reports after another one has taken over its company | ownership expired in Postgres, still believed on the node | no file and no row changes
  test("replaces files: one of an older epoch changes nothing", async () => {
    const lake = await aLake();
    const [one, other] = [await aCompany(1), await aCompany(2)];
    const stale = leaseOf(await lake.owned("acme", "node-1"));
    await lake.publish(stale, one.files);
    await lake.expire("acme");
    await lake.publish(leaseOf(await lake.owned("acme", "node-2")), other.files);
    const before = await lake.reports.current("acme");
    put(one.mirror, "people", { id: 9, name: "late", email: null, score: 1 });
    await one.make();
    expect(await rejectionOf(lake.publish(stale, one.files))).toMatchObject({ kind: "locked" });
    expect(await lake.reports.current("acme")).toEqual(before);
    expect(
      readFileSync(lake.fileOf(peopleKey)).equals(
        readFileSync(`${other.files.parquetFolder}/people.parquet`),
      ),
    ).toBe(true);
  });

  // Fault: fleet | a node is lost while it publishes reports | after the first of several files | the next owner replaces every file that the lost one may have touched, also where its own has not changed
  test("is followed by one that replaces whatever a lost owner may have touched", async () => {
    const lake = await aLake();
    const { mirror, files, make } = await aCompany(1);
    await lake.publish(leaseOf(await lake.owned("acme", "node-1")), files);
    await lake.expire("acme");

    const lost = leaseOf(await lake.owned("acme", "node-2"));
    put(mirror, "people", { id: 9, name: "of the lost owner", email: null, score: 1 });
    await make();
    const { store } = lake;
    const dying = {
      ...store,
      put: async (...args: Parameters<typeof store.put>) => {
        const sent = await store.put(...args);
        if (args[0] === reportKey) lost.end("the node died");
        return sent;
      },
    };
    expect(await rejectionOf(lake.publish(lost, files, undefined, dying))).toMatchObject({ kind: "locked" });
    const torn = await lake.reports.current("acme");
    expect(torn).toMatchObject({ epoch: 2, seq: 1 });
    expect(torn?.files[reportKey]?.content).toBeNull();

    await lake.expire("acme");
    const again = await aCompany(1);
    const next = leaseOf(await lake.owned("acme", "node-3"));
    expect((await lake.publish(next, again.files))?.written).toEqual([reportKey, peopleKey]);
    expect(readFileSync(lake.fileOf(reportKey)).equals(readFileSync(again.files.report))).toBe(true);
  });
});

describeWithPostgres("one query", () => {
  test("reads all companies, also where one has a column more", async () => {
    const lake = await aLake();
    const dataDir = tempFolder();
    for (let each = 1; each <= 10; each++) {
      const company = `company-${each}`;
      const { mirror, files, make } = await aCompany(each, company, dataDir);
      if (each === 7) {
        put(mirror, "people", { id: 99, name: "x", email: null, score: 0.5, nickname: "seven" });
        await make();
      }
      await lake.publish(leaseOf(await lake.owned(company)), files);
      mirror.close();
    }
    const all = `read_parquet('${lake.folder}/parquet/people/*/data.parquet', hive_partitioning = true, union_by_name = true)`;
    expect(await duckRows(`SELECT count(DISTINCT company), count(*), sum(score) FROM ${all}`)).toEqual([
      ["10", "56", "28.000000"],
    ]);
    expect(await duckRows(`SELECT company, nickname FROM ${all} WHERE nickname IS NOT NULL`)).toEqual([
      ["company-7", "seven"],
    ]);
    expect(await duckRows(`SELECT count(*) FROM ${all} WHERE company = 'company-9'`)).toEqual([["9"]]);
  });
});
