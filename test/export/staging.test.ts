import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { ExportManifest } from "../../src/export/files/export-manifest.ts";
import { recordDiskOrder } from "../support/crash/disk-order.ts";
import { exportOf } from "../support/export/export.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { put } from "../support/mirror/store.ts";

test("each file is on the disk before it gets its name, its folder after it, and the manifest comes last", async () => {
  const mirror = await openHasty();
  put(mirror, "people", { id: 1, name: "Ann", email: null, score: null });
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
