import { hash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { readXlsx } from "hucre/xlsx";
import { describe, expect, test } from "vitest";
import { declaration as fintoro } from "../../connectors/fintoro/declaration.ts";
import { accountantMonth } from "../../connectors/fintoro/accountant-month.ts";
import type { MonthManifest } from "../../src/export/package/month-folder.ts";
import { dayMs, isoTime, systemClock } from "../../src/base/clock.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { put } from "../support/mirror/store.ts";
import { openSnapshot } from "../../src/state/mirror-snapshot.ts";
import { runCommand } from "../support/program/cli.ts";
import { count, look } from "../support/truth/compare.ts";
import { aMirroredCompany, type Company } from "../support/company/company.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { entriesOf } from "../support/export/zip.ts";
import { wound } from "../support/verify/verify.ts";

async function aCompanyWithFiles(records = 5): Promise<Company> {
  return writeServeConfig(await aMirroredCompany({ records }), "files: { pdf: on }");
}

async function pack(company: Company, month: string, ...more: string[]) {
  const argv = ["package", "--month", month, "--out", "out", "--json", ...more];
  const { code, stdout, stderr } = await runCommand(argv, { cwd: company.folder });
  const { companies } = JSON.parse(stdout === "" ? "{}" : stdout) as { companies?: object };
  return { code, stderr, companies };
}

/** The month with the most documents, those of a credit note first, and how many it has. */
function busyMonth(company: Company): { month: string; documents: number } {
  const sql = `SELECT substr(day, 1, 7) AS month, count(*) AS documents FROM (
      SELECT issue_date AS day, 0 AS is_credit FROM invoices WHERE _deleted_at IS NULL
      UNION ALL SELECT issue_date, 1 FROM credit_notes WHERE _deleted_at IS NULL)
    GROUP BY month ORDER BY max(is_credit) DESC, documents DESC LIMIT 1`;
  return look(company.file, (db) => db.prepare(sql).get() as { month: string; documents: number });
}

const folderOf = (company: Company, month: string) => path.join(company.folder, "out/acme", month);

function hashesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  const files = names.filter((name) => statSync(path.join(folder, name)).isFile());
  const hashOf = (name: string) => hash("sha256", readFileSync(path.join(folder, name)), "hex");
  return Object.fromEntries(files.map((name) => [name, hashOf(name)]));
}

/** The rows of each sheet by their headings. */
async function sheetsOf(company: Company, month: string) {
  const { sheets } = await readXlsx(readFileSync(path.join(folderOf(company, month), `acme-${month}.xlsx`)));
  const rowsOf = ([head = [], ...rows]: (typeof sheets)[number]["rows"]) =>
    rows.map((row) => Object.fromEntries(head.map((name, at) => [String(name), row[at] ?? null])));
  return new Map(sheets.map(({ name, rows }) => [name, rowsOf(rows)]));
}

function centsOf(amounts: readonly unknown[]): number {
  return amounts.reduce<number>((sum, amount) => sum + Math.round(Number(amount) * 100), 0);
}

