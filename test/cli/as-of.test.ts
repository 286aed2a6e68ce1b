import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test, vi } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { rememberIdentity } from "../../src/state/meta.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { openDatabase } from "../../src/store/database.ts";
import { duckRows } from "../support/export/export.ts";
import { put, remove, stampOf } from "../support/mirror/store.ts";
import { jsonLines, runCommand, temporaryFolder } from "../support/program/cli.ts";
import { look } from "../support/truth/compare.ts";

const at = (day: string, hour = 12) => Date.parse(`2026-03-${day}T${String(hour).padStart(2, "0")}:00:00Z`);

/** A mirror whose euro was renamed on 4 March, and whose dollar came on the 3rd and went on the 6th. */
async function aFolder(): Promise<string> {
  const cwd = temporaryFolder({
    "config.yaml":
      "data_dir: .\ncompanies: { acme: { token: '${env:TOKEN}' } }\nreport: { redact: { currencies.name: hash } }\n",
  });
  const mirror = await openMirror(path.join(cwd, "acme.db"), manifest);
  rememberIdentity(mirror, { name: "Acme", salt: "5aac11c0", fingerprint: "", businessId: null });
  const currency = (id: number, symbol: string, receivedAtMs: number) =>
    put(mirror, "currencies", { id, symbol, name: "secret" }, { stamp: stampOf(mirror, { receivedAtMs }) });
  currency(1, "EUR", at("02"));
  currency(2, "USD", at("03"));
  // Half past midnight in Bratislava, the 4th; in UTC it is the 3rd.
  currency(1, "EURO", at("03", 23) + 30 * 60_000);
  remove(mirror, "currencies", 2, stampOf(mirror, { cause: "confirm", receivedAtMs: at("06") }));
  mirror.close();
  return cwd;
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
  const cwd = await aFolder();
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
  expect(existsSync(path.join(cwd, "acme.report.db"))).toBe(false);
  const about = look(third.file, (db) =>
    db.prepare("SELECT value FROM _about WHERE fact IN ('as_of', 'report_date') ORDER BY fact").pluck().all(),
  );
  expect(about).toEqual([expect.stringMatching(/^\w{12}:\d+ 2026-03-03T22:59:59.999Z$/), "2026-03-03"]);
  expect(readdirSync(cwd).filter((name) => name.startsWith("."))).toEqual([]);
});

test("the rows of an earlier day stand in the order of their ids, also those that changed since", async () => {
  const cwd = temporaryFolder({
    "config.yaml": "data_dir: .\ncompanies: { acme: { token: '${env:TOKEN}' } }\n",
  });
  const mirror = await openMirror(path.join(cwd, "acme.db"), manifest);
  const days = [
    ["02", 1, "EUR"],
    ["02", 2, "USD"],
    ["05", 1, "EURO"],
  ] as const;
  for (const [day, id, symbol] of days)
    put(mirror, "currencies", { id, symbol }, { stamp: stampOf(mirror, { receivedAtMs: at(day) }) });
  mirror.close();
  const asked = "export currencies --format jsonl --as-of 2026-03-03 --out out".split(" ");
  expect((await runCommand(asked, { cwd })).code).toBe(0);
  expect(linesOf(cwd, "out")).toMatchObject([{ id: 1, symbol: "EUR" }, { id: 2 }]);
});

test("an export as of a time or a position says so, redacts, and its follower goes on from there, by worker threads, too", async () => {
  const cwd = await aFolder();
  const db = openDatabase(path.join(cwd, "acme.db"));
  // Large enough for threads to read it.
  db.exec("CREATE TABLE ballast AS SELECT zeroblob(130000000)");
  db.close();
  using sent = vi.spyOn(Worker.prototype, "postMessage");
  const exporting = (moment: string, out: string) =>
    runCommand(["export", "currencies", "--format", "jsonl", "--as-of", moment, "--out", out], { cwd });
  await exporting("2026-03-02T13:00:00+01:00", "out");
  const said = JSON.parse(readFileSync(path.join(cwd, "out/acme/manifest.json"), "utf8")) as {
    as_of: string;
    log: string;
    next_since: number;
  };
  expect(said.as_of).toBe("2026-03-02T12:00:00.000Z");
  await exporting(`${said.log}:${said.next_since + 1}`, "next");
  const hashed = expect.stringMatching(/^[0-9a-f]{16,}$/);
  expect(linesOf(cwd, "next")).toMatchObject([
    { symbol: "EUR", name: hashed },
    { symbol: "USD", name: hashed },
  ]);
  const encoded = sent.mock.calls.filter(([request]) => (request as { method: string }).method === "encode");
  expect(encoded).toHaveLength(2);
});

test("one query over a history gives the rows of any moment, and deletions keep the last values", async () => {
  const cwd = await aFolder();
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
  expect(await duckRows(`SELECT _op, symbol FROM ${from} WHERE id = 2 ORDER BY valid_from`)).toEqual([
    ["insert", "USD"],
    ["delete", "USD"],
  ]);
});

test.each([
  ["publish --as-of 2126-01-01", /2126-01-01 has not come yet: today is/],
  ["publish --as-of 2026-03-01", /first day that can be had is 2026-03-02.*does not reach back that far/],
  ["export --as-of 0123456789ab:5", /is of another change log/],
  ["publish --as-of 99999999999999", /has no position 99999999999999/],
  ["package --month 2026-03 --as-of yesterday", /--as-of must be a day such as 2026-10-25/],
  ["publish --combined --as-of 2026-03-03", /cannot be used with/],
  ["export --history --month 2026-03", /--history' cannot be used with option '--month/],
])("%s is refused with one clear line, and nothing is written", async (command, said) => {
  const cwd = await aFolder();
  const before = namesIn(cwd);
  const { code, stderr } = await runCommand(command.split(" "), { cwd });
  expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
  expect(namesIn(cwd)).toEqual(before);
});

test("what was pruned is gone: the first day that is left is named, and has the books of then", async () => {
  const cwd = await aFolder();
  appendFileSync(path.join(cwd, "config.yaml"), "retention: { changes: 1d }\n");
  expect(await runCommand(["prune"], { cwd, env: { TOKEN: "t" } })).toMatchObject({ code: 0 });
  const { code, stderr } = await runCommand(["publish", "--as-of", "2026-03-04"], { cwd });
  const said = expect.stringContaining("The first day that can be had is 2026-03-06");
  expect([code, stderr]).toEqual([2, said]);
  await runCommand(["publish", "--as-of", "2026-03-06"], { cwd });
  expect(symbols(path.join(cwd, "acme.report.2026-03-06.db"))).toEqual(["EURO"]);
});
