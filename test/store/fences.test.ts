import * as fc from "fast-check";
import { describe, expect } from "vitest";
import { Fences } from "../../src/store/apply/table-context.ts";
import type { ReadStamp } from "../../src/store/apply/read-stamp.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { person, listed, order } from "../support/mirror/shop-records.ts";
import {
  allChanges,
  liveRecords,
  put,
  putPreview,
  remove,
  replay,
  row,
  rows,
  send,
  stampOf,
  startMs,
  texts,
  written,
} from "../support/mirror/store.ts";

describe("I3: a read applies only where it was sent after the last applied read was received", () => {
  test("a list that writes the same otherwise holds back the reads sent before it", ({ mirror }) => {
    put(mirror, "people", person(1, "A"), { source: "detail" });
    const early = send(mirror);
    const later = send(mirror);
    const reordered = { name: "A", id: 1, email: null, score: null };
    expect(put(mirror, "people", reordered, { stamp: later.receive() })).toBe("unchanged");
    later.end();
    expect(put(mirror, "people", person(1, "B"), { stamp: early.receive() })).toBe("stale");
  });

  // Fault: service | a 404 overlaps with a list that shows the record | read stamps | nothing is removed, and it is asked again (I5)
  test("a 404 that overlapped with a read is stale, and not with a deletion; it holds earlier ones back", ({
    mirror,
  }) => {
    put(mirror, "people", person(1));
    const [one, two, three] = [send(mirror), send(mirror), send(mirror)];
    put(mirror, "people", person(1, "later"));
    expect(remove(mirror, "people", 1, one.receive())).toBe("stale");
    expect(remove(mirror, "people", 1)).toBe("removed");
    expect(remove(mirror, "people", 1, two.receive())).toBe("absent");
    expect(remove(mirror, "people", 2)).toBe("absent");
    expect(put(mirror, "people", person(2), { stamp: three.receive() })).toBe("stale");
  });

  test("a list that shows a preview unchanged holds back the lists sent before it", ({ mirror }) => {
    const shown = { id: 1, number: "A", total: 1 };
    putPreview(mirror, "orders", shown);
    const [early, later] = [send(mirror), send(mirror)];
    expect(putPreview(mirror, "orders", shown, later.receive()).result).toBe("unchanged");
    later.end();
    expect(putPreview(mirror, "orders", { ...shown, total: 2 }, early.receive()).result).toBe("stale");
  });
});

/** What the service held at each moment, and the reads that saw it. */
interface Read {
  /** Moments in order: sent, looked at by the service, received. */
  readonly moments: readonly [number, number, number];
  readonly source: "list" | "detail";
}

const read: fc.Arbitrary<Read> = fc.record({
  moments: fc
    .uniqueArray(fc.integer({ min: 0, max: 11 }), { minLength: 3, maxLength: 3 })
    .map((moments) => moments.toSorted((a, b) => a - b) as [number, number, number]),
  source: fc.constantFrom("list", "detail"),
});

/** Values as the service holds them over twelve moments; `null` is deleted. */
const history = fc.array(fc.constantFrom("A", "A", "B", "C", null), { minLength: 12, maxLength: 12 });

// Fault: data | two or three reads of one record in any order | every interleaving of their stamps | the latest read counts (I3)
test("I3: any interleaving of reads ends with what the latest saw, or that is stale", ({ mirror }) => {
  let id = 0;
  const property = fc.property(
    fc.array(read, { minLength: 2, maxLength: 3 }),
    history,
    fc.constantFrom("A", "B", null),
    (reads, held, before) => {
      id += 1;
      if (before !== null) put(mirror, "people", person(id, before), { source: "detail" });
      const { saw, isStale } = play(mirror, id, reads, held);
      if (!isStale) expect(current(mirror, id)).toBe(saw);
    },
  );
  fc.assert(property, { numRuns: 500 });
});

/** Plays the reads in time order. Returns what the latest of them saw, and whether it was stale. */
function play(mirror: Mirror, id: number, reads: readonly Read[], held: readonly (string | null)[]) {
  const flights = new Map<Read, ReturnType<typeof send>>();
  const stale = new Set<Read>();
  for (const moment of held.keys())
    for (const one of reads) {
      const [sentAt, lookedAt, receivedAt] = one.moments;
      if (moment === sentAt) flights.set(one, send(mirror));
      const flight = moment === receivedAt ? flights.get(one) : undefined;
      if (!flight) continue;
      if (answerWith(mirror, id, one.source, held[lookedAt], flight.receive()) === "stale") stale.add(one);
      flight.end();
    }
  const [latest] = reads.toSorted((a, b) => b.moments[1] - a.moments[1]) as [Read];
  return { saw: held[latest.moments[1]], isStale: stale.has(latest) };
}

