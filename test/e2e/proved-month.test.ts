import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { readXlsx } from "hucre/xlsx";
import { expect, test } from "vitest";
import type { MonthManifest } from "../../src/export/package/month-folder.ts";
import { aMirroredCompany, type Company } from "../support/company/company.ts";
import { forbidden, type Reply } from "../support/company/proxy.ts";
import { runCommand } from "../support/program/cli.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { count, look } from "../support/truth/compare.ts";
import { wound } from "../support/verify/verify.ts";

/** `id`: of an invoice of the month that has no payment. */
async function aCompanyOfMonths() {
  const company = writeServeConfig(await aMirroredCompany({ records: 60 }));
  const sql = `SELECT substr(issue_date, 1, 7) AS month, min(id) AS id FROM invoices
    WHERE _deleted_at IS NULL AND issue_date < '2026-11' AND to_be_paid < total_with_vat
    GROUP BY month ORDER BY count(*) DESC LIMIT 1`;
  const { month, id } = look(company.file, (db) => db.prepare(sql).get() as { month: string; id: number });
  return { company, month, id, folder: path.join(company.folder, "out/acme", month) };
}

function pack({ folder }: Company, month: string, ...more: string[]) {
  return runCommand(["package", "--month", month, "--out", "out", ...more], { cwd: folder });
}

/** What a folder says of the month's proof: its manifest, its text and the first sheet's name and rows. */
async function saidIn(folder: string, month: string) {
  const read = (name: string) => readFileSync(path.join(folder, name));
  const { sheets } = await readXlsx(read(`acme-${month}.xlsx`));
  return {
    certificate: (JSON.parse(String(read("manifest.json"))) as MonthManifest).certificate,
    text: String(read("CITAJ-MA.txt")),
    sheet: sheets[0]?.name,
    rows: sheets[0]?.rows ?? [],
  };
}

test("a proved month says in text, manifest and first sheet what was compared; without --proved it says nothing of it", async () => {
  const { company, month, folder } = await aCompanyOfMonths();
  const seq = count(company.file, "SELECT max(seq) FROM _change_log");
  await pack(company, month, "--proved");
  const { certificate, text, sheet, rows } = await saidIn(folder, month);
  expect(certificate).toMatchObject({ match: true, month, differences: [], uncompared: [] });
  const { compared, equal, version, log, position, finished_at } = certificate as Record<string, unknown>;
  expect([Number(compared) > 0, equal, position]).toEqual([true, compared, seq]);
  expect(sheet).toBe("Overenie mesiaca");
  const [headings = [], values = []] = rows;
  const facts = Object.fromEntries(headings.map((name, at) => [String(name), values[at]]));
  expect(facts).toMatchObject({
    Mesiac: month,
    "Porovnané doklady": String(compared),
    "Zhodné so službou": String(equal),
    "Čas overenia (UTC)": finished_at,
    Program: `fintoro-mirror ${String(version)}`,
    Pozícia: `${String(log)}:${String(position)}`,
  });
  for (const [name, value] of Object.entries(facts)) expect(text).toContain(`  ${name}: ${String(value)}`);
  await pack(company, month);
  const unproved = await saidIn(folder, month);
  expect(unproved).toMatchObject({ certificate: undefined, sheet: "Vystavené faktúry" });
  expect(unproved.text).not.toContain("Overenie");
});

const edit = "UPDATE invoices SET note = 'not the service''s' WHERE id = ?";
const change = "UPDATE _change_log SET seq = seq + 1 WHERE seq = (SELECT max(seq) FROM _change_log)";

// Fault: data | a month differs, cannot be compared, or changes while it is | mirror and service | it is not called proved, nothing is written
test("a month that cannot be compared, changes meanwhile or differs is not called proved, and nothing is written", async () => {
  const { company, month, id, folder } = await aCompanyOfMonths();
  const atDetail = (answer: () => Reply | undefined) => () =>
    void company.proxy.obstruct(({ path: asked }) => (asked === `/invoices/${id}` ? answer() : undefined));
  const changeOnce = () => {
    company.recover();
    wound(company, change);
    return undefined;
  };
  for (const [harm, exit, said] of [
    [atDetail(() => forbidden), 3, /not compared: invoices/],
    [atDetail(changeOnce), 3, /changed meanwhile/],
    [() => wound(company, edit, id), 1, /differs in note/],
  ] as const) {
    company.recover();
    harm();
    const { code, stdout } = await pack(company, month, "--proved");
    expect([code, stdout, existsSync(folder)]).toEqual([exit, expect.stringMatching(said), false]);
    expect(stdout).toContain("not proved, nothing was written");
  }
});
