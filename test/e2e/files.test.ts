import { hash } from "node:crypto";
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  chmodSync,
} from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ArchiveCheck } from "../../src/files/check-archive.ts";
import type { DocumentFile } from "../../src/state/files/stored-files.ts";
import { endOf, runCommand, runProgram } from "../support/program/cli.ts";
import { aCompany, aMirroredCompany, sync, type Company } from "../support/company/company.ts";
import { count, look } from "../support/truth/compare.ts";
import { startIn, writeServeConfig } from "../support/program/serve.ts";
import { eventually } from "../support/eventually.ts";
import { forbidden } from "../support/company/proxy.ts";
import { liveIds } from "../support/verify/verify.ts";

async function aCompanyWithFiles(records = 5): Promise<Company> {
  return writeServeConfig(await aMirroredCompany({ records }), "files: { pdf: on, attachments: on }");
}

async function run(company: Company, ...args: string[]) {
  const { code, stdout, stderr } = await runCommand([...args, "--json"], { cwd: company.folder });
  const { companies } = JSON.parse(stdout === "" ? "{}" : stdout) as { companies?: { acme: unknown } };
  return { code, stderr, acme: companies?.acme as Record<string, unknown> & ArchiveCheck };
}

const folderOf = (company: Company) => path.join(company.folder, "acme.files");
const at = (company: Company, file: string) => path.join(folderOf(company), file);
const hashAt = (company: Company, file: string) => hash("sha256", readFileSync(at(company, file)), "hex");

function filesIn(company: Company, where = "1"): DocumentFile[] {
  const sql = `SELECT * FROM document_files WHERE ${where} ORDER BY path`;
  return look(company.file, (db) => db.prepare(sql).all() as DocumentFile[]);
}

async function expectWhole(company: Company): Promise<void> {
  expect(await run(company, "files", "check")).toMatchObject({ code: 0, acme: { match: true } });
}

const requestsFor = (company: Company) =>
  company.proxy.asked.filter(({ path: asked }) => /\/(?:pdf|attachments)$/.test(asked)).length;

