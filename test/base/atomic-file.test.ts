import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { draftOf, freeBytesAt, makeFolders, writeFileAtomically } from "../../src/base/files/atomic-file.ts";
import { memoryFolder } from "../support/memory-folder.ts";
import { tempFolder } from "../support/temporary-folder.ts";

test("writes a file, replaces it with the mode that somebody gave it, and leaves nothing beside it", () => {
  const file = path.join(tempFolder(), "state.json");
  writeFileAtomically(file, "old");
  expect(modesOf(file)).toEqual([0o600]);
  chmodSync(file, 0o640);
  writeFileAtomically(file, Buffer.from("new"));
  expect(readFileSync(file, "utf8")).toBe("new");
  expect(modesOf(file)).toEqual([0o640]);
  expect(readdirSync(path.dirname(file))).toEqual(["state.json"]);
});

test("keeps the old file when the new one cannot be put in its place", () => {
  const file = path.join(tempFolder(), "taken");
  mkdirSync(file);
  writeFileSync(path.join(file, "inside"), "old");
  expect(() => writeFileAtomically(file, "new")).toThrow();
  expect(readFileSync(path.join(file, "inside"), "utf8")).toBe("old");
  expect(readFileSync(draftOf(file), "utf8")).toBe("new");
});

const modesOf = (...places: string[]) => places.map((place) => statSync(place).mode & 0o777);

test("the free space of a folder that is still to be made is that of the disk it will be on", () => {
  expect(freeBytesAt(path.join(memoryFolder(), "not-made-yet", "data"))).toBeGreaterThan(0);
});

describe("folders", () => {
  test("are made one by one for their owner alone; those that are there stay as they are", () => {
    const top = tempFolder();
    chmodSync(top, 0o755);
    makeFolders(path.join(top, "a/b"));
    makeFolders(path.join(top, "a/b"), 0o755);
    expect(modesOf(top, path.join(top, "a"), path.join(top, "a/b"))).toEqual([0o755, 0o700, 0o700]);
  });

  // Fault: files | a folder below /proc, or below a file | making the folders | refused at once
  test("that cannot be made are refused at once", () => {
    const file = path.join(tempFolder(), "file");
    writeFileSync(file, "");
    expect(() => makeFolders("/proc/mirror/data")).toThrow(/ENOENT/);
    expect(() => makeFolders(file)).toThrow(file);
    expect(() => makeFolders(path.join(file, "data"))).toThrow(file);
  });
});