function answerWith(
  mirror: Mirror,
  id: number,
  source: "list" | "detail",
  value: string | null | undefined,
  stamp: ReadStamp,
): string {
  if (value) return put(mirror, "people", person(id, value), { stamp, source });
  // A list without the record is no answer about it: absence is asked for on the record's own route.
  return remove(mirror, "people", id, stamp);
}

function current(mirror: Mirror, id: number): string | null {
  const found = row(mirror, "people", id);
  return found && found["_deleted_at"] === null ? String(found["name"]) : null;
}

test("fences in memory know one resource's confirmations, and only while an older read is in flight", () => {
  const fences = new Fences();
  fences.begin(1);
  fences.confirm("people", 7, 1, 2);
  fences.begin(3);
  expect(fences.isStale("people", 7, 2, 0)).toBe(false);
  fences.confirm("people", 7, 3, 4);
  expect([fences.isStale("people", 7, 1, 0), fences.isStale("orders", 7, 1, 0)]).toEqual([true, false]);
  fences.end(3);
  expect(fences.isStale("people", 7, 1, 0)).toBe(true);
  fences.end(1);
  expect(fences.isStale("people", 7, 1, 0)).toBe(false);
});

/** Its record is to be read. */
const asNew = { read: { reason: "new" } };

describe("a provisional row", () => {
  test("shows what the preview shows, has no children, and its JSON is the preview", ({ mirror }) => {
    const shown = listed(1, { label: "nobody knows" });
    expect(putPreview(mirror, "orders", shown)).toMatchObject({ result: "inserted", ...asNew });
    const own = { number: "A", total: 1, remark: null, _deleted_at: null, _detail_at: null };
    expect(row(mirror, "orders", 1)).toMatchObject(own);
    expect(texts(mirror, "SELECT id, kind, json FROM _raw")).toEqual([`1 preview ${JSON.stringify(shown)}`]);
    expect(row(mirror, "orders", 1)).not.toHaveProperty("label");
    expect(allChanges(mirror)).toMatchObject([{ op: "insert", cause: "sweep", before: null }]);
    expect(mirror.records.counts("orders")).toEqual({ live: 1, deleted: 0, provisional: 1 });
  });

  test("gets its detail as an update, also when every cell is equal", ({ mirror }) => {
    const first = putPreview(mirror, "orders", listed(1)).read?.listed;
    const stamp = stampOf(mirror, { cause: "hydrate", receivedAtMs: startMs + 1_000 });
    expect(put(mirror, "orders", order(1), { source: "detail", stamp, listed: first })).toBe("hydrated");
    expect(row(mirror, "orders", 1)?.["_detail_at"]).toBe("2026-03-01T00:00:01.000Z");
    const changes = texts(mirror, "SELECT op, cause FROM _changes ORDER BY seq");
    expect(changes).toEqual(["insert sweep", "update hydrate"]);
    expect(texts(mirror, "SELECT id, kind FROM _raw")).toEqual(["1 detail"]);
    const before = written(mirror);
    expect(putPreview(mirror, "orders", listed(1))).toEqual({ result: "unchanged", read: null });
    expect(written(mirror)).toBe(before);
  });

  test("is asked for by each list that shows it, and written when it changed", ({ mirror }) => {
    putPreview(mirror, "orders", listed(1));
    const before = written(mirror);
    expect(putPreview(mirror, "orders", listed(1))).toMatchObject({ result: "unchanged", ...asNew });
    expect(written(mirror)).toBe(before);
    const updated = { result: "updated", ...asNew };
    expect(putPreview(mirror, "orders", listed(1, { total: 2 }))).toMatchObject(updated);
    expect(row(mirror, "orders", 1)).toMatchObject({ total: 2, _detail_at: null });
    putPreview(mirror, "orders", { id: 1, number: "A" });
    expect(row(mirror, "orders", 1)?.["total"]).toBeNull();
  });

  test("I3: is not overwritten by a detail that was sent before its preview came", ({ mirror }) => {
    const detail = send(mirror);
    putPreview(mirror, "orders", listed(1, { total: 2 }));
    const stamp = detail.receive({ cause: "hydrate" });
    expect(put(mirror, "orders", order(1), { source: "detail", stamp })).toBe("stale");
    expect(row(mirror, "orders", 1)).toMatchObject({ total: 2, _detail_at: null });
  });

  test("is deleted like others, and a list that shows the record again inserts it again", ({ mirror }) => {
    putPreview(mirror, "orders", listed(1));
    expect(remove(mirror, "orders", 1)).toBe("removed");
    expect(row(mirror, "orders", 1)?.["_deleted_at"]).not.toBeNull();
    expect(mirror.records.counts("orders")).toEqual({ live: 0, deleted: 1, provisional: 0 });
    expect(putPreview(mirror, "orders", listed(1)).result).toBe("inserted");
    expect(row(mirror, "orders", 1)?.["_deleted_at"]).toBeNull();
    expect(allChanges(mirror).map(({ op }) => op)).toEqual(["insert", "delete", "insert"]);
  });

  test("a tombstone keeps when its detail was read, until a list shows the record", ({ mirror }) => {
    put(mirror, "orders", order(1, { lines: [{ id: 3, title: "x" }] }), { source: "detail" });
    remove(mirror, "orders", 1);
    expect(row(mirror, "orders", 1)?.["_detail_at"]).toBe("2026-03-01T00:00:00.000Z");
    putPreview(mirror, "orders", listed(1));
    expect(row(mirror, "orders", 1)).toMatchObject({ _detail_at: null, remark: null });
  });

  test("I12: an odd preview makes no row and leaves one as it is; the detail is read", ({ mirror }) => {
    const odd = listed(1, { number: { no: "text" } });
    expect(putPreview(mirror, "orders", odd)).toMatchObject({ result: "unchanged", ...asNew });
    expect(row(mirror, "orders", 1)).toBeUndefined();
    putPreview(mirror, "orders", listed(1));
    expect(putPreview(mirror, "orders", odd)).toMatchObject({ result: "unchanged", ...asNew });
    expect(row(mirror, "orders", 1)?.["number"]).toBe("A");
  });
});

