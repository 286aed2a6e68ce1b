import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { ExportParts, ExportRequest } from "../../src/export/plan/export-request.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { rememberIdentity } from "../../src/state/meta.ts";
import { aShop, exportOf, filesIn, type Exported } from "../support/export/export.ts";

async function aMirror(): Promise<Mirror> {
  const mirror = await aShop();
  rememberIdentity(mirror, { name: "Acme", salt: "5aac11c0", fingerprint: "", businessId: null });
  return mirror;
}

type Asked = readonly [request: Partial<ExportRequest>, parts?: Partial<ExportParts>];

/** Exports into one folder, again and again, where something changed. */
function exporter(mirror: Mirror): (asked: Asked) => Promise<Exported> {
  let out: string | undefined;
  return async ([request, parts]) => {
    const exported = await exportOf(mirror, { ...request, ...(out && { out }), ifChanged: true }, parts);
    ({ out } = exported);
    return exported;
  };
}

const names = ["people", "orders", "order_lines"];
const flat = { format: "parquet", tables: ["orders"] } as const;
const redact = [{ columns: "people.email", mode: "drop" } as const];
const hashed = [{ columns: "people.email", mode: "hash" } as const];

describe("an export where nothing changed leaves its files alone, and one in another form is made", () => {
  test.each<readonly [what: string, one: Asked, other: Asked]>([
    ["dialect", [{}], [{ dialect: "excel-sk" }]],
    ["partition", [{}], [{ partition: "year" }]],
    ["size of partitions", [{ partition: "year" }], [{ partition: "month" }]],
    ["nested form", [flat], [{ ...flat, nested: true }]],
    ["rows of a sheet", [{ format: "xlsx" }], [{ format: "xlsx", rowsPerSheet: 10 }]],
    ["sheets of a workbook", [{ format: "xlsx" }], [{ format: "xlsx", tables: names.slice(1) }]],
    ["period", [{}], [{ period: { from: "2026-01-01", to: null } }]],
    ["redaction", [{}, { redact }], [{}, { redact: hashed }]],
    ["redaction of a record within others", [{ format: "jsonl" }], [{ format: "jsonl" }, { redact }]],
    ["version of the program", [{}], [{}, { version: "1.2.4" }]],
  ])("%s", async (_what, one, other) => {
    const exportAgain = exporter(await aMirror());
    const outcomes: boolean[] = [];
    for (const asked of [one, one, other])
      outcomes.push((await exportAgain([{ tables: names, ...asked[0] }, asked[1]])).unchanged);
    expect(outcomes).toEqual([false, true, false]);
  });

  test("tables that were exported beside others are there", async () => {
    const exportAgain = exporter(await aMirror());
    await exportAgain([{ tables: ["people"] }]);
    await exportAgain([{ tables: ["orders"] }]);
    expect(await exportAgain([{ tables: ["people"] }])).toMatchObject({ unchanged: true });
  });

  test.each(["csv", "xlsx"] as const)(
    "all tables in %s are there beside a view, which stays",
    async (format) => {
      const exportAgain = exporter(await aMirror());
      await exportAgain([{ format }]);
      await exportAgain([{ format, tables: ["deleted_records"] }]);
      expect(await exportAgain([{ format }])).toMatchObject({ removed: [], unchanged: true });
      expect(await exportAgain([{ format }, { redact }])).toMatchObject({ removed: [], unchanged: false });
    },
  );

  test("a workbook is there beside one of a single table", async () => {
    const exportAgain = exporter(await aMirror());
    await exportAgain([{ format: "xlsx", tables: ["people"] }]);
    const { unchanged, out } = await exportAgain([{ format: "xlsx", tables: names }]);
    const both = ["acme/acme.xlsx", "acme/manifest.json", "acme/people.xlsx"];
    expect([unchanged, filesIn(out)]).toEqual([false, both]);
    expect(await exportAgain([{ format: "xlsx", tables: names }])).toMatchObject({ unchanged: true });
    expect(await exportAgain([{ format: "xlsx", tables: ["people"] }])).toMatchObject({ unchanged: true });
  });
});

// Fault: files | an exported file is edited or cut off | the export's folder, nothing changed in the mirror | it is made again
test("a file that is not as the manifest says is made again", async () => {
  const exportAgain = exporter(await aMirror());
  const { out, text } = await exportAgain([{ tables: ["people"] }]);
  const before = text("people.csv");
  const file = path.join(out, "acme/people.csv");
  for (const bytes of [before.replace("Ann", "Bob"), before.slice(0, 10)]) {
    writeFileSync(file, bytes);
    expect(await exportAgain([{ tables: ["people"] }])).toMatchObject({ unchanged: false });
    expect(readFileSync(file, "utf8")).toBe(before);
  }
});

test("what can change without a change of a record is made each time", async () => {
  const exportAgain = exporter(await aMirror());
  for (const name of ["_about", "document_files"]) {
    await exportAgain([{ tables: [name] }]);
    expect(await exportAgain([{ tables: [name] }])).toMatchObject({ unchanged: false });
  }
});
