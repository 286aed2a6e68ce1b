import { existsSync, readdirSync, readFileSync, rmSync, appendFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import type { ExportManifest } from "../../src/export/files/export-manifest.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { runCommand, temporaryFolder, createTestInvocation, jsonLines } from "../support/program/cli.ts";
import { s3Env, startS3 } from "../support/export/s3-server.ts";
import { putPreview, put, remove, stampOf } from "../support/mirror/store.ts";
import { systemClock } from "../../src/base/clock.ts";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { eventually } from "../support/eventually.ts";
import { rememberIdentity } from "../../src/state/meta.ts";
import { duckRows } from "../support/export/export.ts";
import { withMirror } from "../support/export/published.ts";
import { look } from "../support/truth/compare.ts";
import { wound } from "../support/verify/verify.ts";

const config =
  "data_dir: .\ncompanies: { acme: { token: '${env:TOKEN}' }, other: { token: '${env:TOKEN}' } }\n";

/** A folder with a config of two companies, the first of which has a mirror with two clients. */
async function aFolder(): Promise<string> {
  const folder = temporaryFolder({ "config.yaml": config });
  const two = "INSERT INTO clients (id, name, _synced_at) VALUES (1, 'Ann', ''), (2, 'Bob', '')";
  await withMirror(folder, ({ db }) => db.exec(two));
  return folder;
}

function resultsIn(stdout: string) {
  return (JSON.parse(stdout) as { companies: Record<string, Record<string, unknown>> }).companies;
}

describe("export", () => {
  test("writes what is asked for, and prints where, how much and from where to go on", async () => {
    const cwd = await aFolder();
    const argv = ["export", "clients", "--company", "acme", "--json", "--out", "files"];
    // Files of an earlier export are not counted.
    await runCommand([...argv, "--format", "parquet"], { cwd });
    const { code, stdout } = await runCommand(argv, { cwd });
    const text = readFileSync(path.join(cwd, "files/acme/clients.csv"), "utf8");
    const state = { outcome: "complete", rows: 2, bytes: text.length, seq: 0, next_since: 0 };
    const acme = { ...state, files: ["acme/clients.csv"], uploaded: null };
    expect([code, resultsIn(stdout)]).toMatchObject([0, { acme }]);
    const shown = text.split("\r\n").map((line) => line.split(",").slice(0, 2).join(" "));
    expect(shown).toEqual(["id name", "1 Ann", "2 Bob", ""]);
  });

  test("of a month says which tables have no date, --to takes a day, too; what lacks details is one warning", async () => {
    const cwd = await aFolder();
    await withMirror(cwd, (mirror) => putPreview(mirror, "invoices", { id: 7, number: "1", total: 5 }));
    const argv = "export clients invoices --company acme --from 2026-10-01 --to 2026-10-31".split(" ");
    const { code, stderr } = await runCommand(argv, { cwd });
    expect([code, stderr.match(/"level":"warn"/g)]).toEqual([0, [expect.any(String)]]);
    expect(stderr).toContain("the mirror is not complete");
    expect(stderr).toContain("tables without a date are exported whole: clients");
    expect(manifestIn(cwd, "export").files.map(({ rows }) => rows)).toEqual([2, 0]);
    const history = await runCommand(["export", "invoices", "--company", "acme", "--history"], { cwd });
    expect(history.stderr).toContain("the mirror is not complete");
  });

  test("warns of what a run by the config reads, not of what comes with records that it leaves out, and of tables asked for that it leaves out", async () => {
    const cwd = await aFolder();
    const choice = "resources: { include: [clients, contact_activity_logs] }\n";
    appendFileSync(path.join(cwd, "config.yaml"), choice);
    const argv = ["export", "clients", "suppliers", "--company", "acme"];
    const { code, stderr } = await runCommand(argv, { cwd });
    expect([code, stderr]).toEqual([0, expect.stringContaining('Still to be read: clients"')]);
    expect(stderr).toContain("resources leaves out what the files are made of: suppliers");
    const views = await runCommand(["export", "v_days_to_pay", "--company", "acme"], { cwd });
    expect(views.stderr).toContain("made of: invoices, document_payments, credit_notes, proformas");
  });

  test("to S3 alone leaves no file on this machine, and never shows the key", async () => {
    const cwd = await aFolder();
    const server = await startS3(temporaryFolder(), "lake");
    onTestFinished(server.close);
    const env = s3Env(server.url);
    const argv = ["export", "clients", "--company", "acme", "--json", "--to", "s3://lake/daily/"];
    const { code, stdout } = await runCommand(argv, { cwd, env });
    const written = ["daily/acme/clients.csv", "daily/acme/manifest.json"];
    const uploaded = { written, unchanged: [], removed: [] };
    const acme = { manifest: "s3://lake/daily/acme/manifest.json", uploaded };
    expect([code, resultsIn(stdout)]).toMatchObject([0, { acme }]);
    expect(readdirSync(cwd).filter((name) => !/^acme\.(db|numbers)/.test(name))).toEqual(["config.yaml"]);
    const wrong = { ...env, AWS_SECRET_ACCESS_KEY: "another-secret-key" };
    const refused = await runCommand(argv, { cwd, env: wrong });
    expect(refused.code).toBe(1);
    expect(refused.stdout + refused.stderr).not.toContain("another-secret-key");
  });
});

test("a run that brought something in is followed by the config's exports; an unchanged one leaves them alone", async () => {
  const sandbox = await openSandbox({ records: 2 });
  const exports =
    "exports: [{ format: parquet, out: ./lake, after: sync, tables: [clients], partition_by: year }]";
  const companies = "companies: { acme: { token: '${env:TOKEN}' } }";
  const text = `base_url: ${sandbox.url}\ndata_dir: .\n${companies}\nschedule: { publish: off }\n${exports}\n`;
  const cwd = temporaryFolder({ "config.yaml": text });
  const sync = () => runCommand(["sync", "clients"], { cwd, env: { TOKEN: sandbox.token } });
  const first = await sync();
  expect([first.code, first.stderr.includes("exported")]).toEqual([0, true]);
  expect(readdirSync(path.join(cwd, "lake")).toSorted()).toEqual(["acme", "company=acme"]);
  const second = await sync();
  expect([second.code, second.stderr.includes("exported")]).toEqual([0, false]);
});

const alone = "data_dir: .\ncompanies: { acme: { token: '${env:TOKEN}' } }\n";

/** Reads so many currencies into the mirror of a company; makes it where there is none. */
function read(cwd: string, count: number): Promise<void> {
  return withMirror(cwd, (mirror) => {
    const last = Number(mirror.db.prepare("SELECT count(*) FROM currencies").pluck().get());
    for (let id = last + 1; id <= last + count; id++) put(mirror, "currencies", { id, symbol: "EUR" });
  });
}

async function aFolderOfChanges(): Promise<string> {
  const cwd = temporaryFolder({ "config.yaml": alone });
  await read(cwd, 5);
  return cwd;
}

/** Removes the mirror's file; the next read makes it anew. */
function removeMirror(cwd: string): void {
  for (const ending of ["", "-wal", "-shm"]) rmSync(path.join(cwd, `acme.db${ending}`), { force: true });
}

const changes = async (cwd: string, ...more: string[]) => {
  const { code, stdout, stderr } = await runCommand(["changes", ...more], { cwd });
  return { code, said: `${stderr}${stdout}`, lines: code === 0 ? jsonLines(stdout) : [] };
};

/** A command that goes on until its mirror is made anew. */
function follow(cwd: string, ...more: string[]) {
  const parts = { commands, clock: systemClock, cwd };
  const { run, written } = createTestInvocation(["changes", "--follow", ...more], parts);
  return { ended: run(), written };
}

const exporting = (cwd: string, out: string, ...more: string[]) =>
  runCommand(["export", "currencies", "--format", "jsonl", "--out", out, ...more], { cwd });

const manifestIn = (cwd: string, out: string) =>
  JSON.parse(readFileSync(path.join(cwd, out, "acme/manifest.json"), "utf8")) as ExportManifest;

describe("a follower of the change log", () => {
  test("finds log and number in each line and at the end of the document, and goes on from there", async () => {
    const cwd = await aFolderOfChanges();
    const { lines } = await changes(cwd);
    const [, , third] = lines;
    const rest = await changes(cwd, "--since", `${String(third?.["log"])}:${String(third?.["seq"])}`);
    expect(rest.lines).toEqual(lines.slice(3));
    const { stdout } = await runCommand(["changes", "--json", "--since", String(third?.["seq"])], { cwd });
    const { log, next_since } = JSON.parse(stdout) as { log: string; next_since: number };
    expect(await changes(cwd, "--since", `${log}:${next_since}`)).toMatchObject({ code: 0, lines: [] });
    await read(cwd, 1);
    expect((await changes(cwd, "--since", `${log}:${next_since}`)).lines).toHaveLength(1);
  });

  // Fault: disk | the mirror's file is removed, and the mirror made anew | `changes` and `export` from a position of before | exit 2 that says how to begin anew; nothing is written, no change is skipped
  test("of a mirror that was made anew is refused with any earlier position, and nothing is written", async () => {
    const cwd = await aFolderOfChanges();
    await exporting(cwd, "all");
    const { log, next_since } = manifestIn(cwd, "all");
    removeMirror(cwd);
    await read(cwd, 20);
    for (const position of [`${log}:0`, String(next_since), "9000000000000000"]) {
      for (const more of [[], ["--follow"], ["--json"]]) {
        const refused = await changes(cwd, "--since", position, ...more);
        expect([position, refused.code, refused.lines]).toEqual([position, 2, []]);
        expect(refused.said).toContain("Begin anew");
      }
      const refused = await exporting(cwd, "delta", "--since", position);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("Begin anew")]);
    }
    expect(path.join(cwd, "delta")).not.toSatisfy(existsSync);
    expect((await changes(cwd, "--since", "0")).lines).toHaveLength(20);
  });

  // Fault: disk | the mirror's file is removed, and the mirror made anew | while `changes --follow` follows it | it ends with exit 10 and says so, and does not wait for ever
  test("ends where the mirror is made anew under it", async () => {
    const cwd = await aFolderOfChanges();
    const { ended, written } = follow(cwd);
    await eventually(() => written.stdout.split("\n").length > 5, "all five changes");
    removeMirror(cwd);
    await read(cwd, 1);
    expect(await ended).toMatchObject({ code: 10, stderr: expect.stringContaining("Follow it again") });
  });
});

