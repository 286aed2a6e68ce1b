import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { runCommand } from "../../support/program/cli.ts";
import { aCompany, sync } from "../../support/company/company.ts";
import { serve, writeServeConfig } from "../../support/program/serve.ts";
import { metricsOf, readyOf, wholeRuns } from "../../support/company/served-company.ts";
import { eventually } from "../../support/eventually.ts";

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
