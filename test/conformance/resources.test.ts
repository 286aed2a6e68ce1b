import { beforeAll, afterAll, describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import type { Fields } from "../../src/connector/field.ts";
import type { CompanyReport } from "../../src/sync/context/run-report.ts";
import { look, rowDifferences, type Db } from "../support/compare.ts";
import { openCompany, sync } from "../support/open-company.ts";
import { expectedRow, idOf, readTruth, truthOf, type Dict, type Truth } from "../support/truth.ts";

/** Every resource of the connector, mirrored once, through one suite. */
let company: Awaited<ReturnType<typeof openCompany>>;
let report: CompanyReport;
let truth: Truth;

beforeAll(async () => {
  company = await openCompany({ records: "small" });
  report = await sync(company);
  truth = await readTruth(company.sandbox);
}, 60_000);
afterAll(() => company.close());

const ask = <T>(use: (db: Db) => T): T => look(company.file, use);

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
        for (const [column, cell] of Object.entries(expectedRow(name, json).cells)) {
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
          ? rowDifferences(row, expectedRow(name, record.json).cells)
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

const previewed = manifest.resources.filter(({ gives }) => gives === "preview");

describe.each(previewed.map((resource) => [resource.name, resource] as const))(
  "the list of %s",
  (name, resource) => {
    test("shows the values of the details", async () => {
      const path = resource.list.kind === "paged" ? resource.list.path : "";
      const previews = await listed(path);
      const wrong = previews.flatMap((preview) => {
        const full = truth.get(name)?.get(idOf(preview))?.json ?? {};
        return Object.keys(preview).filter((key) => !agrees(key, preview, full, resource.fields));
      });
      expect(wrong).toEqual([]);
      expect(previews).toHaveLength(truth.get(name)?.size ?? 0);
    });
  },
);

describe("the sandbox", () => {
  test("is the same over HTTP and from the inside", () => {
    expect(textsOf(truth)).toEqual(textsOf(truthOf(company.sandbox)));
  });
});

function textsOf(record: Truth): unknown {
  const tables = [...record].map(([table, records]) => {
    return [table, Object.fromEntries([...records].map(([id, { text }]) => [id, text]))] as const;
  });
  return Object.fromEntries(tables);
}

function emptyCells(db: Db, table: string, column: string): number {
  return Number(db.prepare(`SELECT count(*) FROM "${table}" WHERE "${column}" IS NULL`).pluck().get());
}

async function listed(path: string): Promise<Dict[]> {
  const { url, token } = company.sandbox;
  const response = await fetch(`${url}${path}?perPage=500`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return ((await response.json()) as { data: Dict[] }).data;
}

/** A preview nests what the detail may give as an id alone. */
function agrees(key: string, preview: Dict, full: Dict, fields: Fields): boolean {
  const value = preview[key] ?? null;
  if (key in full) return JSON.stringify(full[key]) === JSON.stringify(value);
  const id = typeof value === "object" && value !== null && !Array.isArray(value) ? value["id"] : null;
  return `${key}Id` in fields && full[`${key}Id`] === id;
}
