import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redactModeOf, type RedactRule } from "../../src/store/snapshot/redaction.ts";
import type { Dict, Records } from "../support/export/recount.ts";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { checkRedaction } from "../../src/cli/program/check-redaction.ts";
import { mostNewColumns } from "../../src/store/tables/unknown-columns.ts";
import { rememberIdentity } from "../../src/state/meta.ts";
import { jsonLines } from "../support/program/cli.ts";
import { complaint, load, minimal } from "../support/connector/config.ts";
import { duckRows, exportOf, filesIn } from "../support/export/export.ts";
import { publish, publishedCompany, reading, rowsOf } from "../support/export/published.ts";
import { put, remove } from "../support/mirror/store.ts";

/** Emails and streets of clients, wherever records repeat them. */
const dropped: readonly RedactRule[] = [
  { columns: "clients.email", mode: "drop" },
  { columns: "*.client_email", mode: "drop" },
  { columns: "clients.street", mode: "hash" },
  { columns: "*.client_street", mode: "hash" },
];

/** Texts that only the columns of `dropped` have. */
function clientSecrets(records: Records): string[] {
  const clients = records.get("clients") as Dict[];
  const all = clients
    .flatMap((one) => [one["email"], one["street"]])
    .filter((one) => typeof one === "string");
  const others = JSON.stringify(records.get("suppliers")) + JSON.stringify(records.get("company"));
  return [...new Set(all)].filter((one) => one.length > 5 && !others.includes(one));
}

/** Those of the texts that a file, or a folder's files, have as bytes. A workbook is an archive of compressed parts. */
function leaksIn(place: string, texts: readonly string[]): string[] {
  const isFolder = statSync(place).isDirectory();
  const files = isFolder ? filesIn(place).map((file) => path.join(place, file)) : [place];
  const bytes = files.flatMap((file) => {
    const content = readFileSync(file);
    const parts = file.endsWith(".xlsx") ? Object.values(unzipSync(content)) : [content];
    return parts.map((part) => Buffer.from(part));
  });
  return texts.filter((text) => bytes.some((each) => each.includes(text)));
}

const company = await publishedCompany({ records: 60 });
rememberIdentity(company.mirror, { name: "Acme", salt: "5aac11c0", fingerprint: "", businessId: null });
afterAll(() => company.close());

const secretsOf = () => clientSecrets(company.records);

const sameEmail =
  "SELECT count(*) AS n FROM invoices i JOIN clients c ON c.id = i.client_id WHERE c.email = i.client_email";

