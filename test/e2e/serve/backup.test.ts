import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { runCommand } from "../../support/program/cli.ts";
import { aCompany, sync, type Company } from "../../support/company/company.ts";
import { serve, writeServeConfig } from "../../support/program/serve.ts";
import { storePdf } from "../../support/company/stored-file.ts";
import { deliver, eventOf, secret } from "../../support/program/deliveries.ts";
import { inMirror, metricsOf, readyOf, wholeRuns } from "../../support/company/served-company.ts";
import { eventually } from "../../support/eventually.ts";
import { expectEqual, expectReplayable } from "../../support/truth/equal.ts";

// Fault: disk | the place of scheduled backups is a file | a process of `serve` | shown by /readyz and metrics, and made again when the place is there
test("serve makes backups by their schedule, keeps the last ones, and says how it went", async () => {
  const company = await aCompany({ records: 5 });
  const backups = path.join(company.folder, "backups");
  writeFileSync(backups, "");
  const more = 'backup: { to: ./backups, schedule: "* * * * * *", keep: 1 }\nschedule: { quick: off }';
  writeServeConfig(company, more);
  const daemon = await serve(company);
  await eventually(() => wholeRuns(company) === 1, "a run");
  const isNamed = async () => (await readyOf(daemon)).acme.reasons.some((why) => why.includes("backup"));
  const metrics = () => metricsOf(daemon);
  await eventually(isNamed, "a reason");
  await daemon.until("after-run did not succeed");
  await eventually(async () => /after_run_failed\{.*step="backup"\} 1/.test(await metrics()), "the failure");
  expect(await metrics()).toMatch(/after_run_failed\{.*step="report"\} 0/);

  rmSync(backups);
  const names = () => (existsSync(backups) ? readdirSync(path.join(backups, "acme")) : []);
  const finished = () =>
    names().filter((name) => existsSync(path.join(backups, "acme", name, "manifest.json")));
  await eventually(() => finished().length === 1, "a backup");
  const [first] = finished();
  await eventually(() => finished().length === 1 && finished()[0] !== first, "the next one, in its place");
  await eventually(async () => !(await isNamed()), "no reason");
  expect(await metrics()).toMatch(/backup_last_success_timestamp_seconds\{company="acme"\} [1-9]/);
});

// Fault: disk | a row of the mirror is not what its table allows, as after a fault of the memory | the copy, after it is written | exit 10 with what to do; nothing gets the name of a backup, earlier ones stay
test("a copy that is damaged does not become a backup, and earlier ones stay, whatever is to be kept", async () => {
  const company = await aCompany({ records: 5 });
  const { folder: cwd } = company;
  await sync(company);
  writeServeConfig(company);
  const backUp = () => runCommand(["backup", "--to", "./backups", "--keep", "1"], { cwd });
  const ids = () => readdirSync(path.join(cwd, "backups/acme"));
  expect((await backUp()).code).toBe(0);
  const before = ids();
  const db = openDatabase(company.file);
  db.unsafeMode();
  db.exec(`PRAGMA writable_schema = ON; UPDATE sqlite_schema
    SET sql = replace(sql, '_deleted_at TEXT', '_deleted_at TEXT NOT NULL') WHERE name = 'clients'`);
  db.close();
  const { code, stderr } = await backUp();
  expect([code, stderr]).toEqual([10, expect.stringContaining("NULL value in clients._deleted_at")]);
  expect(ids()).toEqual(before);
});

async function succeed(company: Company, ...args: string[]): Promise<void> {
  const { code, stderr } = await runCommand(args, { cwd: company.folder });
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
}

/** The config takes the webhook secret from a file, as `webhooks create` leaves it. */
function writeKeyConfig(company: Company, more = ""): string {
  const key = path.join(company.folder, "acme.webhook-secret");
  writeFileSync(key, `${secret}\n`, { mode: 0o600 });
  writeServeConfig(company, more, [
    { name: "acme", token: company.sandbox.token, secrets: [`\${file:${key}}`] },
  ]);
  return key;
}

// Fault: disk | mirror, keys and documents are lost | the data folder, after a backup beside `serve` | restored from the backup, the next run reads what was lost; the mirror equals the service
test("a restored mirror is equal to the service after one run, whatever changed since its backup", async () => {
  const company = await aCompany({ records: 5 });
  const key = writeKeyConfig(company);
  const backups = path.join(company.folder, "backups");
  const document = storePdf(path.join(company.folder, "acme.files"));
  let daemon = await serve(company);
  await eventually(() => wholeRuns(company) === 1, "a run");
  const { control } = company.sandbox;
  const created = Number(control.create("clients", { name: "Before the backup" }).id);
  expect(await deliver(daemon, eventOf("clients.created", created))).toBe(204);
  await succeed(company, "backup", "--to", backups);

  // What only the lost mirror knew: an event that the service will not send again.
  const late = Number(control.create("clients", { name: "After the backup" }).id);
  expect(await deliver(daemon, eventOf("clients.created", late))).toBe(204);
  const lateRow = () => inMirror(company, "SELECT count(*) FROM clients WHERE id = ?", late);
  await eventually(() => lateRow() === 1, "the record of the late event");
  const lastSeq = Number(inMirror(company, "SELECT max(seq) FROM _change_log"));
  expect((await daemon.end("SIGTERM")).code).toBe(0);
  control.remove("clients", created);
  for (const name of readdirSync(company.folder))
    if (name.startsWith("acme.")) rmSync(path.join(company.folder, name), { recursive: true });

  await succeed(company, "restore", "--from", backups);
  expect([readFileSync(key, "utf8"), readFileSync(document, "utf8")]).toEqual([`${secret}\n`, "%PDF"]);
  expect([lateRow(), wholeRuns(company)]).toEqual([0, 1]);
  expect(statSync(company.file).mode & 0o777).toBe(0o600);
  daemon = await serve(company);
  await eventually(() => wholeRuns(company) === 2, "the run after the restore");
  expect(daemon.heard("a run is due")).toBe(true);
  expect((await daemon.end("SIGTERM")).code).toBe(0);
  expect(lateRow()).toBe(1);
  expect(Number(inMirror(company, "SELECT max(seq) FROM _change_log"))).toBeGreaterThan(lastSeq);
  expectEqual(company);
  expectReplayable(company);
  await succeed(company, "verify", "--local");
});
