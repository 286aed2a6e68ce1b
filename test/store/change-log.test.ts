import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openHasty, openShop, manifestOf, resourceOf } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { person } from "../support/mirror/shop-records.ts";
import {
  allChanges,
  liveRecords,
  put,
  putAs,
  stampOf,
  remove,
  replay,
  rows,
  startMs,
  written,
} from "../support/mirror/store.ts";

function changeLines(mirror: Mirror): string[] {
  return allChanges(mirror).map(({ seq, resource, recordId, op }) => `${seq} ${op} ${resource} ${recordId}`);
}

describe("I2: every change of a row has exactly one row in the change log", () => {
  test("in the order they were committed, with cause, request and the record before and after", async () => {
    const mirror = await openShop();
    const at = stampOf(mirror, { cause: "webhook", requestId: "req-7", receivedAtMs: startMs + 1_000 });
    put(mirror, "people", person(1, "A"), { stamp: at });
    put(mirror, "people", person(1, "B"));
    remove(mirror, "people", 1);
    put(mirror, "people", person(1, "C"));
    expect(changeLines(mirror)).toEqual([
      "1 insert people 1",
      "2 update people 1",
      "3 delete people 1",
      "4 insert people 1",
    ]);
    const [first, second, third, fourth] = allChanges(mirror);
    expect(first).toMatchObject({
      at: "2026-03-01T00:00:01.000Z",
      cause: "webhook",
      requestId: "req-7",
      before: null,
    });
    expect(JSON.parse(first?.after ?? "")).toEqual(person(1, "A"));
    expect(second).toMatchObject({ before: first?.after });
    expect(third).toMatchObject({ before: second?.after, after: null, cause: "confirm" });
    expect(fourth).toMatchObject({ before: null });
    expect(JSON.parse(fourth?.after ?? "")).toEqual(person(1, "C"));
  });

  test("a rolled back change leaves none, and the log has no gap", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1, "A"));
    expect(() =>
      mirror.apply(() => {
        mirror.table("people").put({
          stamp: stampOf(mirror),
          id: 2,
          slice: Buffer.from(JSON.stringify(person(2, "B"))),
          source: "list",
        });
        throw new Error("the answer was cut off");
      }),
    ).toThrow("cut off");
    put(mirror, "people", person(3, "C"));
    expect(changeLines(mirror)).toEqual(["1 insert people 1", "2 insert people 3"]);
    expect(
      rows(mirror, "SELECT count(*) AS n FROM _reads WHERE id NOT IN (SELECT read FROM _change_log)"),
    ).toEqual([{ n: 0 }]);
  });

  // Fault: disk | a transaction that fails at its end | the step that is applied | applied again, it is logged whole (I2)
  test("an answer that is applied again after a rollback has its row of the read again", async () => {
    const mirror = await openShop();
    const at = stampOf(mirror, { requestId: "req-9" });
    const apply = (isCutOff: boolean) =>
      mirror.apply(() => {
        const slice = Buffer.from(JSON.stringify(person(1, "A")));
        mirror.table("people").put({ stamp: at, id: 1, slice, source: "list" });
        if (isCutOff) throw new Error("the disk is full");
      });
    expect(() => apply(true)).toThrow("full");
    apply(false);
    expect(allChanges(mirror)).toMatchObject([{ seq: 1, recordId: 1, requestId: "req-9" }]);
  });

  test("one answer with many changes is one read", async () => {
    const mirror = await openShop();
    const at = stampOf(mirror);
    mirror.apply(() => {
      for (let id = 1; id <= 5; id++) {
        mirror
          .table("people")
          .put({ stamp: at, id, slice: Buffer.from(JSON.stringify(person(id, "A"))), source: "list" });
      }
    });
    expect(rows(mirror, "SELECT count(*) AS n FROM _reads")).toEqual([{ n: 1 }]);
  });

  test("can be read from any point, for one resource, and beyond 2^53", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1, "A"));
    put(mirror, "colours", { id: 1, label: "red" });
    putAs(mirror, "colours", 9_007_199_254_740_993n, '{"id":9007199254740993,"label":"far"}');
    expect(allChanges(mirror, "colours").map(({ recordId }) => recordId)).toEqual([
      1,
      9_007_199_254_740_993n,
    ]);
  });
});