// Fault: network | the service is away while PDFs are missing | the service's port | the rest is packed, the text names them, exit 3
test("a month is a folder with workbook, PDFs, text and the hashes of all; PDFs that cannot be had are named and follow; the same month again is the same bytes", async () => {
  const company = await aCompanyWithFiles();
  const { month, documents } = busyMonth(company);
  const [folder, config] = [folderOf(company, month), path.join(company.folder, "config.yaml")];
  const read = () => readFileSync(path.join(folder, "CITAJ-MA.txt"), "utf8");
  const text = readFileSync(config, "utf8");
  writeFileSync(config, text.replace(/base_url: .*/, "base_url: http://127.0.0.1:9/api"));
  const away = await pack(company, month);
  expect([away.code, away.stderr]).toEqual([3, expect.stringContaining("PDFs were not fetched")]);
  expect(read()).toContain("Chýba PDF dokladov:");
  expect(Object.keys(hashesIn(folder))).toContain(`acme-${month}.xlsx`);
  writeFileSync(config, text);
  const whole = await pack(company, month, "--zip");
  expect(whole).toMatchObject({ code: 0, companies: { acme: { withoutPdf: [] } } });
  const { "manifest.json": _, ...others } = hashesIn(folder);
  const { files } = JSON.parse(readFileSync(path.join(folder, "manifest.json"), "utf8")) as MonthManifest;
  expect(Object.fromEntries(files.map((file) => [file.path, file.sha256]))).toEqual(others);
  const names = Object.keys(others);
  const pdfs = names.filter((name) => /^pdf\/(invoices|credit_notes)\/.+\.pdf$/.test(name));
  expect(pdfs).toHaveLength(documents);
  const own = names.filter((name) => !name.startsWith("pdf/"));
  expect(own).toEqual(["CITAJ-MA.txt", `acme-${month}.xlsx`]);
  for (const said of [`${documents} PDF`, "Prijaté faktúry"]) expect(read()).toContain(said);
  expect(read()).not.toContain("Chýba PDF");
  const zip = entriesOf(readFileSync(`${folder}.zip`)).map(({ name }) => name);
  expect(zip).toEqual([...files.map((file) => `${month}/${file.path}`), `${month}/manifest.json`]);
  const before = hashesIn(path.dirname(folder));
  const asked = company.proxy.asked.length;
  expect(await pack(company, month, "--zip")).toMatchObject({ code: 0 });
  expect(hashesIn(path.dirname(folder))).toEqual(before);
  expect(company.proxy.asked.length).toBe(asked);
});

test("its sums are those of v_vat_documents and of the documents, to the cent", async () => {
  const company = await aCompanyWithFiles(25);
  const { month } = busyMonth(company);
  await pack(company, month);
  const sheets = await sheetsOf(company, month);
  const sheet = (name: string) => sheets.get(name) ?? [];
  const snapshot = openSnapshot(company.file, fintoro, { reportDate: "2026-11-22" });
  const sql = "SELECT currency, base, vat FROM v_vat_documents WHERE issue_month = ?";
  const expected = snapshot.db.prepare(sql).all(month) as { currency: string; base: number; vat: number }[];
  snapshot.close();
  const currencies = [...new Set(expected.map(({ currency }) => currency))].toSorted();
  expect(sheet("Kontrolné súčty").map((row) => row["Mena"])).toEqual(currencies);
  const documents = [...sheet("Vystavené faktúry"), ...sheet("Vystavené dobropisy")];
  for (const currency of currencies) {
    const own = expected.filter((row) => row.currency === currency);
    const total = sheet("DPH podľa sadzieb").find((row) => row["Mesiac vystavenia"] === `Spolu ${currency}`);
    const issued = documents.filter((row) => row["Mena"] === currency);
    const base = centsOf(own.map((row) => row.base));
    const vat = centsOf(own.map((row) => row.vat));
    const shown = [total?.["Základ dane"], total?.["DPH"]].map((amount) => centsOf([amount]));
    expect([currency, ...shown]).toEqual([currency, base, vat]);
    expect(centsOf(issued.map((row) => row["Spolu bez DPH"]))).toBe(base);
    expect(centsOf(issued.map((row) => row["DPH"]))).toBe(vat);
    const control = sheet("Kontrolné súčty").find((row) => row["Mena"] === currency);
    expect(control).toMatchObject({ "Rozdiel základu": 0, "Rozdiel DPH": 0 });
  }
  for (const row of sheet("Vystavené faktúry").filter((each) => each["Mena"] !== null))
    expect([typeof row["Číslo"], row["Dátum vystavenia"]]).toEqual(["string", expect.any(Date)]);
});

type OpenItem = Readonly<{ number: string; document_type: string; to_be_paid: number }>;