const at = (day: string, hour = 12) => Date.parse(`2026-03-${day}T${String(hour).padStart(2, "0")}:00:00Z`);

let momentsOnce: Buffer | undefined;

/**
 * A mirror whose euro was renamed on 4 March, and whose dollar came on the 3rd and went on the 6th. Made once: each test
 * gets a copy.
 */
async function aFolderOfMoments(): Promise<string> {
  const cwd = temporaryFolder({ "config.yaml": `${alone}report: { redact: { currencies.name: hash } }\n` });
  momentsOnce ??= await momentsIn(cwd);
  writeFileSync(path.join(cwd, "acme.db"), momentsOnce);
  return cwd;
}

function currency(mirror: Mirror, id: number, symbol: string, receivedAtMs: number): void {
  put(mirror, "currencies", { id, symbol, name: "secret" }, { stamp: stampOf(mirror, { receivedAtMs }) });
}

async function momentsIn(cwd: string): Promise<Buffer> {
  await withMirror(cwd, (mirror) => {
    rememberIdentity(mirror, { name: "Acme", salt: "5aac11c0", fingerprint: "", businessId: null });
    currency(mirror, 1, "EUR", at("02"));
    currency(mirror, 2, "USD", at("03"));
    // Half past midnight in Bratislava, the 4th; in UTC it is the 3rd.
    currency(mirror, 1, "EURO", at("03", 23) + 30 * 60_000);
    remove(mirror, "currencies", 2, stampOf(mirror, { cause: "confirm", receivedAtMs: at("06") }));
  });
  return readFileSync(path.join(cwd, "acme.db"));
}

