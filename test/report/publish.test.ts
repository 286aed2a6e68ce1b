import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect } from "vitest";
import { StoredFiles } from "../../src/state/files/stored-files.ts";
import { rememberIdentity } from "../../src/state/meta.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { rejectionOf } from "../support/errors.ts";
import { declarationOf, openHasty, openShop, rollBack } from "../support/mirror/mirror.ts";
import { order, person } from "../support/mirror/shop-records.ts";
import { recordDiskOrder } from "../support/crash/disk-order.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { clockAt, publish as publishOf, reading, rowsOf } from "../support/export/published.ts";
import { put, putAs, remove, texts } from "../support/mirror/store.ts";
import { duckRows, duckTypes, exportOf } from "../support/export/export.ts";
import { test } from "../support/mirror/shop-test.ts";
import { wound } from "../support/verify/verify.ts";

const declaration = declarationOf();

/** The shop, with some unusual values. */
async function aMirror(): Promise<Mirror> {
  const mirror = await openHasty();
  for (const id of [1, 2, 3])
    put(mirror, "people", person(id, { name: `Žlťučký ${id} "kôň"\n😀`, email: "" }));
  put(mirror, "colours", { id: 1, label: "red" });
  for (const id of [1, 2]) put(mirror, "orders", orderOf(id));
  return mirror;
}

const orderOf = (id: number) =>
  order(id, { colourId: id, issuedOn: "2026-12-31", lines: [{ id, title: "a", quantity: 0.1 + 0.2 }] });

const publish = (mirror: Mirror | string, parts: Parameters<typeof publishOf>[1] = {}) =>
  publishOf(mirror, { declaration, ...parts });

