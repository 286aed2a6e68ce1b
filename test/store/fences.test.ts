import * as fc from "fast-check";
import { describe, expect } from "vitest";
import { Fences } from "../../src/store/apply/fences.ts";
import type { ReadStamp } from "../../src/store/apply/read-stamp.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { person } from "../support/mirror/shop-records.ts";
import { preview, put, putPreview, remove, row, send } from "../support/mirror/store.ts";

const nameOf = (mirror: Mirror, id: number) => row(mirror, "people", id)?.["name"];

describe("I3: a read applies only where it was sent after the last applied read was received", () => {
  // Fault: data | two answers of one record overlap | read stamps | the stale one is not applied; the record is read again (I3)
  test("an answer that overlapped with the applied one is stale: it is read again", ({ mirror }) => {
    const [first, second] = [send(mirror), send(mirror)];
    expect(put(mirror, "people", person(1, "second"), { stamp: second.receive() })).toBe("inserted");
    expect(put(mirror, "people", person(1, "first"), { stamp: first.receive() })).toBe("stale");
    expect(nameOf(mirror, 1)).toBe("second");
  });

  test("a list that writes the same otherwise holds back the reads sent before it", ({ mirror }) => {
    put(mirror, "people", person(1, "A"), { source: "detail" });
    const early = send(mirror);
    const later = send(mirror);
    const reordered = { name: "A", id: 1, email: null, score: null };
    expect(put(mirror, "people", reordered, { stamp: later.receive() })).toBe("unchanged");
    later.end();
    expect(put(mirror, "people", person(1, "B"), { stamp: early.receive() })).toBe("stale");
  });

  test("a list that shows a preview unchanged holds back the lists sent before it", ({ mirror }) => {
    const shown = { id: 1, number: "A", total: 1 };
    preview(mirror, "orders", shown);
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

type Step = { readonly at: number; readonly read: number; readonly what: "send" | "receive" };

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
      expect(runInterleaving(mirror, id, reads, held)).toBe(true);
    },
  );
  fc.assert(property, { numRuns: 500 });
});

/** Plays the reads in time order; true when the mirror has what the latest read saw, or that read was stale. */
function runInterleaving(
  mirror: Mirror,
  id: number,
  reads: readonly Read[],
  held: readonly (string | null)[],
): boolean {
  const steps = reads
    .flatMap(({ moments }, index): Step[] => [
      { at: moments[0], read: index, what: "send" },
      { at: moments[2], read: index, what: "receive" },
    ])
    .toSorted((a, b) => a.at - b.at || a.read - b.read);
  const flights = new Map<number, ReturnType<typeof send>>();
  const stale = new Set<number>();
  for (const step of steps) {
    const { moments, source } = reads[step.read] as Read;
    if (step.what === "send") {
      flights.set(step.read, send(mirror));
      continue;
    }
    const flight = flights.get(step.read);
    const result = answerWith(mirror, id, source, held[moments[1]] ?? null, flight?.receive() as ReadStamp);
    if (result === "stale") stale.add(step.read);
    flight?.end();
  }
  const looks = reads.map(({ moments }) => moments[1]);
  const newest = looks.indexOf(Math.max(...looks));
  const saw = held[looks[newest] ?? 0] ?? null;
  return stale.has(newest) || current(mirror, id) === saw;
}

function answerWith(
  mirror: Mirror,
  id: number,
  source: "list" | "detail",
  value: string | null,
  at: ReadStamp,
): string {
  if (value !== null) return put(mirror, "people", person(id, value), { stamp: at, source });
  // A list without the record is no answer about it: absence is asked for on the record's own route.
  return remove(mirror, "people", id, at);
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