describe("a redacted report", () => {
  test("has no redacted value in any byte, also in the place of a report that had them, and after an update", async () => {
    expect(secretsOf().length).toBeGreaterThan(5);
    const report = path.join(path.dirname(company.file), "redacted.report.db");
    await publish(company.mirror, { report });
    expect(leaksIn(report, secretsOf()).length).toBeGreaterThan(5);
    const anew = await publish(company.mirror, { report, redact: dropped });
    expect(anew).toMatchObject({ outcome: "written", way: "anew" });
    expect(leaksIn(report, secretsOf())).toEqual([]);
    const client = (company.records.get("clients") as Dict[]).at(-1);
    put(company.mirror, "clients", { ...client, email: "changed@example.sk" });
    const updated = await publish(company.mirror, { report, redact: dropped, way: "changes" });
    expect(updated).toMatchObject({ way: "changes" });
    expect(leaksIn(report, [...secretsOf(), "changed@example.sk"])).toEqual([]);
    const again = await publish(company.mirror, { report, redact: dropped });
    expect(again).toMatchObject({ outcome: "unchanged" });
  });

  test("has equal hashes for equal values in every table, which another mirror's key does not give; null stays null", async () => {
    const report = path.join(path.dirname(company.file), "hashed.report.db");
    const redact: RedactRule[] = [{ columns: "*.*email", mode: "hash" }];
    await publish(company.mirror, { report, redact });
    const db = reading(report);
    const plain = reading((await publish(company.mirror)).file);
    const [before] = rowsOf(plain, sameEmail);
    expect(Number(before?.["n"])).toBeGreaterThan(5);
    expect(rowsOf(db, sameEmail)[0]).toEqual(before);
    const empty = "SELECT count(*) AS n FROM clients WHERE email IS NULL";
    expect(rowsOf(db, empty)).toEqual(rowsOf(plain, empty));
    const hashes = db.prepare("SELECT email FROM clients WHERE email IS NOT NULL").pluck().all() as string[];
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{32}$/);
    expect(readFileSync(report).includes("5aac11c0")).toBe(false);
  });

  test("has nothing of it in its views, nor of a hashed amount in their sums, says in `_about` what is redacted, and declares a hash as text", async () => {
    const report = path.join(path.dirname(company.file), "about.report.db");
    const names = ["clients.name", "*.client_name"].map((columns): RedactRule => ({ columns, mode: "drop" }));
    const hashed = ["invoices.client_id", "invoices.total"].map((columns): RedactRule => ({
      columns,
      mode: "hash",
    }));
    await publish(company.mirror, { report, redact: [...hashed, ...names, ...dropped] });
    const db = reading(report);
    const about = rowsOf(db, "SELECT value FROM _about WHERE subject = 'clients' AND fact = 'redacted'");
    expect(about).toEqual([{ value: "name: drop, email: drop, street: hash" }]);
    const type = rowsOf(db, "SELECT type FROM pragma_table_info('invoices') WHERE name = 'client_id'");
    expect(type).toEqual([{ type: "TEXT" }]);
    expect(rowsOf(db, "PRAGMA foreign_key_check")).toEqual([]);
    const sums = "SELECT DISTINCT total, total_eur FROM v_invoices";
    expect(rowsOf(db, sums)).toEqual([{ total: 0, total_eur: 0 }]);
    for (const view of ["v_receivables", "v_open_invoices", "v_client_summary", "v_sales_lines"])
      expect(rowsOf(db, `SELECT DISTINCT client_name FROM ${view}`), view).toEqual([{ client_name: null }]);
  });
});

describe("a redacted export", () => {
  test("has the same hash in a column, in the JSON of its record and in that of another one", async () => {
    const redact: RedactRule[] = [{ columns: "clients.email", mode: "hash" }];
    const tables = ["clients", "business_cases"];
    const { text } = await exportOf(company.mirror, { format: "jsonl", tables }, { redact });
    const records = (file: string) => jsonLines(text(file)) as Dict[];
    const csv = await exportOf(company.mirror, { tables: ["clients"] }, { redact });
    const hashes = new Map(records("clients.jsonl").map(({ id, email }) => [id, email]));
    const cases = records("business_cases.jsonl").map(({ client }) => client as Dict | null);
    const embedded = cases.filter((client) => typeof client?.["email"] === "string");
    expect(embedded.length).toBeGreaterThan(0);
    for (const client of embedded)
      expect([client?.["id"], client?.["email"]]).toEqual([client?.["id"], hashes.get(client?.["id"])]);
    for (const hash of hashes.values())
      if (hash !== null) expect(csv.text("clients.csv")).toContain(String(hash));
  });

  test("names the files beside it that are redacted otherwise", async () => {
    const { out } = await exportOf(company.mirror, { format: "jsonl", tables: ["invoices"] });
    const other = await exportOf(company.mirror, { tables: ["clients"], out }, { redact: dropped });
    expect(other.otherwiseRedacted).toEqual(["acme/invoices.jsonl"]);
  });
});

/** What is warned of; throws what is refused. */
function check(redact: string): string[] {
  const warnings: string[] = [];
  const loaded = load(minimal(`report: { redact: { ${redact} } }\n`));
  checkRedaction(loaded, declaration, { warn: (text) => void warnings.push(text) });
  return warnings;
}