test("every document, receipt and event with attachments gets its files, under names that people read; a changed document is fetched again, and its older version stays; one that gets the name of another takes not its file: the id is added to its own", async () => {
  const company = await aCompanyWithFiles();
  await run(company, "files", "--month", "1999-01");
  expect(filesIn(company)).toEqual([]);
  expect(await run(company, "files")).toMatchObject({ code: 0, acme: { outcome: "complete", pending: 0 } });
  const files = filesIn(company);
  for (const table of ["invoices", "credit_notes", "orders", "warehouse_inbound_receipts"])
    expect(files.filter(({ document }) => document === table)).toHaveLength(
      count(company.file, `SELECT count(*) FROM ${table}`),
    );
  expect(files.filter(({ kind }) => kind === "attachment")).toHaveLength(
    count(company.file, "SELECT count(*) FROM contact_activity_log_attachments"),
  );
  for (const { path: file, sha256: known, size_bytes } of files)
    expect([hashAt(company, file), statSync(at(company, file)).size], file).toEqual([known, size_bytes]);
  const [before, first, second] = filesIn(company, "document = 'invoices'");
  const placeSql = `SELECT strftime('%Y/%m/invoices/', issue_date) || number || ' ' || client_name || '.pdf'
    FROM invoices WHERE id = ?`;
  const place = look(company.file, (db) => db.prepare(placeSql).pluck().get(before?.document_id));
  expect(before?.path).toBe(place);
  await expectWhole(company);
  const asked = requestsFor(company);
  expect(await run(company, "files")).toMatchObject({ code: 0, acme: { written: 0, requests: 0 } });
  expect(requestsFor(company)).toBe(asked);

  const { control } = company.sandbox;
  control.alter("invoices", Number(before?.document_id), { issueDate: "2026-02-03" });
  const named = control.snapshot().get("invoices")?.get(Number(first?.document_id));
  const { number, issueDate, client } = named ?? {};
  control.alter("invoices", Number(second?.document_id), { number, issueDate, client });
  await sync(company, { full: true });
  expect(await run(company, "files")).toMatchObject({ code: 0, acme: { asked: 2, written: 2 } });
  const fileOf = (document: typeof first) =>
    filesIn(company, `document = 'invoices' AND document_id = ${document?.document_id}`)[0];
  const after = fileOf(before);
  expect(after?.sha256).not.toBe(before?.sha256);
  expect(after?.path).toMatch(/^2026\/02\/invoices\//);
  const object = `objects/${before?.sha256.slice(0, 2)}/${before?.sha256}`;
  expect(hashAt(company, object)).toBe(before?.sha256);
  expect(fileOf(second)?.path).toBe(first?.path.replace(/\.pdf$/, ` [${second?.document_id}].pdf`));
  expect(hashAt(company, first?.path ?? "")).toBe(first?.sha256);
  await expectWhole(company);
});

// Fault: files | a byte is changed, a file is removed, added or replaced, a line of the manifest is changed or cut off | the stored files | `files check` exits 1 and names each
test("any change of the stored files is found and named", async () => {
  const company = await aCompanyWithFiles();
  await run(company, "files");
  const [first, second, third] = filesIn(company, "kind = 'pdf'");
  const manifest = readFileSync(at(company, "manifest.jsonl"), "utf8");
  appendFileSync(at(company, first?.path ?? ""), "%");
  rmSync(at(company, second?.path ?? ""));
  rmSync(at(company, third?.path ?? ""));
  writeFileSync(at(company, third?.path ?? ""), "%PDF-1.4 forged %%EOF");
  writeFileSync(at(company, "extra.pdf"), "%PDF");
  const { code, acme } = await run(company, "files", "check");
  const named = acme.damaged.map(({ problem, path: place }) => `${problem} ${place}`);
  const object = `objects/${first?.sha256.slice(0, 2)}/${first?.sha256}`;
  const changed = [object, first?.path, third?.path].map((place) => `changed ${place}`);
  const expected = [...changed, `missing ${second?.path}`, "extra extra.pdf"];
  expect([code, named]).toEqual([1, expect.arrayContaining(expected)]);

  const lines = manifest.split("\n");
  const altered = lines.with(1, String(lines[1]).replace('"kind":"pdf"', '"kind":"PDF"')).join("\n");
  writeFileSync(at(company, "manifest.jsonl"), altered);
  const chain = (await run(company, "files", "check")).acme.damaged.filter((one) => one.problem === "chain");
  expect(chain.map(({ path: place }) => place)).toContain("manifest.jsonl:3");

  // Cut off at its end, it is a chain still: the mirror knows that it was longer. What is fetched next does not hide it.
  writeFileSync(at(company, "manifest.jsonl"), `${lines.slice(0, -3).join("\n")}\n`);
  for (const step of ["files check", "files", "files check"]) {
    const { acme: result } = await run(company, ...step.split(" "));
    if (step !== "files") expect(result.damaged.map(({ problem }) => problem)).toContain("chain");
  }
});

// Fault: service | 404, 403, HTML, an empty answer, half a PDF, a broken ZIP archive | the routes of files | named with the reason, never stored; the others are
test("an answer that is no file is never stored, and is named with the reason", async () => {
  const company = await aCompanyWithFiles(12);
  const [a, b, c] = liveIds(company, "invoices");
  const [d] = liveIds(company, "orders");
  const event = count(company.file, "SELECT contact_activity_log_id FROM contact_activity_log_attachments");
  company.suffer(
    { kind: "status", status: 404, match: { path: `/invoices/${a}/pdf` } },
    { kind: "status", status: 403, match: { path: `/invoices/${b}/pdf` } },
  );
  company.proxy.obstruct(async ({ path: asked }, passOn) => {
    if (asked === `/invoices/${c}/pdf`)
      return { ...(await passOn()), body: Buffer.from("<html>sorry</html>") };
    if (asked === `/orders/${d}/pdf`)
      return { ...(await passOn()), body: (await passOn()).body.subarray(0, 300) };
    const isEvent = asked === `/contact-activity-logs/${event}/attachments`;
    return isEvent ? { ...(await passOn()), body: (await passOn()).body.subarray(0, -30) } : undefined;
  });
  const { code, acme } = await run(company, "files");
  expect({ code, outcome: acme["outcome"] }).toEqual({ code: 3, outcome: "partial" });
  const problems = acme["problems"] as readonly { readonly document: string; readonly document_id: number }[];
  const named = problems.map(({ document, document_id: id }) => `${document} ${id}`).toSorted();
  const invoices = [a, b, c].map((id) => `invoices ${id}`);
  expect(named).toEqual([`contact_activity_logs ${event}`, ...invoices.toSorted(), `orders ${d}`]);
  expect(filesIn(company, `document = 'invoices' AND document_id IN (${[a, b, c].join()})`)).toEqual([]);
  expect(filesIn(company, "document = 'quotations'").length).toBeGreaterThan(0);
  await expectWhole(company);
  company.recover();
  const whole = { asked: 5, pending: 0, problems: [] };
  expect(await run(company, "files")).toMatchObject({ code: 0, acme: whole });
});

test("refused files among others stop nothing, however many", async () => {
  const company = await aCompanyWithFiles(90);
  const ids = liveIds(company, "invoices");
  const refused = new Set(ids.filter((_, i) => i % 2 === 0).map((id) => `/invoices/${id}/pdf`));
  // As many in a row end it.
  expect(refused.size).toBeGreaterThan(20);
  company.proxy.obstruct(({ path: asked }) => (refused.has(asked) ? forbidden : undefined));
  expect((await run(company, "files")).code).toBe(3);
  expect(filesIn(company, "document = 'invoices'")).toHaveLength(ids.length - refused.size);
});

// Fault: process | kill -9 while files are fetched | the real program, at growing times | what was stored is whole, the next time goes on with the rest
test("killed at any moment, fetching goes on where it was, and nothing is half", async () => {
  const company = await aCompanyWithFiles(10);
  let most = 0;
  company.proxy.obstruct(async ({ path: asked }, passOn) => {
    if (asked.endsWith("/pdf")) await pause(20);
    return passOn();
  });
  for (let kills = 1; kills <= 2; kills++) {
    const child = startIn(company, ["files"]);
    const ended = endOf(child);
    const from = requestsFor(company);
    await eventually(() => requestsFor(company) >= from + 9 * kills || child.exitCode !== null, "some files");
    child.kill("SIGKILL");
    await ended;
    const { acme } = await run(company, "files", "check");
    expect(acme.damaged).toEqual([]);
    expect(acme.files).toBeGreaterThanOrEqual(most);
    most = acme.files;
  }
  const { acme } = await run(company, "files");
  expect(acme).toMatchObject({ outcome: "complete", pending: 0 });
  await expectWhole(company);
  expect(readdirSync(at(company, "incoming"))).toEqual([]);
});

test("a token of another company fetches nothing (I10); a limit of requests stops fetching, and the next time goes on (I8)", async () => {
  const company = await aCompanyWithFiles();
  const other = await aCompany({ records: 5, seed: 9 });
  writeServeConfig({ ...other, folder: company.folder }, "files: { pdf: on }");
  expect(await run(company, "files")).toMatchObject({ code: 4 });
  expect([filesIn(company), requestsFor(other)]).toEqual([[], 0]);
  writeServeConfig(company, "files: { pdf: on, attachments: on }");
  const stopped = { outcome: "stopped", requests: 6, asked: 5 };
  expect(await run(company, "files", "--max-requests", "6")).toMatchObject({ code: 5, acme: stopped });
  expect(filesIn(company).length).toBeGreaterThanOrEqual(5);
  expect((await run(company, "files")).acme).toMatchObject({ outcome: "complete", pending: 0 });
});

// Fault: files | the folder of files is lost | the data folder, after a backup | `restore` brings it back with all names; nothing is fetched again
test("what was removed is fetched or linked again; a backup holds each content once, and a restore proves every byte", async () => {
  const company = await aCompanyWithFiles();
  await run(company, "files");
  const files = filesIn(company);
  const [first, second] = files.filter(({ kind }) => kind === "pdf");
  const manifest = readFileSync(at(company, "manifest.jsonl"));
  rmSync(at(company, first?.path ?? ""));
  rmSync(at(company, `objects/${second?.sha256.slice(0, 2)}/${second?.sha256}`));
  const asked = requestsFor(company);
  expect(await run(company, "files")).toMatchObject({ code: 0 });
  expect(requestsFor(company)).toBe(asked + 1);
  await expectWhole(company);
  // The bytes are the same: nothing is said to have changed.
  expect([filesIn(company), readFileSync(at(company, "manifest.jsonl"))]).toEqual([files, manifest]);
  const backup = await run(company, "backup", "--to", "./backups");
  expect(backup.code).toBe(0);
  const contents = new Set(files.map((file) => file.sha256)).size;
  // Contents, the archive's manifest, the mirror.
  expect(backup.acme["files"]).toBe(contents + 2);
  rmSync(folderOf(company), { recursive: true });
  expect(await run(company, "restore", "--from", "./backups")).toMatchObject({ code: 0 });
  expect(filesIn(company)).toEqual(files);
  await expectWhole(company);
  const before = requestsFor(company);
  expect(await run(company, "files")).toMatchObject({ code: 0, acme: { requests: 0 } });
  expect(requestsFor(company)).toBe(before);
  // An archive that went on since the backup is not set back.
  const [invoice] = filesIn(company, "document = 'invoices'");
  company.sandbox.control.alter("invoices", Number(invoice?.document_id), { issueDate: "2026-02-03" });
  await sync(company, { full: true });
  expect(await run(company, "files")).toMatchObject({ code: 0, acme: { written: 1 } });
  const goneOn = readFileSync(at(company, "manifest.jsonl"));
  expect(await run(company, "restore", "--from", "./backups")).toMatchObject({ code: 0 });
  expect(readFileSync(at(company, "manifest.jsonl"))).toEqual(goneOn);
});

const modeOf = (place: string) => statSync(place).mode & 0o777;

/** The real program under a umask by which everybody may read and write what is made. */
async function runOpen({ folder: cwd }: Company, ...args: string[]): Promise<void> {
  const nodeOptions = ["--import", "data:text/javascript,process.umask(0)"];
  const { code, stderr } = await runProgram(args, { cwd, nodeOptions });
  expect({ code, stderr }).toMatchObject({ code: 0 });
}

/** In this process, under the umask that the program gives itself. */
async function runHere({ folder: cwd }: Company, ...args: string[]): Promise<void> {
  const before = process.umask(0o077);
  const { code, stderr } = await runCommand(args, { cwd }).finally(() => process.umask(before));
  expect({ code, stderr }).toMatchObject({ code: 0 });
}

/** Everything that the program made, with its kind and mode. */
function madeIn({ folder }: Company) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const made = entries.filter(({ name }) => name !== "config.yaml");
  return made.map((entry) => {
    const place = path.join(entry.parentPath, entry.name);
    const kind = entry.isDirectory() ? "folder" : "file";
    return { place: path.relative(folder, place), kind, mode: modeOf(place).toString(8) };
  });
}

