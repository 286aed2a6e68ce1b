import { hash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync, existsSync, rmSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test, onTestFinished, vi } from "vitest";
import type { ExportManifest } from "../../src/export/files/export-manifest.ts";
import { rejectionOf } from "../support/errors.ts";
import { ann, aShop, exportOf, filesIn, orderRecord } from "../support/export/export.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { temporaryFolder } from "../support/program/cli.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { put, putAs, remove } from "../support/mirror/store.ts";
import { Staging } from "../../src/export/files/staging.ts";
import { recordDiskOrder } from "../support/crash/disk-order.ts";

function expectTrue({ files }: ExportManifest, folder: string): void {
  for (const { file, bytes, sha256 } of files) {
    const content = readFileSync(path.join(folder, file));
    const found = { file, bytes: content.length, sha256: hash("sha256", content) };
    expect(found).toEqual({ file, bytes, sha256 });
  }
}

describe("the manifest", () => {
  test("names each file with its rows, size, hash, columns and state", async () => {
    const mirror = await aShop();
    const { manifest, out } = await exportOf(mirror, { tables: ["people"] });
    expect(manifest).toMatchObject({ company: "acme", seq: 2, next_since: 2, since: null, run: null });
    const people = { table: "people", file: "people.csv", format: "csv", rows: 1, seq: 2 };
    expect(manifest.files).toMatchObject([people]);
    const columns = manifest.files[0]?.columns.map(({ name, type }) => `${name} ${type}`);
    expect(columns).toEqual(["id INTEGER", "name TEXT", "email TEXT", "score DECIMAL(18,6)"]);
    expectTrue(manifest, path.join(out, "acme"));
    expect(JSON.parse(readFileSync(path.join(out, "acme/manifest.json"), "utf8"))).toEqual(manifest);
  });

  test("names every table, with live rows only and none of the mirror's own columns", async () => {
    const mirror = await aShop();
    put(mirror, "people", { ...ann, id: 2 });
    remove(mirror, "people", 2);
    const { manifest, text, out } = await exportOf(mirror);
    const tables = "shop colours counters people orders order_lines receipts notes note_attachments";
    expect(manifest.files.map(({ table }) => table)).toEqual(tables.split(" "));
    expect(text("people.csv")).toBe("id,name,email,score\r\n1,Ann,a@example.com,0.5\r\n");
    expect(text("order_lines.csv")).toBe("order_id,position,id,title,quantity\r\n1,0,5,a,2\r\n");
    expect(filesIn(out)).toHaveLength(10);
  });
});

describe("one run after another", () => {
  test("files that no longer belong are removed, those of other formats stay, nothing else is left", async () => {
    const mirror = await aShop();
    const { out } = await exportOf(mirror);
    await exportOf(mirror, { out, format: "jsonl", tables: ["people"] });
    const { manifest } = await exportOf(mirror, { out, partition: "year" });
    const files = filesIn(out);
    const own = files.filter((file) => file.startsWith("acme/"));
    expect(own).toEqual(["acme/manifest.json", "acme/people.jsonl"]);
    expect(files).toHaveLength(2 + 9);
    expectTrue(manifest, path.join(out, "acme"));
  });

  test("named tables are added to the files that are there", async () => {
    const mirror = await aShop();
    const { out } = await exportOf(mirror, { tables: ["people"] });
    const { manifest } = await exportOf(mirror, { out, tables: ["orders"] });
    expect(manifest.files.map(({ file }) => file)).toEqual(["people.csv", "orders.csv"]);
    expectTrue(manifest, path.join(out, "acme"));
  });

  // Fault: files | a manifest that names a file outside of the folder | the export's folder | foreign files stay
  test("foreign files in the folder stay, whatever a manifest says", async () => {
    const stray = { table: "people", format: "csv", file: "../theirs.csv", sha256: "" };
    const manifest = JSON.stringify({ files: [stray] });
    const theirs = { "theirs.csv": "theirs", "acme/notes.txt": "theirs", "acme/manifest.json": manifest };
    const out = temporaryFolder(theirs);
    await exportOf(await aShop(), { out, tables: ["people"] });
    expect(filesIn(out)).toEqual(["acme/manifest.json", "acme/notes.txt", "acme/people.csv", "theirs.csv"]);
  });
});

test("files of another change log are made again, so that the manifest's position is one of the log of now", async () => {
  const mirror = await aShop();
  const request = { tables: ["people"], ifChanged: true };
  const { out, manifest } = await exportOf(mirror, request);
  mirror.meta.set("log", { id: "b2", from: 1, first: 1_000 });
  const again = await exportOf(mirror, { ...request, out });
  expect([again.unchanged, again.manifest]).toMatchObject([false, { log: "b2", seq: manifest.seq }]);
});