describe("publishing", () => {
  test("keeps unusual values: sums like 0.1 + 0.2, empty text, ends of years, ids beyond 2^53, dates that look like numbers", async () => {
    const mirror = await aMirror();
    const odd = `{"id":9007199254740993,"number":"5","issuedOn":"20261231","changedAt":"2027-01-01 00:00:00","total":999999999999.99}`;
    putAs(mirror, "orders", 9007199254740993n, odd);
    const report = reading((await publish(mirror)).file);
    const sql = "SELECT id, number, issued_on, typeof(issued_on) AS type, total FROM orders WHERE id > 10";
    const values = [9007199254740993n, "5", "20261231", "text", 999999999999.99];
    expect(report.prepare(sql).safeIntegers().raw().get()).toEqual(values);
    const quantity = report.prepare("SELECT quantity FROM order_lines LIMIT 1").pluck();
    expect(quantity.get()).toBe(0.30000000000000004);
    const first = { name: 'Žlťučký 1 "kôň"\n😀', email: "", score: null };
    expect(rowsOf(report, "SELECT name, email, score FROM people WHERE id = 1")).toEqual([first]);
    const types = "SELECT type FROM pragma_table_info('orders') WHERE name IN ('issued_on', 'changed_at')";
    expect(rowsOf(report, types)).toEqual([{ type: "TEXT" }, { type: "TIMESTAMP" }]);
  });

  test("brings the new file to the disk before it gets the report's name, and the name after it", async () => {
    const mirror = await aMirror();
    const { steps } = await recordDiskOrder();
    const { file } = await publish(mirror);
    const [name, folder] = [path.basename(file), path.basename(path.dirname(file))];
    expect(steps).toEqual([`sync ${name}.next`, `rename ${name}`, `sync ${folder}`]);
  });

  test("with nothing changed leaves the file alone and reports that; a new day or --force writes", async () => {
    const mirror = await aMirror();
    const first = await publish(mirror);
    const before = statSync(first.file);
    expect(await publish(mirror)).toMatchObject({ outcome: "unchanged", way: null, seq: first.seq });
    expect(statSync(first.file)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    const clock = clockAt("2026-11-21");
    const written = { outcome: "written", reportDate: "2026-11-21" };
    for (const force of [false, true]) expect(await publish(mirror, { clock, force })).toMatchObject(written);
  });

  // Fault: files | a foreign file in the report's place | an empty file, a text, another database | refused, and not touched
  test("refuses to overwrite a file that is no report, even an empty one or another database", async () => {
    const mirror = await aMirror();
    const report = mirror.db.name.replace(/\.db$/, ".report.db");
    for (const foreign of [Buffer.alloc(0), Buffer.from("my notes"), readFileSync(mirror.db.name)]) {
      writeFileSync(report, foreign);
      const message = expect.stringContaining("no report") as string;
      const error = await rejectionOf(publish(mirror, { force: true }));
      expect(error).toMatchObject({ kind: "database", message });
      expect(readFileSync(report).equals(foreign)).toBe(true);
    }
    expect(readdirSync(path.dirname(report)).filter((name) => name.includes(".next"))).toEqual([]);
  });

  // Fault: disk | the last report is damaged, with a journal of a writer that died | the report's bytes | made anew, and the journal is removed
  test("replaces a damaged report, and removes a journal that SQLite would apply to the new one", async () => {
    const mirror = await aMirror();
    const { file } = await publish(mirror);
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0, 4096));
    writeFileSync(`${file}-journal`, "left by somebody who wrote into it and died");
    expect(await publish(mirror)).toMatchObject({ outcome: "written", way: "anew" });
    expect(`${file}-journal`).not.toSatisfy(existsSync);
    expect(reading(file).pragma("integrity_check", { simple: true })).toBe("ok");
  });

  // Fault: files | another program writes into the report | SQL on the report, made anew or by changes | the next publish makes it anew, though nothing changed
  test("makes a report anew that another program wrote since, and no other", async () => {
    const mirror = await aMirror();
    for (const way of ["anew", "changes"] as const) {
      put(mirror, "people", person(1, { name: way }));
      const { file } = await publish(mirror, { way });
      expect(await publish(mirror)).toMatchObject({ outcome: "unchanged" });
      wound({ file }, "UPDATE people SET name = 'edited' WHERE id = 3");
      expect(await publish(mirror)).toMatchObject({ outcome: "written", way: "anew" });
      expect(rowsOf(reading(file), "SELECT id FROM people WHERE name = 'edited'")).toEqual([]);
    }
  });

  test("does not disturb a reader of the old file", async () => {
    const mirror = await aMirror();
    const reader = reading((await publish(mirror)).file);
    const rows = reader.prepare("SELECT id FROM orders ORDER BY id").iterate();
    expect(rows.next().value).toEqual({ id: 1 });
    remove(mirror, "orders", 2);
    const { file } = await publish(mirror);
    expect(rows.next().value).toEqual({ id: 2 });
    rows.return?.();
    expect(rowsOf(reader, "SELECT count(*) AS n FROM orders")).toEqual([{ n: 2 }]);
    expect(rowsOf(reading(file), "SELECT count(*) AS n FROM orders")).toEqual([{ n: 1 }]);
  });

  test("names the stored files as they are at each publish; never by what is redacted", async () => {
    const mirror = await aMirror();
    const { file } = await publish(mirror);
    const paths = () => reading(file).prepare("SELECT path FROM document_files").pluck().all();
    const sha256 = "ab".repeat(32);
    const stored = { document: "orders", document_id: 1, kind: "pdf", size_bytes: 9, sha256 } as const;
    const read = { ref: { resource: "orders", id: 1 }, recordSha: "", readAtMs: 0, problem: null };
    for (const [at, name] of ["Servis", "Novák"].entries()) {
      const place = `2026/10/orders/1 ${name}.pdf`;
      const position = { lines: at + 1, bytes: at + 1, head: String(at).repeat(64) };
      const files = [{ ...stored, path: place, fetched_at: "2026-11-22T00:00:00.000Z" }];
      new StoredFiles(mirror.db).replace(read, files, position);
      expect(await publish(mirror)).toMatchObject({ outcome: "written" });
      expect(paths()).toEqual([place]);
      expect(await publish(mirror)).toMatchObject({ outcome: "unchanged" });
    }
    rememberIdentity(mirror, { name: "Acme", salt: "5aac11c0", fingerprint: "", businessId: null });
    await publish(mirror, { redact: [{ columns: "*.buyer_name", mode: "drop" }] });
    expect(paths()).toEqual([`objects/ab/${sha256}`]);
  });

  test("keeps the mode of the report, also a read-only one", async () => {
    const mirror = await aMirror();
    const { file } = await publish(mirror);
    chmodSync(file, 0o440);
    for (const way of ["anew", "changes"] as const) {
      expect(await publish(mirror, { way, force: true })).toMatchObject({ outcome: "written", way });
      expect(statSync(file).mode & 0o777).toBe(0o440);
    }
  });

  // Fault: process | an interruption while the report is made | the run's signal | the old report stays, and no other file
  test("leaves the old report and no other file when interrupted", async () => {
    const mirror = await aMirror();
    const { file } = await publish(mirror);
    const before = readFileSync(file);
    put(mirror, "orders", orderOf(7));
    const stop = new AbortController();
    stop.abort();
    expect(await rejectionOf(publish(mirror, { signal: stop.signal }))).toMatchObject({ kind: "stopped" });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(path.dirname(file)).filter((name) => name.includes(".next"))).toEqual([]);
  });

  // Fault: process | two publish commands at the same time | the report's lock | the second one is refused
  test("is refused while another process publishes", async () => {
    const mirror = await aMirror();
    const [first, second] = await Promise.allSettled([publish(mirror), publish(mirror)]);
    expect([first.status, second.status]).toEqual(["fulfilled", "rejected"]);
    expect(second).toMatchObject({ reason: { kind: "locked" } });
  });
});

