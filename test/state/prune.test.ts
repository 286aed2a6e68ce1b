import { cpSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { declaration as fintoro } from "../../connectors/fintoro/declaration.ts";
import { dayMs } from "../../src/base/clock.ts";
import { openDatabase } from "../../src/store/database.ts";
import { Changes } from "../../src/store/apply/change-log.ts";
import { Listings } from "../../src/state/listings.ts";
import { openMirror, type Mirror } from "../../src/state/mirror.ts";
import { aFullShop, check, named, repair } from "../support/mirror/local-check.ts";
import { declarationOf, openHasty } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { person } from "../support/mirror/shop-records.ts";
import { endRun, listing } from "../support/mirror/state-rows.ts";
import { publish, reading } from "../support/export/published.ts";
import {
  answersOf,
  changeDaily,
  daysAgo,
  makeRuns,
  prune,
  pruneMs,
  replayOver,
  stoppedClock,
} from "../support/mirror/prune.ts";
import { dump } from "../support/truth/compare.ts";
import {
  allChanges,
  liveRecords,
  put,
  remove,
  rows,
  stampOf,
  texts,
  written,
} from "../support/mirror/store.ts";
import { about, deliveryOf, openIngest } from "../support/webhook/webhook.ts";
import { countOld } from "../../src/state/retention/prune-mirror.ts";
import { readSizes } from "../../src/state/retention/sizes.ts";
import { Runs } from "../../src/state/runs.ts";
import { openSnapshot } from "../../src/state/mirror-snapshot.ts";

const changesFor = (days: number) => ({ changesMs: days * dayMs });
const all = { runsMs: 1_000, inboxBodiesMs: 1_000, changesMs: 1_000 };
const muchLater = { clock: stoppedClock(undefined, Date.now() + 900 * dayMs) };

const damage = async (mirror: Mirror) => named(await check(mirror));

describe("the change log", () => {
  test("I2: keeps its end unchanged, which gives the live rows after what went", async ({ mirror }) => {
    changeDaily(mirror, 100);
    const before = allChanges(mirror);
    const report = await prune(mirror, changesFor(30));
    const left = allChanges(mirror);
    expect(report.changes).toMatchObject({ rows: 70 * 3, first_seq: 70 * 3 + 1 });
    expect(report.changes.bytes).toBeGreaterThan(60_000);
    expect(left).toEqual(before.filter(({ seq }) => seq > 70 * 3));
    expect(replayOver(before, left)).toEqual(liveRecords(mirror, "people"));
    expect(rows(mirror, "SELECT count(*) AS count FROM _reads")).toEqual([{ count: left.length }]);
    expect(await damage(mirror)).toEqual([]);
    changeDaily(mirror, 1, 7);
    expect(replayOver(before, allChanges(mirror))).toEqual(liveRecords(mirror, "people"));
    expect(await damage(mirror)).toEqual([]);
  });

  test("deletions of the last day stay: the event worker counts them (I5)", async ({ mirror }) => {
    changeDaily(mirror, 10, 1);
    const stamp = stampOf(mirror, { receivedAtMs: pruneMs - 3_600_000, cause: "webhook" });
    remove(mirror, "people", 2, stamp);
    put(mirror, "people", person(9), { stamp: stampOf(mirror, { receivedAtMs: pruneMs - 2_000 }) });
    await prune(mirror, all);
    expect(allChanges(mirror).map(({ op }) => op)).toEqual(["delete", "insert"]);
  });

  test("a mirror of every kind of record stays sound by itself, and damage is still found and repaired", async () => {
    const mirror = await aFullShop();
    expect(await damage(mirror)).toEqual([]);
    const shown = () => dump(mirror.db.name, ["_runs", "_change_log", "_reads", "_meta", "_changes"]);
    const live = shown();
    await prune(mirror, all, muchLater);
    const [last, ...others] = allChanges(mirror);
    expect(others).toEqual([]);
    expect(await damage(mirror)).toEqual([]);
    expect(shown()).toEqual(live);
    put(mirror, "people", { id: 1, name: "once" });
    put(mirror, "people", { id: 1, name: "twice" });
    // The last change stays whatever its age, so that no number is given twice.
    expect(allChanges(mirror)[1]?.seq).toBe((last?.seq ?? 0) + 1);
    mirror.db.exec("DELETE FROM _change_log WHERE seq = (SELECT max(seq) FROM _change_log)");
    mirror.db.exec("UPDATE people SET name = 'wrong' WHERE id = 2");
    expect(await damage(mirror)).toContain("people different 2 name");
    await repair(mirror);
    expect(await damage(mirror)).toEqual([]);
  });

  test("a report of before is made anew, not brought up to date over the gap", async () => {
    const mirror = await openHasty({ declaration: fintoro });
    put(mirror, "units", { id: 1, name: "one" });
    put(mirror, "units", { id: 1, name: "two" });
    await publish(mirror);
    for (const id of [1, 2]) put(mirror, "units", { id, name: "three" });
    await prune(mirror, all, muchLater);
    expect(new Changes(mirror.db).firstSeq()).toBe(4);
    const again = await publish(mirror, { way: "changes" });
    expect(again).toMatchObject({ outcome: "written", way: "anew" });
    expect(texts({ db: reading(again.file) }, "SELECT id, name FROM units")).toEqual(["1 three", "2 three"]);
  });
});

test("I7: a pruned event is still known; waiting ones keep their body; a replay says what was pruned", async () => {
  const { mirror, ingest } = await openIngest();
  const sent = [about(1), about(2, "unheard.of", "x"), about(3)];
  const store = (text: string, atMs: number) => ingest.store([deliveryOf(text)], atMs)[0];
  const [first, , third] = sent.map((text, day) => store(text, pruneMs - (30 - day) * dayMs)?.eventId ?? "");
  mirror.db.exec("UPDATE _inbox SET state = 'done' WHERE seq = 1");
  store(about(4), pruneMs - 1_000);
  const { inbox_bodies } = await prune(mirror, { inboxBodiesMs: dayMs });
  expect(inbox_bodies).toEqual({ rows: 2, bytes: (sent[0]?.length ?? 0) + (sent[1]?.length ?? 0) });
  const bodies = texts(mirror, "SELECT typeof(body) FROM _inbox ORDER BY seq");
  expect(bodies).toEqual(["integer", "integer", "text", "text"]);
  for (const text of sent) expect(store(text, pruneMs)?.outcome).toBe("duplicate");
  const replayed = ingest.replay([first ?? "", third ?? "", "unknown"], pruneMs);
  expect(replayed).toEqual({ queued: 1, unread: 0, missing: ["unknown"], pruned: [first] });
  mirror.db.exec("UPDATE _inbox SET state = 'done' WHERE seq = 3");
  expect((await prune(mirror, { inboxBodiesMs: dayMs })).inbox_bodies.rows).toBe(1);
  const before = written(mirror);
  expect((await prune(mirror, { inboxBodiesMs: dayMs })).inbox_bodies.rows).toBe(0);
  expect(written(mirror)).toBe(before);
  expect(await damage(mirror)).toEqual([]);
});

describe("a prune", () => {
  test("leaves a sound mirror at each of its pauses, and another one finishes it", async ({ mirror }) => {
    changeDaily(mirror, 90, 7);
    makeRuns(mirror, 9);
    const before = allChanges(mirror);
    const live = liveRecords(mirror, "people");
    const folder = tempFolder();
    const copies: string[] = [];
    const copy = () => {
      const file = join(folder, `${copies.length}.db`);
      for (const end of ["", "-wal"]) cpSync(`${mirror.db.name}${end}`, `${file}${end}`);
      copies.push(file);
    };
    await prune(mirror, all, { clock: stoppedClock(copy) });
    expect(copies.length).toBeGreaterThan(5);
    const whole = dump(mirror.db.name, []);
    for (const file of copies) {
      const found = await openMirror(file, declarationOf());
      expect(await damage(found)).toEqual([]);
      expect(replayOver(before, allChanges(found))).toEqual(live);
      expect(answersOf(found.db)).toEqual(answersOf(mirror.db));
      await prune(found, all);
      expect(dump(file, [])).toEqual(whole);
      found.close();
    }
  });

  test("of nothing old, and a dry one, write nothing; a dry one says what would go", async ({ mirror }) => {
    changeDaily(mirror, 100, 5);
    makeRuns(mirror, 3);
    // Numbers that a restore left out.
    mirror.db.exec("UPDATE _change_log SET seq = seq + 1000000 WHERE seq > 400");
    const before = written(mirror);
    await prune(mirror, { runsMs: 9_000 * dayMs, inboxBodiesMs: dayMs, changesMs: 9_000 * dayMs });
    const reader = openDatabase(mirror.db.name, { readonly: true });
    const dry = await prune({ db: reader }, all, { dryRun: true });
    reader.close();
    expect(written(mirror)).toBe(before);
    const { dry_run, ...wet } = await prune(mirror, all);
    expect([dry.dry_run, dry_run]).toEqual([true, false]);
    expect([dry.runs, dry.changes, dry.inbox_bodies]).toEqual([wet.runs, wet.changes, wet.inbox_bodies]);
  });

  test("is cut off between two transactions; the next one gives space back in pieces", async ({ mirror }) => {
    const file = mirror.db.name;
    changeDaily(mirror, 400, 7);
    mirror.db.pragma("wal_checkpoint(PASSIVE)");
    const { size } = statSync(file);
    const sleeps: number[] = [];
    const stop = new AbortController();
    const cutOff = { clock: stoppedClock(() => stop.abort()), signal: stop.signal };
    const first = { finished: false, changes: { rows: 200, first_seq: 201 } };
    expect(await prune(mirror, changesFor(3), cutOff)).toMatchObject(first);
    const next = await prune(mirror, changesFor(3), { clock: stoppedClock(() => sleeps.push(1)) });
    expect(next).toMatchObject({ free_bytes: 0 });
    expect(next.released_bytes).toBeGreaterThan(1_000_000);
    mirror.db.pragma("wal_checkpoint(PASSIVE)");
    expect(statSync(file).size).toBeLessThanOrEqual(size - next.released_bytes);
    expect(sleeps.length).toBeGreaterThanOrEqual(7);
    expect(await damage(mirror)).toEqual([]);
  });
});

describe("runs", () => {
  test.each([1, 2])("go by age; whatever is asked of the others has the same answer (%i)", async (seed) => {
    const mirror = await openHasty();
    makeRuns(mirror, seed);
    const before = answersOf(mirror.db);
    const { runs } = await prune(mirror, { runsMs: 300 * dayMs });
    expect(answersOf(mirror.db)).toEqual(before);
    expect(runs.rows).toBeGreaterThan(300);
    expect(new Runs(mirror.db).latest(1_000).length).toBe(700 - runs.rows);
    await prune(mirror, { runsMs: 1_000 });
    expect(answersOf(mirror.db)).toEqual(before);
    expect(new Runs(mirror.db).latest(1_000).length).toBeLessThan(150);
    expect((await prune(mirror, { runsMs: 1_000 })).runs.rows).toBe(0);
  });

  test("those of an open list, and the first whole one, stay", async ({ mirror }) => {
    for (let day = 20; day > 0; day--) endRun(mirror.db, Date.parse(daysAgo(day)));
    new Listings(mirror.db).open({ ...listing, run: 7 }, null);
    await prune(mirror, all);
    expect(new Runs(mirror.db).latest(99).map(({ id }) => id)).toEqual([20, 7, 1]);
  });
});

test("sizes: about what the tables take, of few rows read", ({ mirror }) => {
  expect(readSizes(mirror.db)).toMatchObject({ inbox: { rows: 0, bytes: 0 }, runs: { rows: 0, bytes: 0 } });
  changeDaily(mirror, 100, 7);
  makeRuns(mirror, 4);
  const sizes = readSizes(mirror.db);
  expect(sizes.change_log.rows).toBe(700);
  const kept = Number(texts(mirror, "SELECT sum(pgsize) FROM dbstat WHERE name = '_change_log'")[0]);
  expect(sizes.change_log.bytes / kept).toBeGreaterThan(0.7);
  expect(sizes.change_log.bytes / kept).toBeLessThan(1.4);
  expect(sizes.runs.rows).toBe(700);
  expect(sizes.database_bytes).toBeGreaterThan(kept);
});

// Fault: clock | rows written by a clock that was ahead | the times of old rows | they go with an old one written after them, and not without
test("rows are old by their times and their order", () => {
  const limit = { until: daysAgo(10), now: daysAgo(0) };
  const [old, young, ahead] = [{ at: daysAgo(11) }, { at: daysAgo(9) }, { at: daysAgo(-1) }];
  const undated = { at: null };
  expect(countOld([], limit)).toBe(0);
  expect(countOld([old, old, young, old], limit)).toBe(2);
  expect(countOld([young, old], limit)).toBe(0);
  expect(countOld([ahead, undated, old, ahead, young], limit)).toBe(3);
  expect(countOld([ahead, ahead], limit)).toBe(0);
});

test("a snapshot gives what it knows of runs", ({ mirror }) => {
  mirror.db.exec(`INSERT INTO _runs (mode, started_at, finished_at, outcome, pid, swept) VALUES
    ('full', '2026-03-01T00:00:00.000Z', '2026-03-01T00:01:00.000Z', 'complete', 1, '{"people":"2026-03-01T00:00:01.000Z"}'),
    ('full', '2026-03-02T00:00:00.000Z', NULL, NULL, 1, '{}')`);
  const given = { reportDate: "2026-11-22", facts: { company: "acme" } };
  using snapshot = openSnapshot(mirror.db.name, declarationOf(), given);
  expect(snapshot.run).toMatchObject({ id: 1, outcome: "complete" });
  const at = "2026-03-01T00:00:01.000Z";
  const wholeAt = (name: string) => snapshot.completeness.get(name)?.wholeAt;
  expect(["people", "notes", "orders"].map(wholeAt)).toEqual([at, at, null]);
  const facts = texts(snapshot, "SELECT * FROM _about");
  const known = ["report company acme", `people fresh_at ${at}`, "orders fresh_at null"];
  expect(facts).toEqual(expect.arrayContaining(known));
});
