import { rmSync } from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { describe, expect, onTestFinished } from "vitest";
import { openSnapshot } from "../../src/state/mirror-snapshot.ts";
import { openMirror, type Mirror } from "../../src/state/mirror.ts";
import { findMoment, type MirrorMoment } from "../../src/state/as-of/moment.ts";
import { overlayAsOf, overlayWithHistory } from "../../src/state/as-of/overlays.ts";
import { OverlayOutdated } from "../../src/store/snapshot/overlay.ts";
import { clockAt, publishedContent } from "../support/export/published.ts";
import {
  derivedAgain,
  declarationOf,
  openHasty,
  resources,
  openShop,
  openAgain,
  rollBack,
} from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { anyChange, applyChange } from "../support/mirror/shop-history.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { put, rows, stampOf, startMs, remove, texts } from "../support/mirror/store.ts";
import type { ConnectorDeclaration } from "../../src/connector/connector-declaration.ts";
import type { Resource } from "../../src/connector/resource.ts";
import { HandOverCounts, recordHandOver } from "../../src/state/as-of/hand-overs.ts";
import { readLog, firstNumber, noteGiven, seqAt } from "../../src/state/log-identity.ts";
import { order, person } from "../support/mirror/shop-records.ts";
import { dayMs, isoTime, systemClock } from "../../src/base/clock.ts";
import { parsePosition } from "../../src/base/ids.ts";
import { Changes } from "../../src/store/apply/change-log.ts";
import { errorOf } from "../support/errors.ts";

const declaration = declarationOf();

const publishedAs = (mirror: Mirror | string, report: string) =>
  publishedContent(mirror, { declaration, report });

const parts = { clock: clockAt("2026-11-20"), signal: new AbortController().signal };

async function asOf(
  mirror: Mirror,
  moment: MirrorMoment,
  file = `${tempFolder()}/as-of.db`,
): Promise<string> {
  await overlayAsOf(mirror.db.name, file, declaration, moment, parts);
  return file;
}

/** The position `seq` of the log, so many seconds after its beginning. */
const momentAt = (seq: number, seconds = 0) => ({ log: "shop", seq, at: isoTime(startMs + seconds * 1000) });

const lastSeq = (mirror: Mirror) =>
  Number(mirror.db.prepare("SELECT max(seq) FROM _change_log").pluck().get());

const versioned = ["orders", "order_lines", "people"];
const rowsIn = (content: Record<string, unknown>) => versioned.map((name) => content[name]);

/** Of a mirror: gives the rows of a moment by its history. */
async function historyOf(mirror: Mirror): Promise<(at: string) => unknown[]> {
  const file = `${tempFolder()}/history.db`;
  await overlayWithHistory(mirror.db.name, file, declaration, parts);
  const { db } = openSnapshot(file, declaration, { reportDate: "2026-11-20" });
  onTestFinished(() => void db.close());
  const rowsOf = (name: string, at: string) => {
    const held = "valid_from <= @at AND (valid_to IS NULL OR valid_to > @at) AND _op <> 'delete'";
    const found = rows({ db }, `SELECT * FROM "${name}.history" WHERE ${held} ORDER BY 4, 5`, { at });
    return found.map(({ _op, valid_from: _from, valid_to: _to, ...row }) => row);
  };
  return (at) => versioned.map((name) => rowsOf(name, at));
}

