import { expect, test } from "vitest";
import { guardWrites } from "../../src/store/database.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { person } from "../support/mirror/shop-records.ts";
import { put, row } from "../support/mirror/store.ts";

test("I1: a transaction that grew a table and was rolled back leaves the plan as it was also while nothing can be written", async () => {
  const mirror = await openShop();
  let isHeld = false;
  guardWrites(mirror.db, () => {
    if (isHeld) throw new Error("another program holds the database");
  });
  const grow = (id: number) => put(mirror, "people", person(id, { nickName: "Ed" }));
  expect(() =>
    mirror.apply(() => {
      grow(1);
      isHeld = true;
      throw new Error("the disk is full");
    }),
  ).toThrow("the disk is full");
  isHeld = false;
  expect(put(mirror, "people", person(2))).toBe("inserted");
  expect(grow(1)).toBe("inserted");
  expect(row(mirror, "people", 1)).toMatchObject({ nick_name: "Ed" });
});
