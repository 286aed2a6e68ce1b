import { existsSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineResource } from "../../src/connector/resource.ts";
import type { ConnectorDeclaration } from "../../src/connector/connector-declaration.ts";
import * as schema from "../../src/connector/record-schema.ts";
import { openMirror } from "../../src/state/mirror.ts";

const { boolean, date, decimal, doc, integer, orNull, record, text } = schema;

/** Forty columns, as an invoice has them: texts, amounts, ids, dates, yes and no. */
const shape: Record<string, ReturnType<typeof schema.text>> = {};
const values: string[] = [];
const add = (name: string, field: unknown, sql: string) => {
  shape[name] = field as ReturnType<typeof schema.text>;
  values.push(sql);
};
const texts = [
  "'FA-2026-' || printf('%06d', n)",
  "'Ľubomír Šťastný, s.r.o. ' || (n % 997)",
  "CASE WHEN n % 3 = 0 THEN NULL ELSE 'Poznámka \"k faktúre\" č. ' || n END",
  "'SK' || (2020000000 + n % 5000)",
  "'paid'",
  "'Hlavná ' || (n % 300) || ', 811 01 Bratislava'",
];
const amounts = [
  "round((n * 7919 % 1000003) / 100.0, 2)",
  "round((n * 104729 % 99999989) / 100.0, 2)",
  "20.0",
  "(n % 1000) / 8.0",
];
const integers = ["n % 5000", "2026000000 + n", "CASE WHEN n % 4 = 0 THEN NULL ELSE n % 17 END"];
for (let i = 0; i < 13; i++) add(`text${i}`, orNull(text()), texts[i % texts.length] ?? "");
for (let i = 0; i < 11; i++) add(`amount${i}`, decimal(), amounts[i % amounts.length] ?? "");
for (let i = 0; i < 8; i++) add(`number${i}`, orNull(integer()), integers[i % integers.length] ?? "");
for (let i = 0; i < 4; i++)
  add(`day${i}`, doc("a day", date()), "date('2020-01-01', '+' || (n % 2200) || ' days')");
for (let i = 0; i < 3; i++) add(`flag${i}`, boolean(), `(n + ${i}) % 2`);

const wide = defineResource({
  name: "invoices",
  title: "Invoices",
  record: record({ id: integer(), ...shape }),
  list: { kind: "paged", path: "/invoices", perPage: 500, params: {} },
  detail: "/invoices/{id}",
});

/** A connector with one resource, and no service. */
export const benchDeclaration: ConnectorDeclaration = {
  name: "bench",
  title: "Bench",
  baseUrl: "",
  limits: { requests: 120, windowMs: 60_000 },
  languages: [],
  resources: [wide],
  events: [],
  cascades: [],
  operations: [],
  identity: { resource: wide.name, nameField: "name", businessIdColumn: "", businessIdIn: [], proofs: [] },
};

/** The columns of its one table, without the mirror's own. */
export const benchColumns: readonly string[] = ["id", ...Object.keys(shape)];

/** A mirror with so many invoices, kept in the system's temporary folder: made once, by SQL alone. */
export async function benchMirror(rows: number): Promise<string> {
  const file = join(tmpdir(), `fintoro-mirror-bench-export-${rows}.db`);
  if (existsSync(file)) return file;
  const part = `${file}.part`;
  rmSync(part, { force: true });
  const mirror = await openMirror(part, benchDeclaration);
  const columns = [...benchColumns, "_synced_at"].map((name) => `"${name}"`).join(", ");
  mirror.db.pragma("synchronous = OFF");
  mirror.db.exec(`WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${rows})
    INSERT INTO invoices (${columns}) SELECT n, ${values.join(", ")}, '2026-03-01T00:00:00.000Z' FROM s`);
  mirror.db.pragma("wal_checkpoint(TRUNCATE)");
  mirror.close();
  renameSync(part, file);
  return file;
}