describe("a mirror as of an earlier position", () => {
  test("is published as the mirror was then, cell by cell, whatever came, changed, went and came back", async () => {
    const steps = fc.array(anyChange, { minLength: 2, maxLength: 14 });
    const property = fc.asyncProperty(steps, async (changes) => {
      const mirror = await openHasty();
      const report = `${mirror.db.name}.report`;
      const known: { moment: MirrorMoment; content: Record<string, unknown> }[] = [];
      for (const [second, one] of changes.entries()) {
        applyChange(mirror, one, second);
        const moment = momentAt(lastSeq(mirror), second);
        if (moment.seq > 0) known.push({ moment, content: await publishedAs(mirror, report) });
      }
      const history = await historyOf(mirror);
      for (const { moment, content } of known) {
        const file = await asOf(mirror, moment);
        expect(await publishedAs(file, `${file}.report`)).toEqual(content);
        expect(history(moment.at)).toEqual(rowsIn(content));
      }
      mirror.close();
    });
    await fc.assert(property, { numRuns: 5 });
  });

  test("is brought up to date where the live mirror changes, and never read before", async ({ mirror }) => {
    put(mirror, "people", { id: 1, name: "a" });
    put(mirror, "people", { id: 2, name: "b" });
    const content = await publishedAs(mirror, `${mirror.db.name}.report`);
    put(mirror, "people", { id: 1, name: "changed" });
    const file = await asOf(mirror, momentAt(2));
    put(mirror, "people", { id: 2, name: "changed" });
    put(mirror, "people", { id: 3, name: "new" });
    await expect(publishedAs(file, `${file}.report`)).rejects.toThrow(OverlayOutdated);
    await asOf(mirror, momentAt(2), file);
    expect(await publishedAs(file, `${file}.report`)).toEqual(content);
  });

  test("leaves the live mirror as it is, and ends its own change log there", async ({ mirror }) => {
    put(mirror, "people", { id: 1, name: "a" });
    put(mirror, "people", { id: 1, name: "b" });
    const written = () => mirror.db.pragma("data_version", { simple: true });
    const before = written();
    const file = await asOf(mirror, momentAt(1));
    const snapshot = openSnapshot(file, declaration, { reportDate: "2026-11-20" });
    const log = "SELECT l.seq, r.json FROM _change_log l JOIN _raw_people r ON r.id = l.record_id";
    expect([snapshot.seq, ...texts(snapshot, log)]).toEqual([1, '1 {"id":1,"name":"a"}']);
    snapshot.close();
    expect(written()).toBe(before);
  });
});

test.each([
  ["1970-01-01", "starts at the beginning of time"],
  ["2027-06-01", "is ahead"],
])("a clock that is wrong for a while moves no other day: it says %s, as one that %s", async (wrong) => {
  const mirror = await openHasty();
  const reads = ["01", "02", "03", wrong, "04", "05"].flatMap((day) =>
    day === wrong ? [wrong] : [`2026-03-${day}T08:00Z`, `2026-03-${day}T20:00Z`],
  );
  for (const [n, at] of reads.entries()) {
    const stamp = stampOf(mirror, { receivedAtMs: Date.parse(at) });
    put(mirror, "people", { id: 1, name: `${n}` }, { stamp });
  }
  const nowMs = Date.parse("2026-03-09");
  const lastOf = (day: string) =>
    findMoment(mirror.db, { kind: "day", day: `2026-03-${day}` }, nowMs, "UTC").seq;
  expect(["01", "02", "04", "05"].map(lastOf)).toEqual([2, 4, 9, 11]);
});

/** The shop's orders as documents of months. */
const orders = { ...resources["orders"], files: { date: "issued_on" } } as Resource;
const shop = declarationOf([orders]);
const monthly = { ...shop, monthPackage: { documents: ["orders"] } } as unknown as ConnectorDeclaration;

const orderId = fc.integer({ min: 1, max: 3 });
const month = fc.constantFrom("2026-09", "2026-10");
const total = fc.integer({ min: 0, max: 2 });
const step = fc.oneof(
  fc.record({ kind: fc.constant("order" as const), id: orderId, month, total }),
  fc.record({ kind: fc.constant("gone" as const), id: orderId }),
  fc.record({ kind: fc.constant("handed over" as const), month }),
);