type Seen = readonly [values: readonly string[], report: string, parquet: string, csv: string[] | null];

const withField = (id: number, text: string) => `{"id":${id},"name":"n","email":null,"score":null,${text}}`;

/** Gives people the field `size` with these JSON values, one record each. */
function sizes(mirror: Mirror, values: readonly string[], from = 1): void {
  for (const [i, value] of values.entries()) put(mirror, "people", withField(from + i, `"size":${value}`));
}

const typeIn = (report: string): unknown =>
  reading(report).prepare("SELECT type FROM pragma_table_info('people') WHERE name = 'size'").pluck().get();

describe("a field that the connector does not know has the type of what was seen, and CSV the service's literal", () => {
  const seen: readonly Seen[] = [
    [["1", "9007199254740993", "null"], "INTEGER", "BIGINT", ["1", "9007199254740993", ""]],
    [["1", "2.5", "-0.75"], "DECIMAL(18,6)", "DECIMAL(18,6)", null],
    [["9223372036854775807", "0.5"], "DECIMAL(18,6)", "DECIMAL(38,18)", null],
    [["1e300", "0.5"], "DECIMAL(18,6)", "DOUBLE", [`1${"0".repeat(300)}`, "0.5"]],
    [["true", "false"], "BOOLEAN", "BOOLEAN", null],
    [["true", "2"], "INTEGER", "BIGINT", ["1", "2"]],
    [['"2026-03-01"', '"2028-02-29"'], "DATE", "DATE", ["2026-03-01", "2028-02-29"]],
    [
      ['"2026-03-01 12:00:00"', '"2026-03-01T12:00:00.5Z"'],
      "TIMESTAMP",
      "TIMESTAMP WITH TIME ZONE",
      ["2026-03-01 12:00:00", "2026-03-01T12:00:00.5Z"],
    ],
    [['"2026-03-01"', '"2026-02-30"'], "TEXT", "VARCHAR", ["2026-03-01", "2026-02-30"]],
    [['"2026-03-01"', '"2026-03-01 12:00:00"'], "TEXT", "VARCHAR", ["2026-03-01", "2026-03-01 12:00:00"]],
    [['"007"', '"12"'], "TEXT", "VARCHAR", ["007", "12"]],
    [["12", '"12"'], "TEXT", "VARCHAR", ["12", "12"]],
    [["1.5", "0.12345678901234567890"], "TEXT", "VARCHAR", ["1.5", "0.12345678901234567890"]],
    [["12345678901234567890123", "1"], "TEXT", "VARCHAR", ["12345678901234567890123", "1"]],
    [["[1]", "{}"], "TEXT", "VARCHAR", ["[1]", "{}"]],
    [["null", "null"], "TEXT", "VARCHAR", ["", ""]],
  ];

  test("whatever was seen of it", async ({ mirror }) => {
    for (const at of [0, 1, 2]) {
      const fields = seen.map(([values], i) => `"f${i}":${values[at] ?? "null"}`);
      put(mirror, "people", withField(at + 1, fields.join()));
    }
    const { file } = await publish(mirror, { declaration, report: `${mirror.db.name}.report` });
    const types = reading(file).prepare("SELECT name, type FROM pragma_table_info('people')").raw();
    const inReport = new Map(types.all() as [string, string][]);
    const { out } = await exportOf(mirror, { format: "parquet", tables: ["people"] });
    const parquetFile = path.join(out, "acme/people.parquet");
    const inParquet = await duckTypes(parquetFile);
    const names = seen.map((_, i) => `f${i}`);
    const counted = names.map((name) => `count(${name})`).join();
    const [counts] = await duckRows(`SELECT ${counted} FROM '${parquetFile}'`);
    const lines = (await exportOf(mirror, { tables: ["people"] })).cells("people.csv").slice(1);
    for (const [i, [values, report, parquet, csv]] of seen.entries()) {
      const cells = lines.slice(0, values.length).map((line) => line[i + 4]);
      const count = String(values.filter((one) => one !== "null").length);
      const found = [inReport.get(`f${i}`), inParquet[i + 4], counts?.[i], cells];
      expect([values, ...found]).toEqual([values, report, `f${i} ${parquet}`, count, csv ?? values]);
    }
  });

  test("in lines of a document too, nested or not", async ({ mirror }) => {
    const weights = { 5: 2, 6: 2.5 };
    const line = { title: "a", quantity: 1 };
    const lines = Object.entries(weights).map(([id, weight]) => ({ id: Number(id), ...line, weight }));
    put(mirror, "orders", order(1, { lines }));
    const flat = await exportOf(mirror, { format: "parquet", tables: ["order_lines"] });
    const weight = "weight DECIMAL(18,6)";
    expect(await duckTypes(path.join(flat.out, "acme/order_lines.parquet"))).toContain(weight);
    const nested = await exportOf(mirror, { format: "parquet", tables: ["orders"], nested: true });
    const types = await duckTypes(path.join(nested.out, "acme/orders.parquet"));
    expect(types.find((type) => type.startsWith("order_lines"))).toContain(weight);
  });
});

