import { describe, expect, test } from "vitest";
import { openHasty, openShop } from "../support/mirror.ts";
import { person } from "../support/shop-records.ts";
import { liveRecords, put, putAs, rows } from "../support/store.ts";

describe("I12: the stored JSON of a record", () => {
  test.each([
    ["is lost", "DELETE FROM _raw_people"],
    ["is damaged", "UPDATE _raw_people SET json = '{'"],
  ])("is written again by another route where it %s", async (_, damage) => {
    const mirror = await openShop();
    put(mirror, "people", person(1, "A"));
    mirror.db.exec(damage);
    const text = `${JSON.stringify(person(1, "A"))} `;
    expect(put(mirror, "people", text, { source: "detail" })).toBe("updated");
    expect(liveRecords(mirror, "people").get("people:1")).toBe(text);
  });

  test("fills new columns of older records, also where their keys are escaped", async () => {
    const mirror = await openHasty();
    putAs(
      mirror,
      "people",
      1,
      String.raw`{"id":1,"name":"n","aé":1,"éa":2}`.replaceAll("é", String.raw`\u00e9`),
    );
    const sql = "SELECT column_name FROM _schema_changes";
    const columns = mirror.db.prepare(sql).pluck().all();
    for (const column of columns) mirror.db.exec(`ALTER TABLE people DROP COLUMN ${String(column)}`);
    mirror.db.exec("DELETE FROM _schema_changes");
    const path = mirror.db.name;
    mirror.close();
    const again = await openHasty({ path });
    for (const key of ["aé", "éa"]) put(again, "people", person(2, { [key]: 3 }));
    expect(rows(again, `SELECT ${columns.join(", ")} FROM people WHERE id = 1`).map(Object.values)).toEqual([
      [1, 2],
    ]);
  });
});
