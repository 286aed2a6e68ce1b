import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import type { ReportView } from "../../src/connector/report-view.ts";
import { openSnapshot, type Snapshot } from "../../src/state/mirror-snapshot.ts";
import { errorOf } from "../support/errors.ts";
import { manifestOf, openShop, resourceOf, resources } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { openDatabase } from "../../src/store/database.ts";
import { assertReadable } from "../../src/store/migrations/migrate.ts";
import { order } from "../support/mirror/shop-records.ts";
import { put, remove } from "../support/mirror/store.ts";

const view: ReportView = {
  name: "v_totals",
  title: "Totals",
  question: "How much is it?",
  doc: "Of all orders",
  columns: [
    { name: "total", type: "DECIMAL(18,6)", doc: "Sum" },
    { name: "day", type: "DATE", doc: "Of the report" },
  ],
  sql: `SELECT sum(total) AS total, (SELECT value FROM _about WHERE subject = 'report' AND fact = 'report_date') AS day
    FROM orders`,
};
const manifest = { ...manifestOf(Object.values(resources)), views: [view] };
function snap(path: string): Snapshot {
  const snapshot = openSnapshot(path, manifest, { reportDate: "2026-11-22", facts: { company: "acme" } });
  onTestFinished(() => snapshot.close());
  return snapshot;
}

function all(snapshot: Snapshot, table: string): Record<string, unknown>[] {
  return snapshot.db.prepare(`SELECT * FROM "${table}"`).all() as Record<string, unknown>[];
}

describe("a snapshot", () => {
  test("shows live rows under plain names and columns; the dead as deleted_records", ({ mirror }) => {
    for (const id of [1, 2])
      put(mirror, "orders", order(id, { lines: [{ id: 1, title: "a", quantity: 1 }] }));
    remove(mirror, "orders", 1);
    const snapshot = snap(mirror.db.name);
    expect(all(snapshot, "orders").map(({ id }) => id)).toEqual([2]);
    expect(all(snapshot, "order_lines")).toMatchObject([{ order_id: 2, position: 0, title: "a" }]);
    expect(all(snapshot, "deleted_records")).toMatchObject([
      { resource: "orders", id: 1, number: null, deleted_at: "2026-03-01T00:00:00.000Z", cause: "confirm" },
    ]);
    for (const { name, columns, kind } of snapshot.tables) {
      const shown = snapshot.db.prepare(`SELECT * FROM "${name}"`).columns();
      expect([name, ...shown.map((column) => column.name)]).toEqual([
        name,
        ...columns.map((one) => one.name),
      ]);
      if (kind !== "about") expect(shown.some((column) => column.name.startsWith("_"))).toBe(false);
    }
  });

  test("stays at its commit, whatever is written meanwhile", ({ mirror }) => {
    put(mirror, "orders", order(1));
    const snapshot = snap(mirror.db.name);
    expect(snapshot.seq).toBe(1);
    put(mirror, "orders", order(2));
    put(mirror, "orders", order(1, { number: "changed" }));
    expect(all(snapshot, "orders")).toMatchObject([{ id: 1, number: "A" }]);
    expect(snap(mirror.db.name).seq).toBe(3);
  });

  test("answers the connector's views, and gives its date and what it knows of runs", ({ mirror }) => {
    for (const id of [1, 4, 9]) put(mirror, "orders", order(id, { total: id }));
    remove(mirror, "orders", 9);
    mirror.db.exec(`INSERT INTO _runs (mode, started_at, finished_at, outcome, pid, swept) VALUES
      ('full', '2026-03-01T00:00:00.000Z', '2026-03-01T00:01:00.000Z', 'complete', 1, '{"people":"2026-03-01T00:00:01.000Z"}'),
      ('full', '2026-03-02T00:00:00.000Z', NULL, NULL, 1, '{}')`);
    const snapshot = snap(mirror.db.name);
    expect(all(snapshot, "v_totals")).toEqual([{ total: 5, day: "2026-11-22" }]);
    expect(snapshot.run).toMatchObject({ id: 1, outcome: "complete" });
    expect(snapshot.swept).toMatchObject({
      people: "2026-03-01T00:00:01.000Z",
      notes: "2026-03-01T00:00:01.000Z",
    });
    expect(snapshot.swept["orders"]).toBeNull();
    expect(all(snapshot, "_about")).toContainEqual({ subject: "report", fact: "company", value: "acme" });
    expect(all(snapshot, "_about")).toContainEqual({ subject: "orders", fact: "fresh_at", value: null });
  });

  test("shows what the mirror does not have yet, because the connector is newer, as empty columns and tables", async () => {
    const old = await openShop({ manifest: manifestOf([resourceOf("people"), resourceOf("shop")]) });
    put(old, "people", { id: 1, name: "a" });
    old.db.exec("ALTER TABLE people DROP COLUMN email");
    const snapshot = snap(old.db.name);
    expect(all(snapshot, "people")).toEqual([{ id: 1, name: "a", email: null, score: null }]);
    expect(all(snapshot, "orders")).toEqual([]);
    expect(all(snapshot, "deleted_records")).toEqual([]);
  });

  // Fault: files | no mirror, another file, or a newer mirror where a report is made | the mirror's path | refused with a hint, and no file is made
  test("of no mirror, of another file and of a newer mirror is refused, and makes no file", async () => {
    const path = join(tempFolder(), "none.db");
    expect(errorOf(() => snap(path))).toMatchObject({
      kind: "database",
      hint: expect.stringContaining("sync"),
    });
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, "no database at all, but long enough to be looked at as one");
    expect(errorOf(() => snap(path)).message).toContain("not a SQLite database");
    const mirror = await openShop();
    mirror.db.exec("INSERT INTO _migrations (name, timestamp) VALUES ('9999-future', 'now')");
    expect(errorOf(() => snap(mirror.db.name)).message).toContain("newer version");
    const report = openDatabase(":memory:");
    report.prepare("ATTACH ? AS mirror").run(mirror.db.name);
    expect(errorOf(() => assertReadable(report, "mirror")).message).toContain(mirror.db.name);
    report.close();
  });
});
