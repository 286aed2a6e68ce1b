import { copyFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect } from "vitest";
import type { PublishWay } from "../../src/report/publish-report.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import type { Db } from "../../src/store/database.ts";
import { derivedAgain, declarationOf, openHasty } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { publish, reading } from "../support/export/published.ts";
import { anyChange, applyChange } from "../support/mirror/shop-history.ts";
import { order } from "../support/mirror/shop-records.ts";
import { put, remove } from "../support/mirror/store.ts";

const declaration = declarationOf();

/** The content of a report: declarations, and rows in the order of their keys. */
function everything(db: Db): Record<string, unknown> {
  const schema = db
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name")
    .raw()
    .all() as [string, string, string][];
  const tables = schema.filter(([type]) => type !== "index").map(([, name]) => name);
  const rows = tables.map(
    (name) => [name, db.prepare(`SELECT * FROM "${name}" ORDER BY 1, 2`).raw().all()] as const,
  );
  return { schema, ...Object.fromEntries(rows) };
}

async function contentOf(mirror: Mirror, report: string, way: PublishWay): Promise<Record<string, unknown>> {
  const published = await publish(mirror, { declaration, report, way, force: true });
  expect(published.way).toBe(way);
  return everything(reading(published.file));
}

describe("a report updated from the last one", () => {
  test("shows rows that were derived again as a report made anew does", async () => {
    const damaged = await openHasty();
    const lines = [{ id: 1 }, { id: 2 }];
    for (const n of [1, 2, 3, 4]) put(damaged, "orders", order(n, { total: n, lines }));
    remove(damaged, "orders", 4);
    damaged.db.exec(`UPDATE orders SET total = 9, _deleted_at = NULL WHERE id IN (1, 4);
      DELETE FROM orders WHERE id = 2;
      DELETE FROM order_lines WHERE order_id = 3;
      INSERT INTO order_lines (order_id, position) VALUES (77, 0);
      INSERT INTO colours (id, _synced_at) VALUES (5, '')`);
    const report = damaged.db.name.replace(/\.db$/, ".report.db");
    await contentOf(damaged, report, "anew");
    const healed = await derivedAgain(damaged);
    const updated = await contentOf(healed, report, "changes");
    expect(updated).toEqual(await contentOf(healed, `${report}.anew`, "anew"));
    expect(updated["orders"]).toHaveLength(3);
  });

  test("equals a report made anew after any changes, also when keys stop or start to hold", async () => {
    const property = fc.asyncProperty(
      fc.array(fc.array(anyChange, { minLength: 8, maxLength: 20 }), { minLength: 2, maxLength: 4 }),
      async (batches) => {
        using mirror = await openHasty();
        const report = `${mirror.db.name}.report`;
        await publish(mirror, { declaration, report });
        let step = 0;
        for (const batch of batches) {
          for (const one of batch) applyChange(mirror, one, step++);
          const anew = await contentOf(mirror, `${report}.anew`, "anew");
          const changed = await publish(mirror, { declaration, report, way: "changes", force: true });
          expect(everything(reading(changed.file))).toEqual(anew);
        }
      },
    );
    await fc.assert(property, { numRuns: 8 });
  });

  test("is used where possible, not for another mirror with as many changes", async ({ mirror }) => {
    const report = `${mirror.db.name}.report`;
    put(mirror, "people", { id: 1, name: "a" });
    await publish(mirror, { declaration, report });
    put(mirror, "people", { id: 2, name: "b" });
    const changed = await contentOf(mirror, report, "changes");
    expect(changed).toEqual(await contentOf(mirror, `${report}.anew`, "anew"));

    const other = await openHasty();
    for (const n of [5, 6, 7]) put(other, "people", { id: n, name: "of another company" });
    const copy = `${other.db.name}.report`;
    copyFileSync(report, copy);
    const written = await publish(other, { declaration, report: copy, way: "changes" });
    expect(written).toMatchObject({ outcome: "written", way: "anew" });
    expect(everything(reading(copy))["people"]).toHaveLength(3);
  });

  test("I12 is replaced by one made anew when an unknown field became a column", async ({ mirror }) => {
    const report = `${mirror.db.name}.report`;
    put(mirror, "people", { id: 1, name: "a" });
    await publish(mirror, { declaration, report });
    put(mirror, "people", { id: 2, name: "b", rank: 5 });
    expect(await publish(mirror, { declaration, report, way: "changes" })).toMatchObject({ way: "anew" });
    expect(reading(report).prepare("SELECT rank FROM people ORDER BY id").pluck().all()).toEqual([null, 5]);
  });

  test("is chosen for a large mirror with few changes", async ({ mirror }) => {
    const report = `${mirror.db.name}.report`;
    mirror.db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO colours (id, label, _synced_at) SELECT i, 'c' || i, '' FROM n`);
    put(mirror, "people", { id: 1, name: "a" });
    expect(await publish(mirror, { declaration, report })).toMatchObject({ way: "anew" });
    put(mirror, "people", { id: 2, name: "b" });
    expect(await publish(mirror, { declaration, report })).toMatchObject({ way: "changes" });
    for (let n = 10; n < 1_100; n++) put(mirror, "people", { id: n, name: "c" });
    expect(await publish(mirror, { declaration, report })).toMatchObject({ way: "anew" });
  });
});