const exported = "exports: [{ format: csv, out: ./out/files, after: sync, tables: [invoices] }]";

// Fault: files | a umask by which everybody may read what is made | the umask that the real program begins with | folders 0700, files 0600
test("whatever the umask, what is made is the owner's alone, and a mode that somebody chose stays", async () => {
  const company = await aCompany({ records: 2 });
  writeServeConfig(company, `data_dir: ./data/deep\nschedule: { sync: off }\n${exported}`);
  await runOpen(company, "sync");
  const made = madeIn(company);
  const some = ["data/deep/acme.db", "data/deep/acme.report.db", "out/files/acme/invoices.csv"];
  expect(made.map(({ place }) => place)).toEqual(expect.arrayContaining(some));
  expect(made.filter(({ kind, mode }) => mode !== (kind === "file" ? "600" : "700"))).toEqual([]);

  const chosen = new Map([
    ["data/deep", 0o750],
    ["data/deep/acme.db", 0o640],
    ["data/deep/acme.report.db", 0o644],
    ["data/deep/acme.after-run.json", 0o640],
    ["out/files/acme", 0o755],
    ["out/files/acme/invoices.csv", 0o644],
    ["out/files/acme/manifest.json", 0o640],
  ]);
  for (const [place, mode] of chosen) chmodSync(path.join(company.folder, place), mode);
  const last = count(path.join(company.folder, "data/deep/acme.db"), "SELECT max(id) FROM invoices");
  company.sandbox.control.remove("invoices", last);
  await runHere(company, "sync", "--full");
  for (const [place, mode] of chosen) expect(modeOf(path.join(company.folder, place)), place).toBe(mode);
});

test("a report for readers under another user is in a folder of its own, with the mode of the config", async () => {
  const company = await aCompany({ records: 2 });
  const { folder } = company;
  writeServeConfig(company, "schedule: { sync: off, publish: off }");
  await runHere(company, "sync");
  const report = path.join(folder, "reports/acme.report.db");
  writeServeConfig(company, 'schedule: { sync: off }\nreport: { out: ./reports, mode: "0640" }');
  await runHere(company, "publish");
  expect([modeOf(report), modeOf(path.dirname(report))]).toEqual([0o640, 0o750]);
  writeServeConfig(company, 'schedule: { sync: off }\nreport: { out: ./reports, mode: "0644" }');
  await runHere(company, "publish");
  expect([modeOf(report), modeOf(path.dirname(report))]).toEqual([0o644, 0o750]);
  expect(modeOf(path.join(folder, "acme.db"))).toBe(0o600);
});
