import { expect, test } from "vitest";
import { openShop } from "../support/mirror/mirror.ts";
import { person } from "../support/mirror/shop-records.ts";
import { put, putAs, rows } from "../support/mirror/store.ts";

const odd = (name: string) => ({ ...person(1, name), score: "many" });

test("I12 a record that stays odd is kept as it came last, once", async () => {
  const mirror = await openShop();
  for (const name of ["first", "second", "second"])
    expect(put(mirror, "people", odd(name))).toBe("quarantined");
  expect(rows(mirror, "SELECT record_id, json FROM _quarantine")).toEqual([
    { record_id: 1, json: JSON.stringify(odd("second")) },
  ]);
});

test("an answer that is no JSON is no record, and is not kept as one", async () => {
  const mirror = await openShop();
  expect(() => putAs(mirror, "people", 1, '{"id":1,')).toThrow("not the JSON it should be");
  expect(mirror.quarantine.all()).toEqual([]);
});

test("I12 a record that is kept since a time to come, by a clock that was set back, is older than any list", async () => {
  const mirror = await openShop();
  put(mirror, "people", odd("first"));
  const [{ at } = { at: "" }] = mirror.quarantine.all();
  const hours = (count: number) => new Date(Date.parse(at) + count * 3_600_000).toISOString();
  const idsBefore = (from: string, to: string) => mirror.quarantine.idsBefore("people", from, to).map(Number);
  expect([
    idsBefore(hours(-2), hours(-1)),
    idsBefore(hours(-1), hours(1)),
    idsBefore(hours(1), hours(2)),
  ]).toEqual([[1], [], [1]]);
});
