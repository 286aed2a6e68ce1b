import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Fields } from "../../src/connector/record-schema.ts";
import type { CompanyReport } from "../../src/sync/context/run-report.ts";
import { look, rowDifferences, type Db } from "../support/truth/compare.ts";
import { conforming, type Conforming, type OpenedService } from "../support/truth/conforming.ts";
import { idOf, type Dict, type Truth } from "../support/truth/truth.ts";

/** Every resource of every connector, mirrored once, through one suite. */
describe.each(conforming.map((one) => [one.manifest.name, one] as const))(
  "%s",
  (_, conformingOne: Conforming) => {
    const { manifest } = conformingOne;
    let service: OpenedService;
    let report: CompanyReport;
    let truth: Truth;

    beforeAll(async () => {
      service = await conformingOne.open();
      report = await service.sync();
      truth = await service.truth();
    });
    afterAll(() => service.close());

    const ask = <T>(use: (db: Db) => T): T => look(service.file, use);

    describe.each(manifest.resources.map((resource) => [resource.name, resource] as const))(
      "%s",
      (name, resource) => {
        const records = () => [...(truth.get(name)?.values() ?? [])];

        test("is listed whole: as many live rows as the service has records, at least one", () => {
          const rows = ask((db) =>
            db.prepare(`SELECT count(*) FROM "${name}" WHERE _deleted_at IS NULL`).pluck().get(),
          );
          expect(rows).toBe(records().length);
          expect(records().length).toBeGreaterThan(0);
          expect(report.resources[name]).toMatchObject({ inserted: records().length, failed: 0, pending: 0 });
        });

        test("fills every typed column from some record, as far as the sandbox gives the field", () => {
          const given = new Map<string, number>();
          for (const { json } of records()) {
            for (const [column, cell] of Object.entries(service.cellsOf(name, json))) {
              if (cell !== null) given.set(column, (given.get(column) ?? 0) + 1);
            }
          }
          const filled = ask((db) =>
            [...given].filter(
              ([column]) => emptyCells(db, name, column) + (given.get(column) ?? 0) !== records().length,
            ),
          );
          expect(filled).toEqual([]);
        });

        test("has the service's values in each row", () => {
          const rows = ask((db) => db.prepare(`SELECT * FROM "${name}"`).all()) as Record<
            string,
            string | number | null
          >[];
          const wrong = rows.flatMap((row) => {
            const record = truth.get(name)?.get(String(row["id"]));
            return record
              ? rowDifferences(row, service.cellsOf(name, record.json))
              : [`${String(row["id"])} is in no list`];
          });
          expect(wrong).toEqual([]);
        });

        test("keeps the JSON byte for byte", () => {
          const raw = ask((db) =>
            db.prepare("SELECT id, json FROM _raw WHERE resource = ? ORDER BY id").all(name),
          ) as { id: number; json: string }[];
          expect(raw.filter(({ id, json }) => truth.get(name)?.get(String(id))?.text !== json)).toEqual([]);
          expect(raw).toHaveLength(records().length);
        });

        test("knows every field: no column is new, none is missing", () => {
          expect(report.new_columns.filter((column) => column.startsWith(`${name}.`))).toEqual([]);
          expect(report.missing_fields.filter((field) => field.startsWith(`${name}.`))).toEqual([]);
          const known = new Set(Object.keys(resource.fields));
          expect(
            new Set(records().flatMap(({ json }) => Object.keys(json).filter((key) => !known.has(key)))),
          ).toEqual(new Set());
        });
      },
    );

    describe("the lists of previews", () => {
      test("show the values of the details", async () => {
        for (const { name, list, gives, fields } of manifest.resources) {
          if (gives !== "preview" || list.kind !== "paged") continue;
          const { data } = (await service.ask(`${list.path}?perPage=500`)) as { data: Dict[] };
          const wrong = data.flatMap((preview) => {
            const full = truth.get(name)?.get(idOf(preview))?.json ?? {};
            return Object.keys(preview).filter((key) => !agrees(key, preview, full, fields));
          });
          expect(wrong).toEqual([]);
          expect(data).toHaveLength(truth.get(name)?.size ?? 0);
        }
      });
    });

    test("I2, I7: a second run changes nothing, and finds everything whole", async () => {
      const again = await service.sync();
      const changes = Object.values(again.resources).map((one) => one.inserted + one.updated + one.deleted);
      expect(again).toMatchObject({ outcome: "complete", troubles: [] });
      expect(changes.filter((count) => count > 0)).toEqual([]);
    });

    test("the sandbox is the same over HTTP and from the inside", () => {
      expect(textsOf(truth)).toEqual(textsOf(service.inside()));
    });
  },
);

function textsOf(record: Truth): unknown {
  const tables = [...record].map(([table, records]) => {
    return [table, Object.fromEntries([...records].map(([id, { text }]) => [id, text]))] as const;
  });
  return Object.fromEntries(tables);
}

function emptyCells(db: Db, table: string, column: string): number {
  return Number(db.prepare(`SELECT count(*) FROM "${table}" WHERE "${column}" IS NULL`).pluck().get());
}

/** A preview nests what the detail may give as an id alone. */
function agrees(key: string, preview: Dict, full: Dict, fields: Fields): boolean {
  const value = preview[key] ?? null;
  if (key in full) return JSON.stringify(full[key]) === JSON.stringify(value);
  const id = typeof value === "object" && value !== null && !Array.isArray(value) ? value["id"] : null;
  return `${key}Id` in fields && full[`${key}Id`] === id;
}