describe("a type that changes", () => {
  test("widens, is kept in the mirror, and an update of the report becomes one made anew", async () => {
    const file = path.join(tempFolder(), "shop.db");
    const first = await openShop({ path: file });
    sizes(first, ["1"]);
    const report = `${file}.report`;
    await publish(first, { declaration, report });
    const steps: unknown[] = [];
    first.close();
    for (const [i, value] of ["2.5", "3", '"x"', "4", "true"].entries()) {
      using mirror = await openShop({ path: file });
      sizes(mirror, [value], i + 2);
      const { way } = await publish(mirror, { declaration, report, way: "changes" });
      steps.push([value, way, typeIn(report)]);
    }
    expect(steps).toEqual([
      ["2.5", "anew", "DECIMAL(18,6)"],
      ["3", "changes", "DECIMAL(18,6)"],
      ['"x"', "anew", "TEXT"],
      ["4", "changes", "TEXT"],
      ["true", "changes", "TEXT"],
    ]);
    const last = await openShop({ path: file });
    expect(texts(last, "SELECT what, type, record_id FROM _schema_changes ORDER BY id")).toEqual([
      "added text 1",
      "decimal decimal 2",
      "text text 4",
    ]);
    const sized = texts(last, "SELECT size, typeof(size) AS type FROM people WHERE id < 4 ORDER BY id");
    expect(sized).toEqual(["1 integer", "2.5 real", "3 integer"]);
  });

  // Fault: data | an answer with a value of another type is rolled back | the transaction that widens the type | the type is as before; the next time it widens again (I1)
  test("I1 is as before after a rollback, and widens the next time", async ({ mirror }) => {
    sizes(mirror, ["1"]);
    rollBack(mirror, () => sizes(mirror, ['"x"'], 2));
    const report = `${mirror.db.name}.report`;
    await publish(mirror, { declaration, report });
    expect(typeIn(report)).toBe("INTEGER");
    sizes(mirror, ['"x"'], 2);
    await publish(mirror, { declaration, report });
    expect(typeIn(report)).toBe("TEXT");
  });
});