describe("I2, I7: an unchanged record writes nothing at all", () => {
  test("from a list: not one row in the whole database", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1, "A"));
    const before = written(mirror);
    for (let i = 0; i < 3; i++) expect(put(mirror, "people", person(1, "A"))).toBe("unchanged");
    expect(written(mirror)).toBe(before);
  });

  test("from its own route: only when it was read, never the row, the log or the JSON", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1, "A"), { source: "detail" });
    const tables = ["people", "_raw_people", "_change_log", "_reads"].map((table) =>
      rows(mirror, `SELECT * FROM ${table}`),
    );
    const later = stampOf(mirror, { cause: "hydrate", receivedAtMs: startMs + 60_000 });
    expect(put(mirror, "people", person(1, "A"), { source: "detail", stamp: later })).toBe("unchanged");
    expect(
      ["people", "_raw_people", "_change_log", "_reads"].map((table) =>
        rows(mirror, `SELECT * FROM ${table}`),
      ),
    ).toEqual(tables);
    expect(rows(mirror, "SELECT read_at FROM _fence_people")).toEqual([{ read_at: startMs + 60_000 }]);
  });

  test("a deletion reported twice is one", async () => {
    const mirror = await openShop();
    put(mirror, "people", person(1, "A"));
    expect(remove(mirror, "people", 1)).toBe("removed");
    const before = written(mirror);
    expect(remove(mirror, "people", 1)).toBe("absent");
    expect(remove(mirror, "people", 99)).toBe("absent");
    expect(written(mirror)).toBe(before);
  });
});

type Step = readonly ["put" | "detail" | "remove", resource: "people" | "colours", id: number, value: string];

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.tuple(
    fc.constantFrom("put", "put", "detail", "remove"),
    fc.constantFrom("people", "colours"),
    fc.integer({ min: 1, max: 4 }),
    fc.constantFrom("A", "B", "C"),
  ),
  { maxLength: 25 },
);

test("I2: whatever happens, applying the log from 0 gives exactly the live records, and no change is empty", async () => {
  const mirror = await openHasty();
  const model = new Map<string, string>();
  const property = fc.property(steps, (list) => {
    let changes = allChanges(mirror).length;
    for (const [what, resource, id, value] of list) {
      const record = resource === "people" ? person(id, value) : { id, label: value };
      const key = `${resource}:${id}`;
      const before = model.get(key);
      if (what === "remove") {
        remove(mirror, resource, id);
        model.delete(key);
      } else {
        put(mirror, resource, record, { source: what === "detail" ? "detail" : "list" });
        model.set(key, JSON.stringify(record));
      }
      if (before !== model.get(key)) changes += 1;
    }
    const log = allChanges(mirror);
    expect(log).toHaveLength(changes);
    expect(log.filter(({ before, after }) => before === after)).toEqual([]);
    expect(replay(log)).toEqual(model);
    expect(new Map([...liveRecords(mirror, "people"), ...liveRecords(mirror, "colours")])).toEqual(model);
    expect(linksBroken(mirror)).toEqual([]);
  });
  fc.assert(property, { numRuns: 60 });
});

/** `next_seq` leads from each change of a record to its next one, and from the last nowhere. */
function linksBroken(mirror: Mirror): unknown[] {
  return rows(
    mirror,
    `SELECT * FROM (SELECT seq, next_seq, lead(seq) OVER (PARTITION BY resource, record_id ORDER BY seq) AS next
     FROM _change_log) WHERE next_seq IS NOT next`,
  );
}

describe("the views", () => {
  test("`_raw` gives every literal back byte for byte", async () => {
    const mirror = await openShop();
    const text = `{ "id" : 1, "name":"\\u010d\\/a","email":null,"score":0.10,
      "big":9007199254740993,"thousand":1e3,"one":1.0,"long":0.1234567890123456789,"minus":-0.0, "dup":1,"dup":2}`;
    putAs(mirror, "people", 1, text);
    expect(rows(mirror, "SELECT resource, id, json FROM _raw")).toEqual([
      { resource: "people", id: 1, json: text },
    ]);
    expect(allChanges(mirror)[0]?.after).toBe(text);
    expect(rows(mirror, "SELECT name, score, big, long FROM people")).toEqual([
      { name: "č/a", score: 0.1, big: 9_007_199_254_740_992, long: "0.1234567890123456789" },
    ]);
    expect(mirror.db.prepare("SELECT big FROM people").safeIntegers(true).pluck().get()).toBe(
      9_007_199_254_740_993n,
    );
  });

  test("follow the connector: a new resource is in them after the next opening, an old one keeps its past", async () => {
    const path = join(tempFolder(), "shop.db");
    const before = await openShop({
      path,
      manifest: manifestOf([resourceOf("people"), resourceOf("colours")]),
    });
    put(before, "people", person(1, "A"));
    before.close();
    const after = await openShop({
      path,
      manifest: manifestOf([resourceOf("people"), resourceOf("orders")]),
    });
    const order = { id: 1, number: "1", total: 1, lines: [], receipts: [] };
    put(after, "orders", order, { source: "detail" });
    expect(rows(after, "SELECT resource, record_id FROM _changes ORDER BY seq")).toEqual([
      { resource: "people", record_id: 1 },
      { resource: "orders", record_id: 1 },
    ]);
    expect(rows(after, "SELECT resource FROM _raw ORDER BY resource")).toEqual([
      { resource: "orders" },
      { resource: "people" },
    ]);
  });
});
