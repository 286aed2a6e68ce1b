import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { checkRedaction } from "../../src/cli/program/check-redaction.ts";
import { mostNewColumns } from "../../src/store/tables/unknown-columns.ts";
import type { RedactRule } from "../../src/store/snapshot/redaction.ts";
import { rememberIdentity } from "../../src/state/meta.ts";
import { complaint, load, minimal } from "../support/connector/config.ts";
import { duckRows, exportOf } from "../support/export/export.ts";
import { clientRules, clientSecrets, leaksIn } from "../support/export/leaks.ts";
import {
  publish,
  publishedCompany,
  reading,
  rowsOf,
  type PublishedCompany,
} from "../support/export/published.ts";
import type { Dict } from "../support/export/recount.ts";
import { putAs, remove } from "../support/mirror/store.ts";

const email: RedactRule = { columns: "clients.email", mode: "drop" };
const unknown: RedactRule = { columns: "unknown", mode: "drop" };

let company: PublishedCompany;
const known = new Map<string, string>();

/** The record with an unknown field in each of its objects. */
function withNews(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNews);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(
    ([key, inner]) => [key, key === "metadata" ? inner : withNews(inner)] as const,
  );
  return { ...Object.fromEntries(members), novelty: "leak-text", news: { of: ["leak-inner"] } };
}

beforeAll(async () => {
  company = await publishedCompany({ records: "small" });
  const { mirror, records } = company;
  rememberIdentity(mirror, { name: "Acme", salt: "5aac11c0", fingerprint: "", businessId: null });
  for (const rules of [[email], [email, unknown]]) {
    const out = path.join(path.dirname(company.file), `known-${rules.length}`);
    await exportOf(mirror, { format: "jsonl", out }, { redact: rules });
    for (const file of readdirSync(path.join(out, "acme")))
      if (file !== "manifest.json")
        known.set(`${rules.length} ${file}`, readFileSync(path.join(out, "acme", file), "utf8"));
  }
  for (const name of ["clients", "invoices", "price_list_items", "contact_activity_logs", "business_cases"]) {
    const [first, second] = records.get(name) as Dict[];
    for (const record of [first, second])
      if (record) putAs(mirror, name, Number(record["id"]), JSON.stringify(withNews(record)));
  }
  const noise = Object.fromEntries(
    Array.from({ length: mostNewColumns + 5 }, (_, i) => [`f${i}`, `leak-${i}`]),
  );
  const [, , client, gone] = records.get("clients") as Dict[];
  putAs(mirror, "clients", Number(client?.["id"]), JSON.stringify({ ...client, ...noise }));
  putAs(mirror, "clients", Number(gone?.["id"]), JSON.stringify({ ...gone, novelty: "leak-gone" }));
  remove(mirror, "clients", Number(gone?.["id"]));
});
afterAll(() => company.close());

const withClients =
  "clients business_cases contact_activity_logs invoices invoice_items orders deleted_records".split(" ");

/** Whether a file, or one of a folder, has a value of an unknown field. */
const leaks = (place: string) => leaksIn(place, ["leak-"]).length > 0;

/** Names of lines, emails and streets that a place shows; the bytes of Parquet may be cut anywhere, so its invoices are read. */
async function secretsIn(place: string, format: string): Promise<string[]> {
  const secrets = clientSecrets(company.records);
  if (format !== "parquet") return leaksIn(place, secrets);
  const invoices = company.records.get("invoices") as unknown as { items: { name: string }[] }[];
  const names = invoices.flatMap(({ items }) => items.map(({ name }) => name));
  const lines = names.filter((name) => name.length > 8).map((name) => `"name":"${name}`);
  const text = (await duckRows(`SELECT to_json(i) FROM '${place}/acme/invoices.parquet' i`)).flat().join("");
  return [...secrets, ...lines].filter((one) => text.includes(one));
}