// Fault: files | a reader's glob finds the files of an unfinished export | its hidden folder, while tables are written | none has its final extension
test.each(["parquet", "xlsx"] as const)(
  "no unfinished file has its final extension, %s: globs look into hidden folders",
  async (format) => {
    const out = tempFolder();
    const seen = new Set<string>();
    const onProgress = () => {
      for (const file of filesIn(out)) seen.add(path.extname(file));
    };
    await exportOf(await aShop(), { out, format }, {}, { onProgress });
    expect([seen.has(".partial"), seen.has(`.${format}`)]).toEqual([true, false]);
    expect(new Set(filesIn(out).map((file) => path.extname(file)))).toEqual(new Set([".json", `.${format}`]));
  },
);

// Fault: process | two exports into one folder at the same time | the folder's lock | the second one is refused
test("a second run into the same folder at the same time is refused", async () => {
  const [mirror, out] = [await aShop(), tempFolder()];
  const first = await Staging.open(out, "acme");
  const error = await rejectionOf(exportOf(mirror, { out }));
  expect([error.kind, error.message]).toEqual(["locked", expect.stringContaining(out)]);
  await first[Symbol.asyncDispose]();
  await exportOf(mirror, { out });
  expect(readdirSync(out)).toEqual(["acme"]);
});

test("JSON lines of records are the service's bytes, except line breaks; those of other tables are objects", async () => {
  const mirror = await openHasty();
  const text = '{\n "id": 1, "name": "Ann\\n\u2028=x",\r\n "email": null, "score": 12.50 }';
  putAs(mirror, "people", 1, text);
  putAs(mirror, "orders", 1, orderRecord(1, { lines: [{ id: 5, title: '"', quantity: 0.1 }] }));
  const exported = await exportOf(mirror, { format: "jsonl" });
  expect(exported.text("people.jsonl")).toBe(`${text.replaceAll(/[\r\n]/g, " ")}\n`);
  const line = '{"order_id":1,"position":0,"id":5,"title":"\\"","quantity":0.1}\n';
  expect(exported.text("order_lines.jsonl")).toBe(line);
});

// Fault: process | a writer commits all the time while files are made | a transaction beside the export | all files show one state
test("beside a writer that commits all the time, all files of a run show the state in the manifest", async () => {
  const mirror = await openHasty();
  put(mirror, "people", { ...ann, name: "0" });
  putAs(mirror, "orders", 1, orderRecord(1, { number: "0" }));
  let n = 0;
  const writing = setInterval(() => {
    n++;
    mirror.apply(() => undefined);
    put(mirror, "people", { ...ann, name: String(n) });
    putAs(mirror, "orders", 1, orderRecord(1, { number: String(n) }));
  }, 1);
  try {
    for (let i = 0; i < 3; i++) {
      const { cells, manifest } = await exportOf(mirror, { tables: ["people", "orders"] });
      const first = (file: string) => Number(cells(file)[1]?.[1]);
      const [name, number] = [first("people.csv"), first("orders.csv")];
      expect(manifest.seq).toBe(2 + name + number);
      expect([0, 1]).toContain(name - number);
    }
  } finally {
    clearInterval(writing);
  }
  expect(n).toBeGreaterThan(5);
});

test("rows are in the order of their ids, child rows in that of their positions", async () => {
  const mirror = await openHasty();
  const ids = [512, 3, 9_000_000_000, 40, 1];
  for (const id of ids) {
    const lines = [7, 3, 5].map((line) => ({ id: line, title: `line ${line}`, quantity: 1 }));
    putAs(mirror, "orders", id, orderRecord(id, { lines }));
  }
  const { cells } = await exportOf(mirror, { tables: ["orders", "order_lines"] });
  const column = (file: string, at: number) =>
    cells(file)
      .slice(1)
      .map((row) => Number(row[at]));
  const sorted = ids.toSorted((a, b) => a - b);
  expect(column("orders.csv", 0)).toEqual(sorted);
  expect(column("order_lines.csv", 0)).toEqual(sorted.flatMap((id) => [id, id, id]));
  expect(column("order_lines.csv", 1)).toEqual(sorted.flatMap(() => [0, 1, 2]));
});

test("each file is on the disk before it gets its name, its folder after it, and the manifest comes last", async () => {
  const mirror = await aShop();
  const { steps } = await recordDiskOrder();
  const { out } = await exportOf(mirror, { tables: ["people", "colours"] });
  const manifest = path.join(out, "acme/manifest.json");
  const { files } = JSON.parse(readFileSync(manifest, "utf8")) as ExportManifest;
  const names = files.map(({ file }) => file);
  expect(names).toEqual(["colours.csv", "people.csv"]);
  const begin = steps.indexOf("rename record.json");
  const before = steps.slice(0, begin);
  for (const name of names) expect(before).toContain(`sync ${name}.partial`);
  expect(steps.slice(begin)).toEqual([
    "rename record.json",
    "sync .acme.export",
    ...names.map((name) => `rename ${name}`),
    "sync acme",
    "sync manifest.json.new",
    "rename manifest.json",
    "sync acme",
  ]);
});

