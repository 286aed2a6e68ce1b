import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLog } from "../../src/base/logger.ts";
import { openDatabase } from "../../src/store/database.ts";
import { verifyLocally } from "../../src/verify/local/repair-locally.ts";
import { rejectionOf } from "../support/errors.ts";
import { aFullShop } from "../support/mirror/local-check.ts";
import { manifestOf } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { stillClock } from "../support/mirror/run.ts";

function verify(path: string) {
  return verifyLocally(path, manifestOf(), { repair: true, clock: stillClock, log: silentLog });
}

/** The file of a full shop that nobody has open. */
async function closedShop(): Promise<string> {
  const mirror = await aFullShop();
  mirror.db.pragma("wal_checkpoint(TRUNCATE)");
  mirror.close();
  return mirror.db.name;
}

/** Runs SQL on the schema table, which SQLite reads at the next opening. */
function onSchema(path: string, sql: string): void {
  const db = openDatabase(path);
  db.unsafeMode();
  db.pragma("writable_schema = ON");
  db.exec(sql);
  db.close();
}

// Fault: disk | an index lacks rows | the mirror's file | named, and made anew
test("an index that lacks rows is named and made anew", async () => {
  const path = await closedShop();
  onSchema(
    path,
    `CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE name = '_work_turns';
     DELETE FROM sqlite_master WHERE name = '_work_turns'`,
  );
  onSchema(
    path,
    `INSERT INTO _work (resource, target, kind, lane, due_ms, reason, dirty_seq) VALUES ('people', 'id:1', 'detail', 2, 0, 'new', 1);
     INSERT INTO sqlite_master SELECT * FROM kept; DROP TABLE kept`,
  );
  const { found, result } = await verify(path);
  const message = "row 1 missing from index _work_turns";
  expect(found.problems).toMatchObject([{ kind: "integrity", message }]);
  expect(result.match).toBe(true);
});

// Fault: disk | overwritten pages | the mirror's file | named, and left as it is
test("a file with overwritten pages is named, and left as it is", async () => {
  const path = await closedShop();
  const db = openDatabase(path);
  const roots = "SELECT rootpage FROM sqlite_master WHERE name IN ('people', '_raw_people', 'orders')";
  const pages = db.prepare(roots).pluck().all() as number[];
  db.close();
  const file = openSync(path, "r+");
  for (const page of pages) writeSync(file, Buffer.alloc(512, 7), 0, 512, (page - 1) * 4_096);
  closeSync(file);
  const { found, repair } = await verify(path);
  expect(found.match).toBe(false);
  expect(found.problems[0]).toMatchObject({
    kind: "integrity",
    hint: expect.stringContaining("Restore a backup") as string,
  });
  expect(repair).toBeNull();
});

test("what is no mirror is refused", async () => {
  const path = join(tempFolder(), "none.db");
  openDatabase(path).close();
  expect(await rejectionOf(verify(path))).toMatchObject({ kind: "database" });
});