const linesOf = (cwd: string, out: string) =>
  jsonLines(readFileSync(path.join(cwd, out, "acme/currencies.jsonl"), "utf8"));

/** Files that only reading a database makes are left out. */
const namesIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => !/-(?:wal|shm)$/.test(name))
    .toSorted();

const symbols = (file: string) =>
  look(file, (db) => db.prepare("SELECT symbol FROM currencies ORDER BY id").pluck().all());

test("the report of an earlier day is a file of its own, as the mirror knew it at that day's end", async () => {
  const cwd = await aFolderOfMoments();
  const published = async (day: string) => {
    const { code, stdout } = await runCommand(["publish", "--as-of", day, "--json"], { cwd });
    const { companies } = JSON.parse(stdout) as { companies: { acme: { file: string; as_of: string } } };
    return { code, ...companies.acme };
  };
  const third = await published("2026-03-03");
  expect(third).toMatchObject({ code: 0, as_of: "2026-03-03T22:59:59.999Z" });
  expect(path.basename(third.file)).toBe("acme.report.2026-03-03.db");
  expect(symbols(third.file)).toEqual(["EUR", "USD"]);
  expect(symbols((await published("2026-03-04")).file)).toEqual(["EURO", "USD"]);
  expect(symbols((await published("2026-03-06")).file)).toEqual(["EURO"]);
  expect(path.join(cwd, "acme.report.db")).not.toSatisfy(existsSync);
  const about = look(third.file, (db) =>
    db.prepare("SELECT value FROM _about WHERE fact IN ('as_of', 'report_date') ORDER BY fact").pluck().all(),
  );
  expect(about).toEqual([expect.stringMatching(/^\w{12}:\d+ 2026-03-03T22:59:59.999Z$/), "2026-03-03"]);
  expect(readdirSync(cwd).filter((name) => name.startsWith("."))).toEqual([]);
});