/** What an export that was killed in the middle of its moves left: its record, and files. */
const cutOff = (record: string, files: Readonly<Record<string, string>> = {}) =>
  temporaryFolder({ ".acme.export/record.json": record, ...files });

/** The next run finishes what an earlier one left. */
const finish = async (out: string) => (await Staging.open(out, "acme"))[Symbol.asyncDispose]();

describe("a run that was killed", () => {
  // Fault: process | a kill before all files were complete | files that an export left | the next run removes them
  test("before all files were complete: the next run removes what it left", async () => {
    const out = temporaryFolder({ ".acme.export/files/acme/people.csv.partial": "half" });
    await exportOf(await aShop(), { out, tables: ["people"] });
    expect(filesIn(out)).toEqual(["acme/manifest.json", "acme/people.csv"]);
    expect(readdirSync(out)).toEqual(["acme"]);
  });

  // Fault: process | a kill while files were moved into place | the record that an export left | the next run finishes that first
  test("while it moved files into place: the next run of any table finishes that first", async () => {
    const manifest = { path: "acme/manifest.json", text: '{"files":[]}' };
    const files = [
      { path: "acme/moved-already.csv", sha256: hash("sha256", "moved") },
      { path: "acme/orders.csv", sha256: hash("sha256", "new") },
    ];
    const out = cutOff(JSON.stringify({ files, manifest, remove: ["acme/people.csv"] }), {
      ".acme.export/files/acme/orders.csv.partial": "new",
      "acme/moved-already.csv": "moved",
      "acme/people.csv": "of the run before",
    });
    await finish(out);
    expect(filesIn(out)).toEqual(["acme/manifest.json", "acme/moved-already.csv", "acme/orders.csv"]);
    expect(readFileSync(path.join(out, "acme/orders.csv"), "utf8")).toBe("new");
  });

  // Fault: files | a finished file is lost between its record and its move | the record that an export left | no manifest says that it is there
  test("while it moved files, one of which is lost since: no manifest names what is not there", async () => {
    const files = [{ path: "acme/orders.csv", sha256: hash("sha256", "new") }];
    const manifest = { path: "acme/manifest.json", text: '{"files":[{"file":"orders.csv"}]}' };
    const out = cutOff(JSON.stringify({ files, manifest, remove: [] }));
    await finish(out);
    expect(filesIn(out)).toEqual([]);
  });

  // Fault: files | the record that an export left is damaged | the next run | it says which file, and what to do
  test.each(["{", "null", '{"files":[null]}', '{"files":[],"manifest":{"path":5},"remove":[]}'])(
    "while it moved files, and its record is %s: the next run says so",
    async (record) => {
      const out = cutOff(record);
      const message = expect.stringContaining(path.join(out, ".acme.export/record.json")) as string;
      await expect(Staging.open(out, "acme")).rejects.toMatchObject({ kind: "database", message });
    },
  );

  // Fault: files | a file cannot be moved into its place | a folder in its place, then not any more | the next run finishes what was recorded
  test("a move that failed is finished by the next run, whatever it exports", async () => {
    const out = temporaryFolder({ "acme/people.csv/in-the-way": "" });
    const place = path.join(out, "acme/people.csv");
    // Other files are in their places already: nothing is said of them.
    const hint = "Move it away, or choose another path.";
    const refusal = { message: `a folder is where a file belongs: ${place}`, hint };
    const failed = exportOf(await aShop(), { out, tables: ["orders", "people"] });
    await expect(failed).rejects.toMatchObject(refusal);
    // It holds no lock when it fails again.
    for (const _ of [1, 2]) await expect(Staging.open(out, "acme")).rejects.toMatchObject(refusal);
    rmSync(place, { recursive: true });
    await finish(out);
    expect(filesIn(out)).toEqual(["acme/manifest.json", "acme/orders.csv", "acme/people.csv"]);
    expect(readdirSync(out)).toEqual(["acme"]);
  });
});

test("the lock of a folder is held until nothing of its run is left", async () => {
  const out = tempFolder();
  const staging = await Staging.open(out, "acme");
  const file = staging.placeOf("acme/people.csv");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, "");
  const left: boolean[] = [];
  const close = Reflect.get(Database.prototype, "close");
  vi.spyOn(Database.prototype, "close").mockImplementation(function (this: Database.Database) {
    left.push(existsSync(file));
    return close.call(this);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  await staging[Symbol.asyncDispose]();
  expect([left, readdirSync(out)]).toEqual([[false], []]);
});
