import { join } from "node:path";
import { expect, test } from "vitest";
import { openHasty } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { person } from "../support/mirror/shop-records.ts";
import { put, row } from "../support/mirror/store.ts";

const long = "k".repeat(99);

test("an unknown field whose long name is cut within a character leaves room for the next after a reopening", async () => {
  const path = join(tempFolder(), "shop.db");
  for (const last of ["𐊡", "𐊢"]) {
    const mirror = await openHasty({ path });
    put(mirror, "people", person(1, { [long + last]: last }));
    expect(Object.values(row(mirror, "people", 1) ?? {})).toContain(last);
    mirror.close();
  }
});
