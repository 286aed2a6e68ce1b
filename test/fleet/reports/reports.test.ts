import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { expect, test as plainTest } from "vitest";
import { MirrorError } from "../../../src/base/errors.ts";
import { mirrorFiles } from "../../../src/store/mirror-files.ts";
import type { ReportQuestion } from "../../../src/connector/report-view.ts";
import { rejectionOf } from "../../support/errors.ts";
import { duckRows, exportOf } from "../../support/export/export.ts";
import type { Fleet } from "../../support/fleet/fleet.ts";
import { leaseOf } from "../../support/fleet/node.ts";
import { aReportStore } from "../../support/fleet/readers.ts";
import { readText } from "../../../src/file-store/file-store.ts";
import { openHasty } from "../../support/mirror/mirror.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { publish } from "../../support/export/published.ts";
import { put } from "../../support/mirror/store.ts";

type TestLake = Awaited<ReturnType<typeof aReportStore>>;

/** With the first owner of `acme`. */
const test = plainTest
  .extend("lake", () => aReportStore())
  .extend("owner", async ({ lake }) => leaseOf(await lake.owned("acme")));

/** A company with so many people, on the disk of a node. */
async function aCompany(people: number) {
  const company = "acme";
  const files = mirrorFiles({ dataDir: tempFolder(), report: { out: null } }, company);
  const mirror = await openHasty({ path: files.mirror });
  for (let id = 1; id <= people; id++)
    put(mirror, "people", { id, name: `${company} ${id}`, email: null, score: 0.5 });
  const { declaration } = mirror;
  /** What follows a run: report and Parquet files. */
  const make = async (tables: readonly string[] = []) => {
    await exportOf(mirror, { format: "parquet", company, tables, out: path.dirname(files.parquetFolder) });
    await publish(mirror, { declaration, company, report: files.report });
  };
  await make();
  return { mirror, files, make };
}

/** The files that count, by name: as Postgres says, and as the pointer does. */
async function countingIn({ reports, store }: TestLake) {
  const files = (await reports.current("acme"))?.files ?? [];
  const text = await readText(store, pointerKey, signal);
  const pointed = JSON.parse(text ?? "[]") as { company: string; name: string; key: string }[];
  expect(pointed.map(({ company, key }) => [company, key])).toEqual(files.map(({ key }) => ["acme", key]));
  return Object.fromEntries(files.map((file) => [file.name, file]));
}

/** Lets a day and an hour pass for what does not count any more. */
const aDayLater = ({ set }: Fleet) =>
  set(
    "reports",
    "old = (SELECT coalesce(jsonb_object_agg(key, value::bigint - 90000001), '{}') FROM jsonb_each_text(old))",
  );

const storedIn = async ({ store }: TestLake) => (await store.list("", signal)).toSorted();

const { signal } = new AbortController();
const pointerKey = "pointers/acme.json";
const keyOf = (name: string, publication: string) => `company=acme/${name}/data-${publication}.parquet`;
const reportKeyOf = (publication: string) => `company=acme/report-${publication}.db`;

const inStatus: ReportQuestion["inStatus"] = ({ people }) => `there are ${people}`;

