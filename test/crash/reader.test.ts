import { existsSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { systemClock } from "../../src/base/clock.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { openDatabase } from "../../src/store/database.ts";
import { createLogWatch, logBytes, longLogBytes } from "../../src/store/write-ahead-log.ts";
import { runCommand } from "../support/program/cli.ts";
import { aCompany } from "../support/company/company.ts";
import { configOf, impatientClock, startDaemon } from "../support/program/daemon.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { loggingTo } from "../support/company/open-company.ts";
import { put } from "../support/mirror/store.ts";
import { eventually } from "../support/eventually.ts";
import { metricLines } from "../support/status/company-view.ts";

const person = (score: number) => ({ id: 1, name: "x".repeat(40_000), email: null, score });

// Fault: disk | a reader keeps a read transaction open for an hour while records change | a second connection to the mirror | the growing log is named by a warning, seldom, and said to be short when the reader has ended
test("a reader that lets the write-ahead log grow is noticed, and its end as well", async () => {
  const file = path.join(tempFolder(), "shop.db");
  const mirror = await openShop({ path: file });
  // As in a mirror a hundred times larger.
  mirror.db.pragma("wal_autocheckpoint = 20");
  mirror.db.pragma("journal_size_limit = 100000");
  const lines: string[] = [];
  let nowMs = 0;
  const watch = createLogWatch(file, loggingTo(lines), () => nowMs, 500_000);
  const minute = (score: number) => {
    nowMs += 60_000;
    put(mirror, "people", person(score));
    watch.look();
  };
  for (let score = 1; score <= 60; score++) minute(score);
  expect([lines, watch.heldMs()]).toEqual([[], 0]);
  const reader = openDatabase(file, { readonly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM people").get();
  for (let score = 61; score <= 120; score++) minute(score);
  const grownBytes = logBytes(file);
  expect(grownBytes).toBeGreaterThan(2_000_000);
  const warned = lines.length;
  expect(warned).toBeGreaterThan(1);
  expect(warned).toBeLessThan(6);
  expect(lines[0]).toMatch(/^warn the write-ahead log has grown to .* a program that keeps the mirror open/);
  expect(lines[0]).toContain(`${file}-wal`);
  const heldMinutes = watch.heldMs() / 60_000;
  expect(heldMinutes).toBeGreaterThan(30);
  expect(heldMinutes).toBeLessThan(60);
  reader.close();
  for (let score = 121; score <= 125; score++) minute(score);
  expect(logBytes(file)).toBeLessThan(500_000);
  expect(lines.slice(warned)).toEqual([expect.stringMatching(/^info the write-ahead log is short again/)]);
  expect(watch.heldMs()).toBe(0);
  mirror.close();
});

// Fault: disk | a reader keeps a read transaction open while another process writes 130 MiB | a mirror that a daemon holds | its log really grows so far, metric and log say since when; both end with the reader
test("the metric of the oldest reader rises and falls with a write-ahead log of 128 MiB", async () => {
  const company = await aCompany({ records: 2 });
  const daemon = startDaemon(company, configOf(company), { clock: impatientClock });
  const heldSeconds = async () => {
    const views = await daemon.recentViews();
    const text = (await metricLines(() => views, systemClock)).join("\n");
    return Number(/^fintoro_mirror_oldest_reader_seconds\{.*\} (.*)$/m.exec(text)?.[1]);
  };
  await eventually(
    () => existsSync(company.file) && daemon.pageOf("acme")?.view().open === true,
    "the mirror is open",
  );
  const [reader, writer] = [openDatabase(company.file, { readonly: true }), openDatabase(company.file)];
  const write = (sizeMiB: number) => {
    const insert = writer.prepare("INSERT INTO _test VALUES (zeroblob(1048576))");
    for (let i = 0; i < sizeMiB; i++) insert.run();
  };
  writer.pragma("synchronous = OFF");
  writer.exec("CREATE TABLE _test (value BLOB)");
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM _meta").get();
  expect(await heldSeconds()).toBe(0);
  write(130);
  expect(logBytes(company.file)).toBeGreaterThan(longLogBytes);
  await eventually(async () => (await heldSeconds()) > 0, "the metric says that a reader is there");
  expect(company.said.join("\n")).toMatch(/warn the write-ahead log has grown to 1[34]\d\.\d MB/);
  reader.close();
  write(2);
  await eventually(async () => (await heldSeconds()) === 0, "the metric says that no reader is there");
  expect(logBytes(company.file)).toBeLessThan(longLogBytes);
  writer.close();
});

// Fault: disk | the write-ahead log is longer than any but a reader lets it become | the mirror's file beside it | status names its size and the cause
test("status names a write-ahead log that is too long", async () => {
  const cwd = tempFolder();
  writeFileSync(path.join(cwd, "config.yaml"), "data_dir: .\ncompanies: { acme: { token: fake } }\n");
  const mirror = await openMirror(path.join(cwd, "acme.db"), declaration);
  const env = { FINTORO_MIRROR_CONFIG: path.join(cwd, "config.yaml") };
  expect((await runCommand(["status"], { cwd, env })).stdout).not.toContain("write-ahead log has grown");
  truncateSync(path.join(cwd, "acme.db-wal"), longLogBytes);
  expect((await runCommand(["status"], { cwd, env })).stdout).toContain(
    "the write-ahead log has grown to 134.2 MB",
  );
  const { stdout } = await runCommand(["status", "--json"], { cwd, env });
  expect(stdout).toContain(`"wal_bytes":${longLogBytes}`);
  mirror.close();
});