describe("fields that the connector does not know, dropped", () => {
  test("are in no byte of the report, its views and its deleted records, and keep their column", async () => {
    const report = path.join(path.dirname(company.file), "unknown.report.db");
    await publish(company.mirror, { report });
    expect(leaks(report)).toBe(true);
    await publish(company.mirror, { report, redact: [unknown] });
    expect(leaks(report)).toBe(false);
    const db = reading(report);
    expect(rowsOf(db, "SELECT DISTINCT novelty FROM clients")).toEqual([{ novelty: null }]);
    const [about] = rowsOf(
      db,
      "SELECT value FROM _about WHERE subject = 'invoice_items' AND fact = 'redacted'",
    );
    expect(about?.["value"]).toContain("novelty: drop");
  });

  test.each([
    { format: "parquet", nested: true },
    { format: "jsonl" },
    { format: "xlsx" },
    { format: "jsonl", ofChanges: true },
  ] as const)(
    "are in no byte of an export, nor is what is redacted by name: %j",
    async ({ format, nested = false, ofChanges = false }) => {
      const first = company.mirror.db.prepare("SELECT min(seq) FROM _change_log").pluck().get() as number;
      const request = { format, nested, since: ofChanges ? { log: null, seq: first } : null };
      const tables = format === "jsonl" ? [] : withClients;
      const plain = await exportOf(company.mirror, { ...request, tables });
      expect(leaks(plain.out)).toBe(true);
      expect((await secretsIn(plain.out, format)).length).toBeGreaterThan(5);
      const redact = [...clientRules, { columns: "invoice_items.name", mode: "drop" } as const, unknown];
      const { out } = await exportOf(company.mirror, { ...request, tables }, { redact });
      expect([leaks(out), await secretsIn(out, format)]).toEqual([false, []]);
    },
  );

  test("take nothing of what the connector knows with them, in the JSON of any record", () => {
    const files = [...known].filter(([name]) => name.startsWith("1 "));
    expect(files.length).toBeGreaterThan(20);
    for (const [name, text] of files) expect([name, known.get(`2${name.slice(1)}`)]).toEqual([name, text]);
  });

  test("are hashed, or not, where their own column is named", async () => {
    const redact: RedactRule[] = [unknown, { columns: "clients.novelty", mode: "hash" }];
    const { text } = await exportOf(company.mirror, { format: "jsonl", tables: ["clients"] }, { redact });
    expect(text("clients.jsonl")).toMatch(/"novelty":"[0-9a-f]{32}"/);
    expect(text("clients.jsonl")).not.toContain("leak-");
  });
});

const rulesOf = (redact: string) => load(minimal(`report: { redact: { ${redact} } }\n`)).config.report.redact;

describe("report.redact.unknown", () => {
  test("is drop as soon as anything is redacted, and keep otherwise", () => {
    expect(rulesOf("")).toEqual([]);
    expect(rulesOf("unknown: keep")).toEqual([]);
    expect(rulesOf("unknown: drop")).toEqual([unknown]);
    // It is checked as no table.
    const warnings: string[] = [];
    const loaded = load(minimal("report: { redact: { unknown: drop } }\n"));
    checkRedaction(loaded, manifest, { warn: (text) => void warnings.push(text) });
    expect(warnings).toEqual([]);
    expect(rulesOf("clients.email: drop")).toEqual([email, unknown]);
    expect(rulesOf("clients.email: drop, unknown: keep")).toEqual([email]);
  });

  test.each([
    ["unknown: hash", "config.yaml:4:30", "must be one of drop, keep"],
    ["unknown: kep", "config.yaml:4:30", "Did you mean keep?"],
    ["clients.email: keep", "config.yaml:4:36", "must be one of drop, hash"],
  ])("%s is refused with its place", (redact, place, message) => {
    const said = complaint(minimal(`report: { redact: { ${redact} } }\n`)).message;
    expect(said).toContain(place);
    expect(said).toContain(message);
  });
});
