import { describe, expect, test } from "vitest";
import { openHasty, openShop } from "../support/mirror/mirror.ts";
import { person } from "../support/mirror/shop-records.ts";
import { liveRecords, put, putAs, rows } from "../support/mirror/store.ts";

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

  test.each(["aé", "éa"])(
    "fills a new column of older records, also where its key is escaped: %s",
    async (key) => {
      const mirror = await openHasty();
      const text = JSON.stringify(person(1, { [key]: 1 }));
      putAs(mirror, "people", 1, text.replace("é", String.raw`\u00e9`));
      const column = String(mirror.db.prepare("SELECT column_name FROM _schema_changes").pluck().get());
      mirror.db.exec(`ALTER TABLE people DROP COLUMN ${column}; DELETE FROM _schema_changes`);
      const path = mirror.db.name;
      mirror.close();
      const again = await openHasty({ path });
      put(again, "people", person(2, { [key]: 3 }));
      expect(rows(again, `SELECT ${column} AS it FROM people ORDER BY id`)).toEqual([{ it: 1 }, { it: 3 }]);
    },
  );
});