test("a count of what changed since a hand-over that goes on from the last one is as one that begins anew", async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
    const mirror = await openHasty({ declaration: monthly });
    const counts = new HandOverCounts();
    /** Which orders changed since their month was handed over, by the steps alone. */
    const changed = new Map<string, Set<number>>();
    const issued = new Map<number, { month: string; total: number }>();
    for (const one of steps) {
      if (one.kind === "handed over") {
        const [log, at] = [readLog(mirror.db).id, "2026-11-05T00:00:00.000Z"];
        const given = { month: one.month, seq: lastSeq(mirror), log, at, command: "", files: {} };
        recordHandOver(mirror.db, given);
        changed.set(one.month, new Set());
      } else {
        const before = issued.get(one.id);
        const after = one.kind === "order" ? { month: one.month, total: one.total } : undefined;
        if (JSON.stringify(before) === JSON.stringify(after)) continue;
        if (one.kind === "gone") remove(mirror, "orders", one.id);
        else {
          const record = order(one.id, { total: one.total, issuedOn: `${one.month}-03` });
          put(mirror, "orders", record, { source: "detail" });
        }
        if (after) issued.set(one.id, after);
        else issued.delete(one.id);
        for (const each of [before, after]) changed.get(each?.month ?? "")?.add(one.id);
      }
      const states = counts.read(mirror.db, monthly);
      expect(states).toEqual(new HandOverCounts().read(mirror.db, monthly));
      expect(new Map(states.map((state) => [state.month, state.changed]))).toEqual(
        new Map([...changed].map(([of, ids]) => [of, ids.size])),
      );
    }
    mirror.close();
  });
  await fc.assert(property, { numRuns: 15 });
});

test("rows that are derived again are no change since a hand-over", async () => {
  const mirror = await openHasty({ declaration: monthly });
  put(mirror, "orders", order(1, { issuedOn: "2026-10-03", total: 7 }), { source: "detail" });
  const { id: log } = readLog(mirror.db);
  const given = { month: "2026-10", seq: 1, log, at: "2026-11-05T00:00:00.000Z", command: "", files: {} };
  recordHandOver(mirror.db, given);
  mirror.db.exec("UPDATE orders SET total = 1");
  const again = await derivedAgain(mirror);
  expect(lastSeq(again)).toBe(2);
  expect(new HandOverCounts().read(again.db, monthly)).toMatchObject([{ changed: 0 }]);
});

const nowMs = Date.UTC(2026, 10, 24);

/** Makes a mirror, reads so many people into it, and closes it. */
async function aLog(file: string, atMs: number, people = 3) {
  const mirror = await openMirror(file, declarationOf(), { clock: { ...systemClock, nowMs: () => atMs } });
  for (let id = 1; id <= people; id++) put(mirror, "people", person(id));
  const found = { ...readLog(mirror.db), last: new Changes(mirror.db).lastSeq() };
  mirror.close();
  return found;
}

const removeMirror = (file: string) => {
  for (const ending of ["", "-wal", "-shm"]) rmSync(file + ending, { force: true });
};

