import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { mirrorFiles } from "../../../src/store/mirror-files.ts";
import {
  continuesLocally,
  createTroubleWatch,
  noteOwnership,
} from "../../../src/fleet/assignment/local-mirror.ts";
import { inboxPositionKey } from "../../../src/state/meta.ts";
import { openHasty } from "../../support/mirror/mirror.ts";
import { tempFolder } from "../../support/temporary-folder.ts";

/** The file that a node left which owned the company in epoch 5, with 3 deliveries and no change. */
async function aLeftFile() {
  const files = mirrorFiles({ dataDir: tempFolder(), report: { out: null } }, "acme");
  const mirror = await openHasty({ path: files.mirror });
  noteOwnership(mirror, { epoch: 5 }, { number: 1 });
  mirror.apply(() => mirror.meta.set(inboxPositionKey, 3));
  mirror.close();
  return files;
}

describe("a node goes on from the file that it left", () => {
  test("where it owned the company in the epoch directly before, unless its disk was set back meanwhile (I6)", async () => {
    const files = await aLeftFile();
    const published = { seq: 0, inbox_seq: 3 };
    const epochs = [5, 6, 7].map((epoch) => continuesLocally(files, { epoch }, published));
    expect(epochs).toEqual([false, true, false]);
    // Its disk was set back where the published snapshot is ahead of it.
    const ahead = [null, { seq: 0, inbox_seq: 4 }, { seq: 1, inbox_seq: 3 }];
    const found = ahead.map((pointer) => continuesLocally(files, { epoch: 6 }, pointer));
    expect(found).toEqual([true, false, false]);
  });

  test("and not from one that is no mirror, or is not there", async () => {
    const files = mirrorFiles({ dataDir: tempFolder(), report: { out: null } }, "acme");
    expect(continuesLocally(files, { epoch: 6 }, null)).toBe(false);
    mkdirSync(path.dirname(files.mirror), { recursive: true });
    writeFileSync(files.mirror, "no database");
    expect(continuesLocally(files, { epoch: 6 }, null)).toBe(false);
  });
});

describe("a mirror that cannot be used", () => {
  const [most, damaged] = [120_000, "the database is damaged"];

  test("is given up when that lasts, also where it can be opened for moments in between", () => {
    const lasts = createTroubleWatch(most);
    const looks = [0, 30_000, 60_000, 100_000, 119_000, 120_000];
    const usableAtMs = new Set([30_000, 100_000]);
    const found = looks.map((atMs) => lasts(usableAtMs.has(atMs) ? null : damaged, atMs));
    expect(found).toEqual([false, false, false, false, false, true]);
  });

  test("and then for a while can is one that had its trouble before", () => {
    const lasts = createTroubleWatch(most);
    const found = [lasts(damaged, 100_000), lasts(null, 161_000), lasts(damaged, 300_000)];
    expect(found).toEqual([false, false, false]);
  });
});