test("what was open at the end of a month adds up to the balance of clients when it is today, and to it with later payments when it is not", async () => {
  const company = await aCompanyWithFiles(25);
  const views = [...(fintoro.views ?? []), ...accountantMonth.sheets];
  const openOn = (reportDate: string) => {
    const snapshot = openSnapshot(company.file, { ...fintoro, views }, { reportDate });
    const { db } = snapshot;
    const sums = (view: string, amount: string) => {
      const sum = `round(sum(round(${amount} * 100)))`;
      return db.prepare(`SELECT currency, ${sum} FROM ${view} GROUP BY currency ORDER BY 1`).raw().all();
    };
    const items = db.prepare("SELECT number, document_type, to_be_paid FROM month_open_items").all();
    const [open, balance] = [sums("month_open_items", "to_be_paid"), sums("v_client_balance", "net")];
    snapshot.close();
    return { items: items as OpenItem[], sums: open, balance };
  };
  const today = openOn("2031-01-01");
  expect(today.items.length).toBeGreaterThan(0);
  expect(today.sums).toEqual(today.balance);
  const day = "2026-06-30";
  const then = openOn(day).items.filter(({ document_type: type }) => type === "invoice");
  const known = look(company.file, (db) =>
    db
      .prepare(
        `SELECT d.number, d.to_be_paid, d.currency_rate AS rate, (SELECT json_group_array(json_array(amount, currency_id = d.currency_id, currency_rate))
            FROM document_payments p WHERE document_type = 'invoice' AND document_id = d.id AND payment_date > '${day}') AS later
          FROM invoices d WHERE _deleted_at IS NULL AND issue_date <= '${day}' AND status IS NOT 'will_not_be_paid'`,
      )
      .all(),
  ) as { number: string; to_be_paid: number; rate: number; later: string }[];
  const expected = known.flatMap(({ number, to_be_paid, rate, later }) => {
    const cents = (JSON.parse(later) as [number, number, number][]).map(([amount, isSame, paymentRate]) =>
      isSame === 1 ? Math.round(amount * 100) : Math.round((Math.round(amount * 100) / paymentRate) * rate),
    );
    const open = cents.reduce((sum, each) => sum + each, Math.round(to_be_paid * 100));
    return open > 0 ? [[number, open] as const] : [];
  });
  const found = then.map(({ number, to_be_paid }) => [number, Math.round(to_be_paid * 100)] as const);
  expect(new Map(found)).toEqual(new Map(expected));
  expect(found.length).toBe(expected.length);
  expect(expected.length).toBeGreaterThan(0);
});

test("tables of the workbook that the config leaves out by now are named as not read whole", async () => {
  const company = await aMirroredCompany();
  const { month } = busyMonth(company);
  for (const table of ["invoices", "document_payments"]) {
    writeServeConfig(company, `resources: { exclude: [${table}, quotations] }`);
    const { code, companies } = await pack(company, month);
    expect(code).toBe(3);
    expect(companies).toMatchObject({ acme: { outcome: "partial", incomplete: [table] } });
  }
});

test("a month that ended after the last whole run is packed as not read whole, until a run reads it or it is proved", async () => {
  const company = writeServeConfig(await aMirroredCompany({ records: 5 }));
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + 40 * dayMs };
  const month = isoTime(systemClock.nowMs()).slice(0, 7);
  const later = async (...argv: string[]) => {
    const { code, stdout } = await runCommand([...argv, "--json"], { cwd: company.folder, clock });
    return [code, /"incomplete":\s*(\[[^\]]*\])/.exec(stdout)?.[1]];
  };
  const packing = ["package", "--month", month];
  expect(await later(...packing)).toEqual([3, expect.stringContaining("invoices")]);
  expect(await later(...packing, "--proved")).toEqual([0, "[]"]);
  expect(await later("sync")).toEqual([0, undefined]);
  expect(await later(...packing)).toEqual([0, "[]"]);
});

// Fault: data | a document comes while its month is packed | the mirror, behind the open snapshot | it is in neither the workbook nor the list of PDFs
test("workbook and PDFs are of one moment", async () => {
  const company = await aCompanyWithFiles();
  const { month } = busyMonth(company);
  let isLate = false;
  const nowMs = () => {
    const names = readdirSync(path.dirname(company.file), { recursive: true, encoding: "utf8" });
    if (!isLate && names.some((name) => name.endsWith(".xlsx.partial"))) {
      isLate = true;
      const late = `(987654, 'LATE', '${month}-01', '')`;
      wound(company, `INSERT INTO invoices (id, number, issue_date, _synced_at) VALUES ${late}`);
    }
    return systemClock.nowMs();
  };
  const argv = ["package", "--month", month, "--json"];
  const { code, stdout } = await runCommand(argv, { cwd: company.folder, clock: { ...systemClock, nowMs } });
  expect([isLate, code]).toEqual([true, 0]);
  expect(JSON.parse(stdout)).toMatchObject({ companies: { acme: { withoutPdf: [] } } });
});