describe("the change log of a mirror that is made anew", () => {
  // Fault: clock | the clock is set back by a year, and the mirror's file is removed | a mirror that is made anew | its numbers follow those that are noted beside the mirror
  test("has another identity and higher numbers, also where the clock was set back, by any time", async () => {
    const file = path.join(tempFolder(), "acme.db");
    const ids = new Set<string>();
    let last = 0;
    for (const atMs of [nowMs, nowMs - 365 * dayMs, nowMs - 365 * dayMs, nowMs - 1, 0, nowMs + 1_000]) {
      const { id, first, last: end } = await aLog(file, atMs);
      expect([first > last, end, ids.has(id)]).toEqual([true, first + 2, false]);
      expect(await aLog(file, atMs + dayMs)).toMatchObject({ id, first });
      ids.add(id);
      last = end;
      removeMirror(file);
    }
  });

  test("has higher numbers where only the time is left of the log before", () => {
    const ms = fc.integer({ min: 1, max: 365 * dayMs });
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const property = fc.property(ms, share, (elapsedMs, used) => {
      // Fewer numbers than microseconds.
      const last = firstNumber(nowMs, 0) + Math.floor(elapsedMs * 1_000 * used * 0.99);
      expect(firstNumber(nowMs + elapsedMs, 0)).toBeGreaterThan(last);
    });
    fc.assert(property);
  });

  test("has numbers that are safe integers, whatever the clock shows", () => {
    const farMs = Date.UTC(9999, 0, 1);
    expect(Number.isSafeInteger(firstNumber(farMs, firstNumber(farMs, 0)) + 10 ** 12)).toBe(true);
  });

  test("follows a number that is noted, however high; a damaged note counts for nothing", async () => {
    const file = path.join(tempFolder(), "acme.db");
    noteGiven(file, 10 ** 15);
    noteGiven(file, 5);
    expect((await aLog(file, nowMs)).first).toBeGreaterThan(10 ** 15);
  });

  test("numbers its first change again where its transaction was rolled back", async ({ mirror }) => {
    mirror.meta.set("log", { id: "a1", from: 7_000, first: 7_000 });
    const again = await openAgain(mirror);
    rollBack(again, () => put(again, "people", person(1)));
    for (const id of [1, 2]) put(again, "people", person(id));
    expect(new Changes(again.db).factsAfter(0, 9).map(({ seq }) => seq)).toEqual([7_000, 7_001]);
  });
});

/** A log of which 1 to 3 are from a backup, 4 to 6 were lost, and 7 to 9 came after its restore. */
async function aRestoredLog(): Promise<Mirror> {
  const mirror = await openShop();
  for (const id of [1, 2, 3]) put(mirror, "people", person(id));
  mirror.meta.set("log", { id: "b2", from: 1, first: 7 });
  const restored = await openAgain(mirror);
  for (const id of [4, 5, 6]) put(restored, "people", person(id, "Bob"));
  return restored;
}

describe("a position", () => {
  test("of this log is taken, with its identity or without", async () => {
    const { db } = await aRestoredLog();
    for (const seq of [0, 1, 3, 7, 9])
      for (const log of ["b2", null]) expect(seqAt(db, { log, seq })).toBe(seq);
  });

  test("that this log never had is refused, with what to do", async () => {
    const { db } = await aRestoredLog();
    for (const [log, seq, message] of [
      ["a1", 3, "another change log"],
      ["a1", 0, "another change log"],
      [null, 4, "no position 4"],
      ["b2", 6, "no position 6"],
      ["b2", 10, "it ends at 9"],
      [null, 50_000, "it ends at 9"],
    ] as const) {
      const { kind, message: said, hint } = errorOf(() => seqAt(db, { log, seq }));
      expect([kind, said]).toEqual(["usage", expect.stringContaining(message)]);
      expect(hint).toContain("Begin anew");
    }
  });

  test("below the first number of a log that was never pruned is refused; its beginning is 0", async () => {
    const file = path.join(tempFolder(), "acme.db");
    const { first } = await aLog(file, nowMs);
    const { db } = await openShop({ path: file });
    expect(seqAt(db, { log: null, seq: 0 })).toBe(first - 1);
    expect(errorOf(() => seqAt(db, { log: null, seq: 120 })).kind).toBe("usage");
  });

  test("is written as LOG:SEQ or SEQ", () => {
    const position = { log: "3f9a2c718b1d", seq: 28_346_876_123_001 };
    expect(parsePosition("3f9a2c718b1d:28346876123001")).toEqual(position);
    expect(parsePosition("120")).toEqual({ log: null, seq: 120 });
    for (const text of ["", "a:", ":1", "-1", "1.5", "a:b", "99999999999999999", "9999999999999999", "a:1:2"])
      expect(parsePosition(text)).toBeNull();
  });
});