describeWithPostgres("after a run", () => {
  test("the report and all tables are stored, and later what has changed", async ({ lake, owner }) => {
    const { mirror, files, make } = await aCompany(3);
    const notYet = mirrorFiles({ dataDir: tempFolder(), report: { out: null } }, "acme");
    expect(await lake.publish(owner, notYet)).toBeNull();
    expect(await lake.reports.current("acme")).toBeNull();
    const first = await lake.publish(owner, files);
    expect(first?.written).toEqual(expect.arrayContaining([keyOf("people", "1-1"), reportKeyOf("1-1")]));
    expect(await lake.reports.current("acme")).toMatchObject({ epoch: 1, number: 1, seq: 3 });
    const counting = await countingIn(lake);
    expect(Object.values(counting).map(({ key }) => key)).toEqual((first?.written ?? []).toSorted());
    for (const { key, bytes } of Object.values(counting))
      expect([key, readFileSync(lake.fileOf(key)).length]).toEqual([key, bytes]);
    expect(counting["people"]).toMatchObject({ number: 1, rows: 3, seq: 3 });
    expect(counting["people"]?.columns).toContainEqual({ name: "score", type: "DECIMAL(18,6)" });
    const report = readFileSync(lake.fileOf(reportKeyOf("1-1")));
    expect(report.equals(readFileSync(files.report))).toBe(true);

    expect(await lake.publish(owner, files)).toBeNull();
    put(mirror, "people", { id: 9, name: "new", email: null, score: 1 });
    await make();
    const written = [reportKeyOf("1-2"), keyOf("people", "1-2")];
    expect(await lake.publish(owner, files)).toMatchObject({ seq: 4, written, removed: [] });
    const names = await duckRows(`SELECT name FROM '${files.parquetFolder}/people.parquet' WHERE id = 9`);
    expect(names).toEqual([["new"]]);
    const { people, orders } = await countingIn(lake);
    expect([people?.key, people?.seq]).toEqual([keyOf("people", "1-2"), 4]);
    expect([orders?.key, orders?.seq]).toEqual([keyOf("orders", "1-1"), 4]);
    expect(readFileSync(lake.fileOf(reportKeyOf("1-1"))).equals(report)).toBe(true);
  });

  test("what its questions say in status stands beside it, as of what is stored", async ({ lake, owner }) => {
    const { mirror, files, make } = await aCompany(1);
    const texts = { title: "", doc: "" };
    const questions: readonly ReportQuestion[] = [
      { ...texts, name: "silent", sql: "SELECT 1", inStatus: () => null },
      { ...texts, name: "asked_only", sql: "SELECT :name" },
      { ...texts, name: "people", sql: "SELECT count(*) AS people FROM people", inStatus },
    ];
    const publishAgain = (schedule?: Parameters<TestLake["publish"]>[2]) =>
      lake.publish(owner, files, schedule, lake.store, questions);
    const answers = async () => (await lake.reports.current("acme"))?.answers;
    await publishAgain();
    expect(await answers()).toEqual({ people: "there are 1" });
    put(mirror, "people", { id: 9, name: "new", email: null, score: 1 });
    expect(await answers()).toEqual({ people: "there are 1" });
    await make();
    await publishAgain();
    expect(await answers()).toEqual({ people: "there are 2" });
    await publishAgain({ publish: null });
    expect(await answers()).toBeNull();
  });

  test("what does not count any more stays for a day, and then goes", async ({ lake, owner }) => {
    const { files, make } = await aCompany(1);
    await lake.publish(owner, files);
    const first = await storedIn(lake);
    rmSync(files.parquetFolder, { recursive: true });
    await make(["people"]);
    await lake.publish(owner, files);
    expect(Object.keys(await countingIn(lake))).toEqual(["people", "report.db"]);
    expect(await storedIn(lake)).toEqual(first);
    expect(await lake.publish(owner, files)).toBeNull();
    await aDayLater(lake);
    const { store } = lake;
    const refused = new MirrorError("unavailable", "the pointer is refused");
    const refusing: typeof store.put = (key, ...rest) =>
      key === pointerKey ? Promise.reject(refused) : store.put(key, ...rest);
    const publishing = lake.publish(owner, files, undefined, { ...store, put: refusing });
    expect(await rejectionOf(publishing)).toBe(refused);
    expect(await storedIn(lake)).toEqual(first);
    const staying = [keyOf("people", "1-1"), reportKeyOf("1-1"), pointerKey];
    const gone = first.filter((key) => !staying.includes(key));
    const { removed = [], written } = (await lake.publish(owner, files)) ?? {};
    expect([removed.toSorted(), written]).toEqual([gone, []]);
    expect(await storedIn(lake)).toEqual(staying);
    expect(await lake.publish(owner, files)).toBeNull();
  });

  test("a report of another node stays, unless the config asks for none", async ({ lake, owner }) => {
    const { files } = await aCompany(1);
    await lake.publish(owner, files);
    rmSync(files.report);
    expect(await lake.publish(owner, files)).toBeNull();
    const silent = { publish: null };
    expect(await lake.publish(owner, files, silent)).toMatchObject({ written: [] });
    expect(await countingIn(lake)).not.toHaveProperty("report.db");
    expect(await lake.publish(owner, files, silent)).toBeNull();
  });

  // Fault: fleet | the owner is lost, and the next one has made the report only, after events | no Parquet files on the node | the report is stored, the Parquet files of the owner before stay
  test("Parquet files that this node has not made stay beside a new report", async ({ lake, owner }) => {
    const { mirror, files, make } = await aCompany(1);
    await lake.publish(owner, files);
    const before = await countingIn(lake);
    put(mirror, "people", { id: 9, name: "by an event", email: null, score: 1 });
    await make();
    rmSync(files.parquetFolder, { recursive: true });
    expect(await lake.publish(owner, files)).toMatchObject({ seq: 1, written: [reportKeyOf("1-2")] });
    const after = await countingIn(lake);
    expect(after["people"]).toEqual(before["people"]);
    expect(after["report.db"]?.content).not.toBe(before["report.db"]?.content);
  });
});