// Fault: process | two months are packed at the same time | the folder in which a workbook is made | one is packed, the other ends as locked
test("two packages of one company do not take each other's workbook", async () => {
  const company = await aCompanyWithFiles();
  const { month } = busyMonth(company);
  const both = await Promise.all([pack(company, month), pack(company, "2019-01")]);
  // Whichever comes first.
  expect(both.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([0, 11]);
  expect((await pack(company, "2019-01")).code).toBe(0);
});

interface Invoice {
  readonly items: readonly { readonly total: number; readonly totalWithVat: number }[];
  readonly total: number;
}

/** Changes an invoice in the mirror, as a read of its detail would. */
async function changeInvoice(company: Company, number: string, changed: (invoice: Invoice) => object) {
  const mirror = await openMirror(company.file, fintoro);
  const sql = "SELECT r.json FROM _raw_invoices r JOIN invoices i USING (id) WHERE i.number = ?";
  const invoice = JSON.parse(String(mirror.db.prepare(sql).pluck().get(number))) as Invoice;
  put(mirror, "invoices", { ...invoice, ...changed(invoice) }, { source: "detail" });
  mirror.close();
}

/** Changes the price of one of the month's. Gives its number. */
async function changePrice(company: Company, month: string): Promise<string> {
  const sql = `SELECT number FROM invoices WHERE issue_date LIKE ? AND _deleted_at IS NULL
    AND id IN (SELECT invoice_id FROM invoice_items) LIMIT 1`;
  const number = look(company.file, (db) => String(db.prepare(sql).pluck().get(`${month}%`)));
  await changeInvoice(company, number, ({ total, items: [line, ...others] }) => {
    if (!line) throw new Error("broken promise: the invoice has a line");
    const dearer = { ...line, total: line.total + 100, totalWithVat: line.totalWithVat + 123 };
    return { total: total + 100, items: [dearer, ...others] };
  });
  return number;
}

const handOvers = (company: Company) =>
  look(company.file, (db) =>
    db.prepare("SELECT month, position, command FROM _hand_overs ORDER BY id").all(),
  );

describe("a month that was handed over", () => {
  // Fault: disk | the mirror is lost after a month was handed over | `restore` of a backup made since | the next package says what changed since
  test("says the next time what changed, field by field, and which rows of VAT are to be corrected; then the same again; also of a mirror that was restored since", async () => {
    const company = await aCompanyWithFiles();
    const { month } = busyMonth(company);
    await pack(company, month);
    const before = hashesIn(folderOf(company, month));
    expect([...(await sheetsOf(company, month)).keys()]).not.toContain("Zmeny od odovzdania");
    const number = await changePrice(company, month);
    // The days of people: in Bratislava it is the 5th.
    wound(company, "UPDATE _hand_overs SET at = '2126-11-04T23:30:00.000Z'");
    const said = await runCommand(["status"], { cwd: company.folder });
    expect(said.stdout).toContain(`${month} was handed over on 2126-11-05; 1 document changed since`);
    const again = await pack(company, month);
    expect(again).toMatchObject({ companies: { acme: { changed_since: { documents: [number] } } } });
    expect(readFileSync(path.join(folderOf(company, month), "CITAJ-MA.txt"), "utf8")).toContain("2126-11-05");
    const sheets = await sheetsOf(company, month);
    const changes = sheets.get("Zmeny od odovzdania") ?? [];
    const total = changes.find((row) => row["Pole"] === "Spolu bez DPH") ?? {};
    expect(total).toMatchObject({ Doklad: number, Zmena: "zmenený", Príčina: "čítanie záznamu" });
    expect(Number(total["Teraz"]) - Number(total["Pôvodne"])).toBeCloseTo(100);
    const codes = (sheets.get("Opravy DPH") ?? []).map((row) => row["Kód"]);
    expect([codes[0], codes.at(-1), codes.length % 2]).toEqual([1, 2, 0]);
    const stated = hashesIn(folderOf(company, month));
    await pack(company, month);
    expect(hashesIn(folderOf(company, month))).toEqual(stated);
    expect(stated).not.toEqual(before);
    const packed = { month, position: expect.any(Number) as number, command: `package --month ${month}` };
    expect(handOvers(company)).toEqual([packed, packed]);
    await changeInvoice(company, number, () => ({ toBePaid: 0.01 }));
    const isNew = async () =>
      (await runCommand(["status"], { cwd: company.folder })).stdout.includes("changed since");
    expect(await isNew()).toBe(true);
    await pack(company, month);
    expect([await isNew(), handOvers(company).length]).toEqual([false, 2]);
    expect([...(await sheetsOf(company, month)).keys()]).toContain("Zmeny od odovzdania");

    const { position } = handOvers(company).at(-1) as { position: number };
    for (const command of ["backup --to safe", "restore --from safe"])
      expect((await runCommand(command.split(" "), { cwd: company.folder })).code).toBe(0);
    const documents = [await changePrice(company, month)];
    const restored = await pack(company, month);
    expect(restored).toMatchObject({ companies: { acme: { changed_since: { position, documents } } } });
    expect(restored.stderr).not.toContain("is not known");
  });

  test("is compared as of a moment after it with what it was, as of the one before with nothing, and with any moment asked for that the log reaches", async () => {
    const company = await aCompanyWithFiles();
    const { month } = busyMonth(company);
    const last = () => count(company.file, "SELECT max(seq) FROM _change_log");
    const before = last();
    await pack(company, month);
    const number = await changePrice(company, month);
    const after = last();
    await changePrice(company, month);
    const changed = { position: before, documents: [number] };
    for (const [option, moment, expected] of [
      ["--as-of", after, changed],
      ["--as-of", before, { ...changed, documents: [] }],
      ["--changes-since", before, changed],
    ] as const)
      expect(await pack(company, month, option, String(moment))).toMatchObject({
        companies: { acme: { changed_since: expected } },
      });
    const known = handOvers(company).length;
    const other = await pack(company, "2026-01", "--changes-since", "2001-01-01");
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("does not reach back that far")]);
    expect(handOvers(company)).toHaveLength(known);
  });

  // Fault: disk | the mirror is lost after a month was handed over | `restore` of a backup made before | package and `--as-of` say what is not known any more
  test("is said not to be known where it was lost with the mirror; so is a moment between backup and restore", async () => {
    const company = await aCompanyWithFiles();
    const { month } = busyMonth(company);
    const run = (command: string) => runCommand(command.split(" "), { cwd: company.folder });
    const unknown = `what changed in ${month} since its last package is not known`;
    const before = isoTime(systemClock.nowMs());
    await run("backup --to safe");
    expect((await pack(company, month)).stderr).not.toContain(unknown);
    const lost = isoTime(systemClock.nowMs());
    expect((await run("restore --from safe")).code).toBe(0);
    expect((await pack(company, month)).stderr).toContain(unknown);
    expect((await pack(company, month)).stderr).not.toContain(unknown);
    const warned = async (command: string) => (await run(command)).stderr.includes("what the backup of");
    expect(await warned(`publish --as-of ${lost}`)).toBe(true);
    expect(await warned(`package --month ${month} --out out --changes-since ${lost}`)).toBe(true);
    expect(await warned(`publish --as-of ${before}`)).toBe(false);
    expect(await warned(`publish --as-of ${isoTime(systemClock.nowMs())}`)).toBe(false);
  });

  test("is said not to be known where changes since it were pruned", async () => {
    const company = await aCompanyWithFiles();
    const { month } = busyMonth(company);
    await pack(company, month);
    const status = async () => (await runCommand(["status"], { cwd: company.folder })).stdout;
    const unknown = `changes since hand-overs are not all known, as older ones were pruned: ${month}`;
    await changePrice(company, month);
    await changePrice(company, month);
    expect(await status()).not.toContain(unknown);
    wound(company, "DELETE FROM _change_log WHERE seq < (SELECT max(seq) FROM _change_log)");
    expect(await status()).toContain(unknown);
  });
});
