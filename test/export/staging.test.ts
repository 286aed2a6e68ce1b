import { hash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { ExportManifest } from "../../src/export/files/export-manifest.ts";
import { recordDiskOrder } from "../support/crash/disk-order.ts";
import { Staging } from "../../src/export/files/staging.ts";
import { aShop, exportOf, filesIn } from "../support/export/export.ts";
import { tempFolder } from "../support/temporary-folder.ts";

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

describe("a run that was killed", () => {
  // Fault: process | a kill before all files were complete | files that an export left | the next run removes them
  test("before all files were complete: the next run removes what it left", async () => {
    const mirror = await aShop();
    const out = path.join(tempFolder(), "out");
    mkdirSync(path.join(out, ".acme.export/files/acme"), { recursive: true });
    writeFileSync(path.join(out, ".acme.export/files/acme/people.csv.partial"), "half");
    await exportOf(mirror, { out, tables: ["people"] });
    expect(filesIn(out)).toEqual(["acme/manifest.json", "acme/people.csv"]);
    expect(readdirSync(out)).toEqual(["acme"]);
  });

  // Fault: process | a kill while files were moved into place | the record that an export left | the next run finishes that first
  test("while it moved files into place: the next run of any table finishes that first", async () => {
    const mirror = await aShop();
    const out = path.join(tempFolder(), "out");
    await exportOf(mirror, { out, tables: ["people"] });
    const folder = path.join(out, ".acme.export");
    mkdirSync(path.join(folder, "files/acme"), { recursive: true });
    writeFileSync(path.join(folder, "files/acme/orders.csv.partial"), "new");
    const manifest = { path: "acme/manifest.json", text: '{"files":[]}' };
    writeFileSync(path.join(out, "acme/moved-already.csv"), "moved");
    const files = [
      { path: "acme/moved-already.csv", sha256: hash("sha256", "moved") },
      { path: "acme/orders.csv", sha256: hash("sha256", "new") },
    ];
    const record = JSON.stringify({ files, manifest, remove: ["acme/people.csv"] });
    writeFileSync(path.join(folder, "record.json"), record);
    await (await Staging.open(out, "acme"))[Symbol.asyncDispose]();
    expect(filesIn(out)).toEqual(["acme/manifest.json", "acme/moved-already.csv", "acme/orders.csv"]);
    expect(readFileSync(path.join(out, "acme/orders.csv"), "utf8")).toBe("new");
  });

  // Fault: files | a finished file is lost between its record and its move | the record that an export left | no manifest says that it is there
  test("while it moved files, one of which is lost since: no manifest names what is not there", async () => {
    const out = path.join(tempFolder(), "out");
    mkdirSync(path.join(out, ".acme.export"), { recursive: true });
    const files = [{ path: "acme/orders.csv", sha256: hash("sha256", "new") }];
    const manifest = { path: "acme/manifest.json", text: '{"files":[{"file":"orders.csv"}]}' };
    const record = JSON.stringify({ files, manifest, remove: [] });
    writeFileSync(path.join(out, ".acme.export/record.json"), record);
    await (await Staging.open(out, "acme"))[Symbol.asyncDispose]();
    expect(filesIn(out)).toEqual([]);
  });

  // Fault: files | a file cannot be moved into its place | a folder in its place, then not any more | the next run finishes what was recorded
  test("a move that failed is finished by the next run, whatever it exports", async () => {
    const mirror = await aShop();
    const out = path.join(tempFolder(), "out");
    mkdirSync(path.join(out, "acme/people.csv/in-the-way"), { recursive: true });
    const failed = exportOf(mirror, { out, tables: ["orders", "people"] });
    await expect(failed).rejects.toThrow("something else stands");
    // It holds no lock when it fails again.
    for (const _ of [1, 2]) await expect(Staging.open(out, "acme")).rejects.toThrow("something else stands");
    rmSync(path.join(out, "acme/people.csv"), { recursive: true });
    await (await Staging.open(out, "acme"))[Symbol.asyncDispose]();
    expect(filesIn(out)).toEqual(["acme/manifest.json", "acme/orders.csv", "acme/people.csv"]);
    expect(readdirSync(out)).toEqual(["acme"]);
  });
});

test("the lock of a folder is held until nothing of its run is left", async () => {
  const out = tempFolder();
  const staging = await Staging.open(out, "acme");
  const left: boolean[] = [];
  const close = Reflect.get(Database.prototype, "close");
  vi.spyOn(Database.prototype, "close").mockImplementation(function (this: Database.Database) {
    left.push(existsSync(path.join(out, ".acme.export")));
    return close.call(this);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  await staging[Symbol.asyncDispose]();
  expect(left).toEqual([false]);
});
