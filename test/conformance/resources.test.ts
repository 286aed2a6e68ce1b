import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunSummary } from "../../src/sync/context/run-summary.ts";
import { look, rowDifferences, type Db } from "../support/truth/compare.ts";
import { conforming } from "../support/truth/conforming.ts";
import type { Cells, Truth } from "../support/truth/truth.ts";

/** Every resource of every connector, mirrored once, through one suite. */
describe.each(conforming.map((one) => [one.declaration.name, one] as const))(
  "%s",
  (_, { declaration, open }) => {
    let service: Awaited<ReturnType<typeof open>>;
    let report: RunSummary;
    let truth: Truth;

    beforeAll(async () => {
      service = await open();
      report = await service.sync();
      truth = service.truth();
    });
    afterAll(() => service.close());

    const ask = <T>(use: (db: Db) => T): T => look(service.file, use);

    describe.each(declaration.resources.map(({ name }) => name))("%s", (name) => {
      const records = () => [...(truth.get(name)?.values() ?? [])];

      test("is listed whole: as many live rows as the service has records, at least one", () => {
        const rows = ask((db) =>
          db.prepare(`SELECT count(*) FROM "${name}" WHERE _deleted_at IS NULL`).pluck().get(),
        );
        expect(rows).toBe(records().length);
        expect(records().length).toBeGreaterThan(0);
        expect(report.resources[name]).toMatchObject({ inserted: records().length, failed: 0, pending: 0 });
      });

      test("has the service's values in each row, and its JSON byte for byte", () => {
        const rows = ask((db) => db.prepare(`SELECT * FROM "${name}"`).all()) as (Cells & { id: number })[];
        const wrong = rows.flatMap((row) => {
          const record = truth.get(name)?.get(String(row.id));
          const cells = record && service.cellsOf(name, record.json);
          return cells ? rowDifferences(row, cells) : [`${row.id} is in no list`];
        });
        expect(wrong).toEqual([]);
        const sql = "SELECT id, json FROM _raw WHERE resource = ?";
        const raw = ask((db) => db.prepare(sql).all(name)) as { id: number; json: string }[];
        expect(raw.filter(({ id, json }) => truth.get(name)?.get(String(id))?.text !== json)).toEqual([]);
        expect(raw).toHaveLength(records().length);
      });

      test("knows every field: no column is new, none is missing", () => {
        expect(report.new_columns.filter((column) => column.startsWith(`${name}.`))).toEqual([]);
        expect(report.missing_fields.filter((field) => field.startsWith(`${name}.`))).toEqual([]);
      });
    });

    test("I2, I7: a second run changes nothing, and finds everything whole", async () => {
      const again = await service.sync();
      const changes = Object.values(again.resources).map((one) => one.inserted + one.updated + one.deleted);
      expect(again).toMatchObject({ outcome: "complete", troubles: [] });
      expect(changes.filter((count) => count > 0)).toEqual([]);
    });
  },
);
