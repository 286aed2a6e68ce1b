import * as fc from "fast-check";
import { describe, expect, onTestFinished } from "vitest";
import { overlayWithHistory } from "../../src/state/as-of/history.ts";
import { openSnapshot } from "../../src/state/mirror-snapshot.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { findMoment, type MirrorMoment } from "../../src/state/as-of/moment.ts";
import { overlayAsOf } from "../../src/state/as-of/rewind.ts";
import { OverlayOutdated } from "../../src/store/snapshot/overlay.ts";
import { clockAt, publishedContent } from "../support/export/published.ts";
import { manifestOf, openHasty, resources } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { anyChange, applyChange } from "../support/mirror/shop-history.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { put, stampOf, startMs, remove } from "../support/mirror/store.ts";
import type { Manifest } from "../../src/connector/connector-manifest.ts";
import type { Resource } from "../../src/connector/resource.ts";
import { HandOverCounts, recordHandOver } from "../../src/state/as-of/hand-overs.ts";
import { readLog } from "../../src/state/log-identity.ts";
import { order } from "../support/mirror/shop-records.ts";

const manifest = manifestOf();

const publishedAs = (mirror: Mirror | string, report: string) =>
  publishedContent(mirror, { manifest, report });

async function asOf(
  mirror: Mirror,
  moment: MirrorMoment,
  file = `${tempFolder()}/as-of.db`,
): Promise<string> {
  const signal = new AbortController().signal;
  await overlayAsOf(mirror.db.name, file, manifest, moment, { clock: clockAt("2026-11-20"), signal });
  return file;
}

const versioned = ["orders", "order_lines", "people"];
const rowsIn = (content: Record<string, unknown>) => versioned.map((name) => content[name]);

/** Of a mirror: gives the rows of a moment by its history. */
async function historyOf(mirror: Mirror): Promise<(at: string) => unknown[]> {
  const file = `${tempFolder()}/history.db`;
  const signal = new AbortController().signal;
  await overlayWithHistory(mirror.db.name, file, manifest, { clock: clockAt("2026-11-20"), signal });
  const { db } = openSnapshot(file, manifest, { reportDate: "2026-11-20" });
  onTestFinished(() => void db.close());
  const rowsOf = (name: string, at: string) => {
    const held = "valid_from <= @at AND (valid_to IS NULL OR valid_to > @at) AND _op <> 'delete'";
    const rows = db.prepare(`SELECT * FROM "${name}.history" WHERE ${held} ORDER BY 4, 5`).all({ at });
    const own = new Set(["_op", "valid_from", "valid_to"]);
    return (rows as Record<string, unknown>[]).map((row) =>
      Object.fromEntries(Object.entries(row).filter(([column]) => !own.has(column))),
    );
  };
  return (at) => versioned.map((name) => rowsOf(name, at));
}

describe("a mirror as of an earlier position", () => {
  test("is published as the mirror was then, cell by cell, whatever came, changed, went and came back", async () => {
    const property = fc.asyncProperty(
      fc.array(anyChange, { minLength: 2, maxLength: 14 }),
      async (changes) => {
        const mirror = await openHasty();
        const report = `${mirror.db.name}.report`;
        const known: { moment: MirrorMoment; content: Record<string, unknown> }[] = [];
        for (const [step, one] of changes.entries()) {
          applyChange(mirror, one, step);
          const last = mirror.db.prepare("SELECT max(seq) FROM _change_log").pluck().get() as number | null;
          const at = new Date(startMs + step * 1000).toISOString();
          if (last !== null)
            known.push({
              moment: { log: "shop", seq: last, at },
              content: await publishedAs(mirror, report),
            });
        }
        const history = await historyOf(mirror);
        for (const { moment, content } of known) {
          const file = await asOf(mirror, moment);
          expect(await publishedAs(file, `${file}.report`)).toEqual(content);
          expect(history(moment.at)).toEqual(rowsIn(content));
        }
        mirror.close();
      },
    );
    await fc.assert(property, { numRuns: 5 });
  });

  test("is brought up to date where the live mirror changes, and never read before", async ({ mirror }) => {
    put(mirror, "people", { id: 1, name: "a" });
    put(mirror, "people", { id: 2, name: "b" });
    const content = await publishedAs(mirror, `${mirror.db.name}.report`);
    const moment = { log: "shop", seq: 2, at: new Date(startMs).toISOString() };
    put(mirror, "people", { id: 1, name: "changed" });
    const file = await asOf(mirror, moment);
    put(mirror, "people", { id: 2, name: "changed" });
    put(mirror, "people", { id: 3, name: "new" });
    await expect(publishedAs(file, `${file}.report`)).rejects.toThrow(OverlayOutdated);
    await asOf(mirror, moment, file);
    expect(await publishedAs(file, `${file}.report`)).toEqual(content);
  });

  test("leaves the live mirror as it is, and ends its own change log there", async ({ mirror }) => {
    put(mirror, "people", { id: 1, name: "a" });
    put(mirror, "people", { id: 1, name: "b" });
    const written = () => mirror.db.pragma("data_version", { simple: true });
    const before = written();
    const file = await asOf(mirror, { log: "shop", seq: 1, at: new Date(startMs).toISOString() });
    const snapshot = openSnapshot(file, manifest, { reportDate: "2026-11-20" });
    const log = snapshot.db.prepare(
      "SELECT l.seq, r.json FROM _change_log l JOIN _raw_people r ON r.id = l.record_id",
    );
    expect([snapshot.seq, log.all()]).toEqual([1, [{ seq: 1, json: JSON.stringify({ id: 1, name: "a" }) }]]);
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
  for (const [n, at] of reads.entries())
    put(
      mirror,
      "people",
      { id: 1, name: `${n}` },
      { stamp: stampOf(mirror, { receivedAtMs: Date.parse(at) }) },
    );
  const asked = { nowMs: Date.parse("2026-03-09"), timezone: "UTC" };
  const lastOf = (day: string) => findMoment(mirror.db, { kind: "day", day: `2026-03-${day}` }, asked).seq;
  expect(["01", "02", "04", "05"].map(lastOf)).toEqual([2, 4, 9, 11]);
});

/** The shop's orders as documents of months. */
const orders = { ...resources["orders"], files: { date: "issued_on" } } as Resource;
const shop = manifestOf([orders]);
const monthly = { ...shop, monthPackage: { documents: ["orders"] } } as unknown as Manifest;

const id = fc.integer({ min: 1, max: 3 });
const month = fc.constantFrom("2026-09", "2026-10");
const step = fc.oneof(
  fc.record({ kind: fc.constant("order" as const), id, month, total: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ kind: fc.constant("gone" as const), id }),
  fc.record({ kind: fc.constant("handed over" as const), month }),
);

test("a count of what changed since a hand-over that goes on from the last one is as one that begins anew", async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
    const mirror = await openHasty({ manifest: monthly });
    const counts = new HandOverCounts();
    /** Which orders changed since their month was handed over, by the steps alone. */
    const changed = new Map<string, Set<number>>();
    const issued = new Map<number, { month: string; total: number }>();
    for (const one of steps) {
      const seq = Number(mirror.db.prepare("SELECT coalesce(max(seq), 0) FROM _change_log").pluck().get());
      if (one.kind === "handed over") {
        const { month: of } = one;
        const at = "2026-11-05T00:00:00.000Z";
        recordHandOver(mirror.db, { month: of, seq, log: readLog(mirror.db).id, at, command: "", files: {} });
        changed.set(of, new Set());
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
