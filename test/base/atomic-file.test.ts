import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { draftOf, replaceFile, writeFileAtomically } from "../../src/base/atomic-file.ts";
import { recordDiskOrder } from "../support/disk-order.ts";

const folder = () => mkdtempSync(path.join(tmpdir(), "atomic-file-"));

test("writes a file, replaces it, and leaves nothing beside it", () => {
  const file = path.join(folder(), "state.json");
  writeFileAtomically(file, "old");
  writeFileAtomically(file, Buffer.from("new"), 0o600);
  expect(readFileSync(file, "utf8")).toBe("new");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(path.dirname(file))).toEqual(["state.json"]);
});

test("keeps the old file when the new one cannot be put in its place", () => {
  const file = path.join(folder(), "taken");
  mkdirSync(file);
  writeFileSync(path.join(file, "inside"), "old");
  expect(() => writeFileAtomically(file, "new")).toThrow();
  expect(readFileSync(path.join(file, "inside"), "utf8")).toBe("old");
  expect(readFileSync(draftOf(file), "utf8")).toBe("new");
});

test("syncs the file before the rename and the folder after it", async () => {
  const file = path.join(folder(), "report.db");
  writeFileSync(`${file}.next`, "new");
  chmodSync(`${file}.next`, 0o400);
  const { steps } = await recordDiskOrder();
  replaceFile(`${file}.next`, file);
  expect(steps).toEqual([
    "sync report.db.next",
    "rename report.db",
    `sync ${path.basename(path.dirname(file))}`,
  ]);
  expect(readFileSync(file, "utf8")).toBe("new");
});
