import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ReportView } from "../../src/connector/report-view.ts";
import { openSnapshot, type Snapshot } from "../../src/state/mirror-snapshot.ts";
import { manifestOf, openShop, resources } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { openDatabase } from "../../src/store/database.ts";
import { assertReadable } from "../../src/store/migrations/migrate.ts";
import { errorOf, put, remove } from "../support/mirror/store.ts";

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
const order = (id: number, more: object = {}) => ({
  id,
  number: `N${id}`,
  total: id,
  lines: [{ id: 1, title: "a", quantity: 1 }],
  receipts: [],
  ...more,
});

function snap(path: string): Snapshot {
  const snapshot = openSnapshot(path, manifest, { reportDate: "2026-11-22", facts: { company: "acme" } });
  onTestFinished(() => snapshot.close());
  return snapshot;
}

function all(snapshot: Snapshot, table: string): Record<string, unknown>[] {
  return snapshot.db.prepare(`SELECT * FROM "${table}"`).all() as Record<string, unknown>[];
}

function tableOf(snapshot: Snapshot, name: string) {
  const table = snapshot.tables.find((each) => each.name === name);
  if (!table) throw new Error(`there is no ${name}`);
  return table;
}

describe("a snapshot", () => {
  test("shows live rows under the tables' own names, without own columns; the dead as deleted_records", async () => {
    const mirror = await openShop();
    put(mirror, "orders", order(1));
    put(mirror, "orders", order(2));
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

  test("stays at its commit, whatever is written meanwhile", async () => {
    const mirror = await openShop();
    put(mirror, "orders", order(1));
    const snapshot = snap(mirror.db.name);
    expect(snapshot.seq).toBe(1);
    put(mirror, "orders", order(2));
    put(mirror, "orders", order(1, { number: "changed" }));
    expect(all(snapshot, "orders")).toMatchObject([{ id: 1, number: "N1" }]);
    expect(snap(mirror.db.name).seq).toBe(3);
  });

  test("answers the connector's views over live rows, and gives its date and what it knows of runs", async () => {
    const mirror = await openShop();
    put(mirror, "orders", order(1));
    put(mirror, "orders", order(4));
    put(mirror, "orders", order(9));
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

  test("I12 shows columns that grew, each with the one type its values have, as text where they differ", async () => {
    const mirror = await openShop();
    put(mirror, "people", { id: 1, name: "a", rank: 7, mixed: "x", share: 0.5 });
    put(mirror, "people", { id: 2, name: "b", rank: 8, mixed: 1.5, share: 0.25 });
    const snapshot = snap(mirror.db.name);
    const types = Object.fromEntries(
      tableOf(snapshot, "people").columns.map(({ name, type }) => [name, type]),
    );
    expect(types).toMatchObject({ rank: "INTEGER", mixed: "TEXT", share: "DECIMAL(18,6)" });
    expect(all(snapshot, "people").map(({ mixed }) => mixed)).toEqual(["x", "1.5"]);
  });

  test("shows what the mirror does not have yet, because the connector is newer, as empty columns and tables", async () => {
    const path = join(tempFolder(), "old.db");
    const old = await openShop({
      path,
      manifest: manifestOf([resources["people"] as never, resources["shop"] as never]),
    });
    put(old, "people", { id: 1, name: "a" });
    old.db.exec("ALTER TABLE people DROP COLUMN email");
    const snapshot = snap(path);
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
