import * as fc from "fast-check";
import { describe, expect } from "vitest";
import { openShop, declarationOf, resourceOf, openAgain, rollBack } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { order, person } from "../support/mirror/shop-records.ts";
import {
  allChanges,
  liveRecords,
  put,
  putAs,
  stampOf,
  remove,
  brokenLinks,
  replay,
  rows,
  startMs,
  texts,
  written,
} from "../support/mirror/store.ts";

const logged = (mirror: Mirror) => texts(mirror, "SELECT seq, op, record_id FROM _changes ORDER BY seq");

describe("I2: every change of a row has exactly one row in the change log", () => {
  test("in the order of commits, with cause, request, the record before and after", ({ mirror }) => {
    const at = stampOf(mirror, { cause: "webhook", requestId: "req-7", receivedAtMs: startMs + 1_000 });
    put(mirror, "people", person(1, "A"), { stamp: at });
    put(mirror, "people", person(1, "B"));
    remove(mirror, "people", 1);
    put(mirror, "people", person(1, "C"));
    expect(logged(mirror)).toEqual(["1 insert 1", "2 update 1", "3 delete 1", "4 insert 1"]);
    const [a, b, c] = ["A", "B", "C"].map((name) => JSON.stringify(person(1, name)));
    const request = { at: "2026-03-01T00:00:01.000Z", cause: "webhook", requestId: "req-7" };
    expect(allChanges(mirror)).toMatchObject([
      { ...request, before: null, after: a },
      { before: a, after: b },
      { before: b, after: null, cause: "confirm" },
      { before: null, after: c },
    ]);
  });

  // Fault: disk | a transaction that fails at its end | the step that is applied | applied again, it is logged whole (I2)
  test("an answer that is applied again after a rollback has one row of its read again", ({ mirror }) => {
    put(mirror, "people", person(1, "A"));
    const at = stampOf(mirror, { requestId: "req-9" });
    const step = () => {
      for (const id of [2, 3]) {
        const slice = Buffer.from(JSON.stringify(person(id, "B")));
        mirror.table("people").put({ stamp: at, id, slice, source: "list" });
      }
    };
    rollBack(mirror, step);
    expect(logged(mirror)).toEqual(["1 insert 1"]);
    mirror.apply(step);
    expect(logged(mirror)).toEqual(["1 insert 1", "2 insert 2", "3 insert 3"]);
    expect(allChanges(mirror)[2]).toMatchObject({ requestId: "req-9" });
    expect(rows(mirror, "SELECT id FROM _reads")).toHaveLength(2);
  });
});

describe("I2, I7: an unchanged record writes nothing at all", () => {
  test("from a list: not one row in the whole database", ({ mirror }) => {
    put(mirror, "people", person(1, "A"));
    const before = written(mirror);
    for (let i = 0; i < 3; i++) expect(put(mirror, "people", person(1, "A"))).toBe("unchanged");
    expect(written(mirror)).toBe(before);
  });

  test("from its own route: only when it was read, never the row, the log or the JSON", ({ mirror }) => {
    put(mirror, "people", person(1, "A"), { source: "detail" });
    const tables = ["people", "_raw_people", "_change_log", "_reads"];
    const held = () => tables.map((table) => rows(mirror, `SELECT * FROM ${table}`));
    const before = held();
    const later = stampOf(mirror, { cause: "hydrate", receivedAtMs: startMs + 60_000 });
    expect(put(mirror, "people", person(1, "A"), { source: "detail", stamp: later })).toBe("unchanged");
    expect(held()).toEqual(before);
    expect(rows(mirror, "SELECT read_at FROM _fence_people")).toEqual([{ read_at: startMs + 60_000 }]);
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

test("I2: the log from 0 gives exactly the live records, and no change is empty", ({ mirror }) => {
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
    expect(brokenLinks(mirror)).toEqual([]);
  });
  fc.assert(property, { numRuns: 40 });
});

describe("the views", () => {
  test("`_raw` gives every literal back byte for byte", ({ mirror }) => {
    const text = `{ "id" : 1, "name":"\\u010d\\/a","email":null,"score":0.10,
      "big":9007199254740993,"thousand":1e3,"one":1.0,"long":0.1234567890123456789,"minus":-0.0, "dup":1,"dup":2}`;
    putAs(mirror, "people", 1, text);
    expect(rows(mirror, "SELECT * FROM _raw")).toMatchObject([{ resource: "people", id: 1, json: text }]);
    expect(allChanges(mirror)[0]?.after).toBe(text);
    const cells = mirror.db.prepare("SELECT name, score, big, long FROM people").safeIntegers(true).raw();
    expect(cells.get()).toEqual(["č/a", 0.1, 9_007_199_254_740_993n, "0.1234567890123456789"]);
  });

  test("follow the connector: a new resource is in them after the next opening, an old one keeps its past", async () => {
    const before = await openShop({
      declaration: declarationOf([resourceOf("people"), resourceOf("colours")]),
    });
    put(before, "people", person(1, "A"));
    const declaration = declarationOf([resourceOf("people"), resourceOf("orders")]);
    const after = await openAgain(before, { declaration });
    put(after, "orders", order(1), { source: "detail" });
    expect(texts(after, "SELECT resource FROM _changes ORDER BY seq")).toEqual(["people", "orders"]);
    expect(texts(after, "SELECT resource FROM _raw ORDER BY resource")).toEqual(["orders", "people"]);
  });
});