type Write = readonly ["preview" | "detail" | "late" | "remove", id: number, total: number];

const writes: fc.Arbitrary<Write[]> = fc.array(
  fc.tuple(
    fc.constantFrom("preview", "preview", "detail", "late", "remove"),
    fc.integer({ min: 1, max: 3 }),
    fc.integer({ min: 1, max: 3 }),
  ),
  { maxLength: 25 },
);

test("I2, I3: in any order the log gives the live rows, and no preview replaces a detail", ({ mirror }) => {
  const property = fc.property(writes, (list) => {
    for (const [what, id, total] of list) {
      const early = send(mirror);
      if (what === "preview") putPreview(mirror, "orders", listed(id, { total }));
      if (what === "detail") put(mirror, "orders", order(id, { total }), { source: "detail" });
      if (what === "remove") remove(mirror, "orders", id);
      if (what === "late") {
        putPreview(mirror, "orders", listed(id, { total }));
        put(mirror, "orders", order(id), { source: "detail", stamp: early.receive() });
      }
      early.end();
      expect(replay(allChanges(mirror, null, 500))).toEqual(liveRecords(mirror, "orders"));
    }
    const lost = allChanges(mirror).filter(
      ({ op, before, after }) => op === "update" && before?.includes("lines") && !after?.includes("lines"),
    );
    expect(lost).toEqual([]);
    const mixed = `SELECT o.id FROM orders o JOIN _raw r ON r.resource = 'orders' AND r.id = o.id
      WHERE o._deleted_at IS NULL AND (o._detail_at IS NULL) <> (r.kind = 'preview')`;
    expect(rows(mirror, mixed)).toEqual([]);
  });
  fc.assert(property, { numRuns: 40 });
});

test("a provisional row has a new column, whether it came before or after", ({ mirror }) => {
  putPreview(mirror, "orders", listed(1, { mood: "kept by no preview" }));
  put(mirror, "orders", order(2, { mood: "good" }), { source: "detail" });
  expect(putPreview(mirror, "orders", listed(3)).result).toBe("inserted");
  for (const id of [1, 3]) expect(row(mirror, "orders", id)).toMatchObject({ mood: null, _detail_at: null });
  expect(row(mirror, "orders", 2)).toMatchObject({ mood: "good" });
});