test("the rows of an earlier day stand in the order of their ids, also those that changed since", async () => {
  const cwd = temporaryFolder({ "config.yaml": alone });
  await withMirror(cwd, (mirror) => {
    currency(mirror, 1, "EUR", at("02"));
    currency(mirror, 2, "USD", at("02"));
    currency(mirror, 1, "EURO", at("05"));
  });
  expect((await exporting(cwd, "out", "--as-of", "2026-03-03")).code).toBe(0);
  expect(linesOf(cwd, "out")).toMatchObject([{ id: 1, symbol: "EUR" }, { id: 2 }]);
});

test("an export as of a time or a position says so, redacts, and its follower goes on from there, by worker threads, too", async () => {
  const cwd = await aFolderOfMoments();
  await exporting(cwd, "out", "--as-of", "2026-03-02T13:00:00+01:00");
  const said = manifestIn(cwd, "out");
  expect(said.as_of).toBe("2026-03-02T12:00:00.000Z");
  // Large enough for threads to read it.
  wound({ file: path.join(cwd, "acme.db") }, "CREATE TABLE ballast AS SELECT zeroblob(130000000)");
  using sent = vi.spyOn(Worker.prototype, "postMessage");
  await exporting(cwd, "next", "--as-of", `${said.log}:${said.next_since + 1}`);
  const hashed = expect.stringMatching(/^[0-9a-f]{16,}$/);
  const both = ["EUR", "USD"].map((symbol) => ({ symbol, name: hashed }));
  expect(linesOf(cwd, "next")).toMatchObject(both);
  const encoded = sent.mock.calls.filter(([request]) => (request as { method: string }).method === "encode");
  expect(encoded).toHaveLength(1);
});

test("one query over a history gives the rows of any moment, and deletions keep the last values", async () => {
  const cwd = await aFolderOfMoments();
  const asked = "export currencies --history --format parquet --out out".split(" ");
  expect((await runCommand(asked, { cwd })).code).toBe(0);
  const from = `'${path.join(cwd, "out/acme/currencies.history.parquet")}'`;
  const asOf = (moment: string) =>
    duckRows(`SELECT symbol FROM ${from} WHERE valid_from <= TIMESTAMPTZ '${moment}' AND _op <> 'delete'
      AND (valid_to IS NULL OR valid_to > TIMESTAMPTZ '${moment}') ORDER BY id`);
  expect(await asOf("2026-03-02 11:59:00Z")).toEqual([]);
  expect(await asOf("2026-03-03 13:00:00Z")).toEqual([["EUR"], ["USD"]]);
  expect(await asOf("2026-03-05 00:00:00Z")).toEqual([["EURO"], ["USD"]]);
  expect(await asOf("2026-03-07 00:00:00Z")).toEqual([["EURO"]]);
  const dollars = await duckRows(`SELECT _op || symbol FROM ${from} WHERE id = 2 ORDER BY valid_from`);
  expect(dollars.flat()).toEqual(["insertUSD", "deleteUSD"]);
});

test.each(["csv", "xlsx"])("a history in %s is beside the table's own file, and sent, too", async (kind) => {
  const cwd = await aFolderOfMoments();
  const server = await startS3(temporaryFolder(), "lake");
  onTestFinished(server.close);
  const exported = async (...args: string[]) => {
    const argv = ["export", "currencies", "--format", kind, "--out", "out", "--json", ...args];
    const { stdout } = await runCommand(argv, { cwd, env: s3Env(server.url) });
    return resultsIn(stdout)["acme"];
  };
  await exported();
  const history = `acme/currencies.history.${kind}`;
  const uploaded = { written: [history, "acme/manifest.json"] };
  expect(await exported("--history", "--to", "s3://lake")).toMatchObject({ removed: [], uploaded });
  expect(await exported()).toMatchObject({ removed: [] });
  const names = [history, `acme/currencies.${kind}`].map((name) => path.basename(name));
  expect(readdirSync(path.join(cwd, "out/acme"))).toEqual(expect.arrayContaining(names));
});

