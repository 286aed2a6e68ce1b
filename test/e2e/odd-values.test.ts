import { describe, expect, test } from "vitest";
import { aCompany, sync } from "../support/company/company.ts";
import { count, expectEqual, look } from "../support/truth/equal.ts";
import { rewritten } from "../support/company/proxy.ts";
import { eachRecord, odd } from "../support/sandbox/odd-answers.ts";

const columnsOf = (file: string, table: string) =>
  look(file, (db) => db.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(table) as string[]);

const some = { resources: ["suppliers", "orders"], tables: ["suppliers", "orders"] };

describe("unexpected values (I12)", () => {
  // Fault: data | an unknown field | the sandbox | it becomes a column and is reported (I12)
  test("an unknown field becomes a column, is reported, and stays when the service sends it no more", async () => {
    const company = await aCompany();
    company.suffer({ ...odd("unknown_fields"), match: { path: /^.(suppliers|orders)/ } });
    const report = await sync(company, some);
    expect(report.outcome).toBe("complete");
    expect(report.new_columns).toEqual(
      expect.arrayContaining(["suppliers.brand_new_field", "orders.brand_new_field"]),
    );
    expect(
      count(company.file, "SELECT count(*) FROM suppliers WHERE brand_new_field IS NOT NULL"),
    ).toBeGreaterThan(0);
    expect((await sync(company, some)).new_columns).toEqual([]);
    company.recover();
    expect((await sync(company, { ...some, full: true })).outcome).toBe("complete");
    expect(columnsOf(company.file, "suppliers")).toContain("brand_new_field");
    expect(count(company.file, "SELECT count(*) FROM suppliers WHERE brand_new_field IS NOT NULL")).toBe(0);
  });

  // Fault: data | an unknown enumeration value | the sandbox | kept as it is (I12)
  test("an unknown enum value is kept as it is", async () => {
    const company = await aCompany();
    company.suffer(odd("unknown_values"));
    expect((await sync(company)).outcome).toBe("complete");
    expect(
      count(company.file, "SELECT count(*) FROM invoices WHERE status = 'brand_new_value'"),
    ).toBeGreaterThan(0);
    company.recover();
    await sync(company, { full: true });
    expectEqual(company);
  });

  // Fault: data | a required field is missing | the sandbox | null, reported by name, and it comes back (I12)
  test("a required field that is missing is null, reported by name, and comes back", async () => {
    const company = await aCompany();
    company.suffer({ ...odd("missing_fields"), match: { path: "/suppliers" } });
    const report = await sync(company, some);
    expect(report.missing_fields).toContain("suppliers.name");
    expect(count(company.file, "SELECT count(*) FROM suppliers WHERE name IS NULL")).toBeGreaterThan(0);
    company.recover();
    expect((await sync(company, some)).missing_fields).toEqual([]);
    expectEqual(company, some);
  });

  // Fault: data | ids beyond 2^53 | the sandbox | they stay apart, in rows and in requests
  test("ids beyond 2^53 stay apart, in rows and in requests", async () => {
    const company = await aCompany();
    company.suffer({ ...odd("huge_ids"), match: { path: /^.suppliers$/ } });
    await sync(company, { resources: ["suppliers"] });
    const [distinct, least] = look(company.file, (db) =>
      db.prepare("SELECT count(DISTINCT id), min(id) FROM suppliers").raw().safeIntegers().get(),
    ) as [bigint, bigint];
    expect(distinct).toBe(6n);
    expect(least > 9_007_199_254_740_992n).toBe(true);
    await sync(company, { resources: ["suppliers", "contact_activity_logs"] });
    const asked = company.proxy.asked.flatMap(({ query }) => query.get("supplierId") ?? []);
    expect(new Set(asked.filter((id) => id.startsWith("90071992547"))).size).toBe(6);
  });

  // Fault: data | keys like `__proto__` and `constructor` | the sandbox | they are data and change nothing else
  test("keys that look like JavaScript's own are data and change nothing else", async () => {
    const company = await aCompany();
    company.suffer({ ...odd("proto_key"), match: { path: /^.(suppliers|orders)/ } });
    expect((await sync(company, some)).outcome).toBe("complete");
    expect("polluted" in {}).toBe(false);
    expect(columnsOf(company.file, "suppliers").some((name) => name.includes("proto"))).toBe(true);
    expect(
      count(
        company.file,
        "SELECT count(*) FROM _raw WHERE resource = 'suppliers' AND json LIKE '%__proto__%'",
      ),
    ).toBe(6);
  });

  test("number literals come back as they were written", async () => {
    const company = await aCompany();
    company.suffer({ ...odd("number_literals"), match: { path: /^.orders.\d+$/ } });
    await sync(company, some);
    const raw = look(company.file, (db) =>
      db.prepare("SELECT json FROM _raw WHERE resource = 'orders'").pluck().get(),
    ) as string;
    expect(raw).toContain('"total":1e3');
    expect(raw).toContain('"bigNumber":9007199254740993');
    const [total, big] = look(company.file, (db) =>
      db.prepare("SELECT total, big_number FROM orders LIMIT 1").raw().safeIntegers().get(),
    ) as [number, bigint];
    expect([total, big]).toEqual([1000, 9_007_199_254_740_993n]);
  });

  // Fault: data | a value of the wrong kind | the sandbox | its record is in quarantine, the others are mirrored; it comes back whole (I12)
  test("a value of the wrong kind puts its record in quarantine; the rest goes on, and it comes back whole", async () => {
    const company = await aCompany();
    company.suffer({
      kind: "wrong_kinds",
      match: { path: /^.(suppliers|orders.\d+)$/ },
      times: 2,
      answer: eachRecord((text) =>
        text
          .replace(/"(street|number)":"[^"]*"/, '"$1":{"odd":[1]}')
          .replace(/"total":[\d.]+/, '"total":"viac"'),
      ),
    });
    const report = await sync(company, some);
    expect(report.outcome).toBe("partial");
    expect(report.troubles.every(({ kind }) => kind === "quarantined")).toBe(true);
    const kept = count(company.file, "SELECT count(*) FROM _quarantine");
    expect(kept).toBeGreaterThan(1);
    company.recover();
    expect((await sync(company, some)).outcome).toBe("complete");
    expect(count(company.file, "SELECT count(*) FROM _quarantine")).toBe(0);
    expectEqual(company, some);
  });

  // Fault: data | numbers as text, `[]` for an empty map, `{}` for an empty list | a proxy, for every answer | the same rows
  test("numbers, truth and empty lists in PHP's shapes give the same rows", async () => {
    const company = await aCompany();
    company.proxy.obstruct(async ({ path }, passOn) =>
      path === "/whoami" ? undefined : rewritten(await passOn(), asPhpSends),
    );
    expect((await sync(company)).troubles).toEqual([]);
    const rows = rowsOf(company.file);
    expect(rows.invoices?.length).toBeGreaterThan(0);
    expect(rows.document_payments?.length).toBeGreaterThan(0);
    company.recover();
    expect((await sync(company, { full: true })).outcome).toBe("complete");
    expect(rowsOf(company.file)).toEqual(rows);
    expectEqual(company);
  });

  // Fault: data | a detail without its id | the sandbox | taken under the id asked for where nothing else is missing
  test("a detail without an id is the record that was asked for when it lacks nothing else", async () => {
    const company = await aCompany();
    company.suffer({ ...odd("missing_ids"), match: { path: /^.orders.\d+$/ } });
    const report = await sync(company, some);
    expect(report).toMatchObject({ outcome: "complete", missing_fields: ["orders.id"] });
    const kept = look(company.file, (db) =>
      db.prepare("SELECT json FROM _raw WHERE resource = 'orders' LIMIT 1").pluck().get(),
    );
    expect(kept).not.toMatch(/^\{"id"/);
    company.recover();
    await sync(company, { ...some, full: true });
    expectEqual(company, some);
  });

  // Fault: data | a detail without its id and more | the sandbox | kept in quarantine under the id asked for; the run is partial
  test("a detail without an id that lacks more is kept in quarantine under the id asked for; the run is partial", async () => {
    const company = await aCompany();
    const other = '{"message": "please wait", "uuid": null}';
    const id = Math.max(...(company.sandbox.control.snapshot().get("orders")?.keys() ?? []));
    const answer = eachRecord(() => other);
    company.suffer({ kind: "other_record", match: { path: `/orders/${id}` }, answer });
    const report = await sync(company, some);
    expect(report).toMatchObject({ outcome: "partial", new_columns: [] });
    expect(company.proxy.asked.filter(({ path }) => path === `/orders/${id}`)).toHaveLength(3);
    expect(report.troubles).toMatchObject([
      {
        resource: "orders",
        kind: "quarantined",
        message: expect.stringMatching(/^record \d+ .* no id and lacks /),
      },
    ]);
    const [kept] = look(company.file, (db) => db.prepare("SELECT record_id, json FROM _quarantine").all());
    expect(kept).toMatchObject({ record_id: id, json: other });
    company.recover();
    expect((await sync(company, some)).outcome).toBe("complete");
    expect(count(company.file, "SELECT count(*) FROM _quarantine")).toBe(0);
    expectEqual(company, some);
  });
});

const phpTables = [
  "clients",
  "invoices",
  "invoice_items",
  "document_payments",
  "warehouse_inbound_receipts",
] as const;

/** The rows of some tables, without the mirror's own columns. */
function rowsOf(file: string): Partial<Record<string, unknown[]>> {
  const rows = phpTables.map((table) => {
    const columns = columnsOf(file, table).filter((name) => !name.startsWith("_"));
    const sql = `SELECT ${columns.join(", ")} FROM ${table} ORDER BY 1, 2`;
    return [table, look(file, (db) => db.prepare(sql).all())] as const;
  });
  return Object.fromEntries(rows);
}

/** The same answer from a PHP that keeps no types: numbers as text, true as "1", empty lists as `{}`, no map as `[]`. */
function asPhpSends(text: string): string {
  return JSON.stringify(JSON.parse(text), phpShape);
}

function phpShape(key: string, value: unknown): unknown {
  if (typeof value === "number") return String(value);
  if (typeof value === "boolean") return value ? "1" : "0";
  if (Array.isArray(value) && value.length === 0) return {};
  return value === null && ["country", "deliveryCountry", "supplier"].includes(key) ? [] : value;
}