test("a rule that names the column counts before those with *, and of these one that drops", () => {
  const rules: RedactRule[] = [
    { columns: "*.email", mode: "hash" },
    { columns: "clients.*", mode: "drop" },
    { columns: "clients.name", mode: "hash" },
  ];
  const modes = ["name", "email", "street"].map((name) =>
    redactModeOf(rules, "clients", { name, scalar: "text" }),
  );
  expect(modes).toEqual(["hash", "drop", "drop"]);
  expect(redactModeOf(rules, "suppliers", { name: "email", scalar: "text" })).toBe("hash");
});

describe("report.redact in the config", () => {
  test.each([
    ["clints.email: drop", "config.yaml:4:21: unknown table clints. Did you mean clients?"],
    ["clients.emial: drop", "unknown column emial of clients. Did you mean email?"],
    ["clients.id: drop", "is a key"],
    ["v_receivables.client_name: drop", "is of a view"],
    ["email: drop", "must be TABLE.COLUMN"],
    ['"*.emails_of": drop', "fits no column"],
  ])("%s is refused with its place", (redact, message) => {
    expect(() => check(redact)).toThrow(message);
  });

  test("warns of copies still shown, of unknown columns, and of what views and months then lack", () => {
    expect(check("clients.email: drop, clients.phone: hash")).toEqual([
      expect.stringContaining("clients has no column phone"),
      expect.stringMatching(/still shown in .*invoices\.client_email/),
    ]);
    expect(check('clients.email: drop, "*.client_email": drop')).toEqual([]);
    expect(check("invoices.total: hash")).toEqual([
      expect.stringContaining("invoices.total is an amount: views that add it up show too little"),
    ]);
    expect(check("invoices.issue_date: drop")).toEqual([
      expect.stringMatching(/invoices\.issue_date is the day .* exports of a month have no row of invoices/),
    ]);
  });
});

const email: RedactRule = { columns: "clients.email", mode: "drop" };
const unknown: RedactRule = { columns: "unknown", mode: "drop" };
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
  beforeAll(async () => {
    const { mirror, records } = company;
    for (const rules of [[email], [email, unknown]]) {
      const out = path.join(path.dirname(company.file), `known-${rules.length}`);
      await exportOf(mirror, { format: "jsonl", out }, { redact: rules });
      for (const file of readdirSync(path.join(out, "acme")))
        if (file !== "manifest.json")
          known.set(`${rules.length} ${file}`, readFileSync(path.join(out, "acme", file), "utf8"));
    }
    const withNew = "clients invoices price_list_items contact_activity_logs business_cases";
    for (const name of withNew.split(" ")) {
      const [first, second] = records.get(name) as Dict[];
      for (const record of [first, second]) if (record) put(mirror, name, withNews(record) as Dict);
    }
    const noise = Array.from({ length: mostNewColumns + 5 }, (_, i) => [`f${i}`, `leak-${i}`] as const);
    const [, , client, gone] = records.get("clients") as Dict[];
    put(mirror, "clients", { ...client, ...Object.fromEntries(noise) });
    put(mirror, "clients", { ...gone, novelty: "leak-gone" });
    remove(mirror, "clients", Number(gone?.["id"]));
  });

  test("are in no byte of the report, its views and its deleted records, and keep their column", async () => {
    const report = path.join(path.dirname(company.file), "unknown.report.db");
    await publish(company.mirror, { report });
    expect(report).toSatisfy(leaks);
    await publish(company.mirror, { report, redact: [unknown] });
    expect(report).not.toSatisfy(leaks);
    const db = reading(report);
    expect(rowsOf(db, "SELECT DISTINCT novelty FROM clients")).toEqual([{ novelty: null }]);
    const about = "SELECT value FROM _about WHERE subject = 'invoice_items' AND fact = 'redacted'";
    expect(rowsOf(db, about)).toEqual([{ value: expect.stringContaining("novelty: drop") }]);
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
      expect(plain.out).toSatisfy(leaks);
      expect((await secretsIn(plain.out, format)).length).toBeGreaterThan(5);
      const redact = [...dropped, { columns: "invoice_items.name", mode: "drop" } as const, unknown];
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
    expect(check("unknown: drop")).toEqual([]);
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