test.each([
  ["publish --as-of 2126-01-01", /2126-01-01 has not come yet: today is/],
  ["package --month 2026-03 --changes-since 2126-01-01", /"2126-01-01 has not come yet: today is/],
  ["publish --as-of 2026-03-01", /first day that can be had is 2026-03-02.*does not reach back that far/],
  ["export --as-of 0123456789ab:5", /is of another change log/],
  ["publish --as-of 99999999999999", /has no position 99999999999999/],
  ["package --month 2026-03 --as-of yesterday", /--as-of must be a day such as 2026-10-25/],
  ["publish --as-of 2026-02-31T10:00Z", /--as-of must be a day such as 2026-10-25/],
  ["publish --combined --as-of 2026-03-03", /cannot be used with/],
  ["export --nested", /--format parquet/],
  ["export --nested --format parquet --since 1", /--since/],
  ["export --dialect excel-sk --format jsonl", /--format csv/],
  ["export --partition-by day", /year, month/],
  ["export --out ", /--out must be a folder or file/],
  ["export --out s3://bucket/csv", /--out must be a folder or file/],
  ["backup --to s4://bucket/mirrors", /--to must be a folder, or s3:/],
  ["export --to ftp://somewhere", /s3:\/\/BUCKET/],
  ["export v_stock --since 0", /v_stock/],
  ["export v_stock --history", /v_stock/],
  ["export --format jsonl --language sk", /--language needs/],
  ["export --from 2026-02-30", /a day such as/],
  ["export --from 2026-10-01 --since 1", /--since/],
  ["export --to 2026-10-31 --to 2026-11-30", /one place and one day/],
  ["export v_stock --month 2026-10", /v_stock has no date/],
  ["export --history --month 2026-03", /--history' cannot be used with option '--month/],
])("%s is refused with one clear line, and nothing is written", async (command, said) => {
  const cwd = await aFolderOfMoments();
  const before = namesIn(cwd);
  const { code, stderr } = await runCommand(command.split(" "), { cwd });
  expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
  expect(namesIn(cwd)).toEqual(before);
});

test("who follows one table goes on where what was pruned was of others", async () => {
  const cwd = await aFolderOfMoments();
  appendFileSync(path.join(cwd, "config.yaml"), "retention: { changes: 1d }\n");
  const { ended, written } = follow(cwd, "--resource", "units");
  const { stdout } = await runCommand(["changes", "--json", "--resource", "units"], { cwd });
  const { log, next_since } = JSON.parse(stdout) as { log: string; next_since: number };
  expect(await runCommand(["prune"], { cwd, env: { TOKEN: "t" } })).toMatchObject({ code: 0 });
  await withMirror(cwd, (mirror) => put(mirror, "units", { id: 1, name: "ks" }));
  const { lines } = await changes(cwd, "--since", `${log}:${next_since}`);
  expect(lines).toMatchObject([{ resource: "units", record_id: 1 }]);
  await eventually(() => written.stdout !== "", "the unit");
  removeMirror(cwd);
  expect(await ended).toMatchObject({ code: 10, stdout: `${JSON.stringify(lines[0])}\n` });
});

test("what was pruned is gone: the first day that is left is named, and has the books of then", async () => {
  const cwd = await aFolderOfMoments();
  appendFileSync(path.join(cwd, "config.yaml"), "retention: { changes: 1d }\n");
  expect(await runCommand(["prune"], { cwd, env: { TOKEN: "t" } })).toMatchObject({ code: 0 });
  const { code, stderr } = await runCommand(["publish", "--as-of", "2026-03-04"], { cwd });
  const said = expect.stringContaining("The first day that can be had is 2026-03-06");
  expect([code, stderr]).toEqual([2, said]);
  await runCommand(["publish", "--as-of", "2026-03-06"], { cwd });
  expect(symbols(path.join(cwd, "acme.report.2026-03-06.db"))).toEqual(["EURO"]);
});