describeWithPostgres("only the owner", () => {
  // Fault: fleet | a node is lost while it publishes reports | after the first of several files, and after the pointer | what counted still counts in Postgres; the next owner stores files under names of its own and writes the pointer, and what the lost one left goes after a day
  test.for([reportKeyOf("2-2"), pointerKey])(
    "is followed by one that takes back what a lost owner has stored: lost after %s",
    async (last, { lake, owner }) => {
      const { mirror, files, make } = await aCompany(1);
      await lake.publish(owner, files);
      const before = await countingIn(lake);
      await lake.expire("acme");

      const lost = leaseOf(await lake.owned("acme", "node-2"));
      put(mirror, "people", { id: 9, name: "of the lost owner", email: null, score: 1 });
      await make();
      const { store } = lake;
      const dying: typeof store.put = async (key, ...rest) => {
        const sent = await store.put(key, ...rest);
        if (key === last) lost.end("the node died");
        return sent;
      };
      const failure = await rejectionOf(lake.publish(lost, files, undefined, { ...store, put: dying }));
      expect(failure.kind).toBe("locked");
      const torn = await lake.reports.current("acme");
      expect(torn).toMatchObject({ epoch: 2, number: 2, seq: 1 });
      expect(torn?.files).toEqual(Object.values(before));

      await lake.expire("acme");
      const again = await aCompany(1);
      const next = leaseOf(await lake.owned("acme", "node-3"));
      expect((await lake.publish(next, again.files))?.written).toEqual([reportKeyOf("3-3")]);
      expect((await countingIn(lake))["people"]).toEqual(before["people"]);
      await aDayLater(lake);
      await lake.publish(next, again.files);
      const counting = Object.values(await countingIn(lake)).map(({ key }) => key);
      expect(await storedIn(lake)).toEqual([...counting, pointerKey].toSorted());
    },
  );

  test("stores again what was published after the backup that was restored", async ({ lake, owner }) => {
    const { files } = await aCompany(1);
    await lake.publish(owner, files);
    const written = (await lake.reports.current("acme"))?.files.map(({ key }) => key) ?? [];
    const mark = await lake.timeline.read();
    await lake.timeline.begin(mark, mark);
    const restored = await lake.reports.current("acme");
    expect(restored).toMatchObject({ files: [], seq: null });
    expect(restored?.old.toSorted()).toEqual(written);
    const next = leaseOf(await lake.owned("acme"));
    const again = (await lake.publish(next, files))?.written ?? [];
    expect(again.length).toBe(written.length);
    expect(again.filter((key) => written.includes(key))).toEqual([]);
  });
});
