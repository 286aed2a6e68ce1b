import { writeFileSync } from "node:fs";
import { once } from "node:events";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import {
  backupStep,
  exportStep,
  hasSucceededSince,
  readSteps,
  recordStep,
} from "../../src/status/after-run-record.ts";
import { load, minimal } from "../support/connector/config.ts";
import { tempFolder } from "../support/temporary-folder.ts";

// Fault: files | the records of what follows runs are damaged | their content | what cannot be read counts as never made
test("a record that is none counts as never made", () => {
  const file = path.join(tempFolder(), "acme.after-run.json");
  const record = { outcome: "written", at: "2026-03-01T00:00:00.000Z", last_success_at: null };
  writeFileSync(file, JSON.stringify({ a: null, b: 5, c: {}, d: { ...record, at: 5 }, e: record }));
  expect(readSteps(file)).toEqual({ e: record });
});

// Fault: clock | a backup succeeded while the clock was years ahead | the next one, which fails | it is no success, and is tried again
test("an attempt that failed is no success, also after one that was made while the clock was ahead", () => {
  const file = path.join(tempFolder(), "acme.after-run.json");
  const read = () => readSteps(file)[backupStep];
  const attempt = (outcome: "written" | "failed", endedMs: number) => {
    const before = read();
    recordStep(file, backupStep, { outcome, error: null, seq: 1 }, endedMs - 1, endedMs);
    return hasSucceededSince(before, read());
  };
  expect(attempt("written", Date.UTC(2099, 0, 1))).toBe(true);
  expect(attempt("failed", Date.UTC(2026, 10, 24))).toBe(false);
  expect(read()?.last_success_at).toBe("2099-01-01T00:00:00.000Z");
  expect(attempt("written", Date.UTC(2026, 10, 25))).toBe(true);
  expect(hasSucceededSince(read(), read())).toBe(false);
});

// Fault: files | an export, a backup and a report end at once | a draft that was left over, and threads that record one step each | no record is lost
test("what ends at the same time is recorded, each of it", async () => {
  const file = path.join(tempFolder(), "acme.after-run.json");
  writeFileSync(`${file}.new`, "of a process that was killed");
  const from = new URL("../../src/status/after-run-record.ts", import.meta.url).href;
  const result = '{ outcome: "written", error: null, seq: 1 }';
  const steps = ["csv", "xlsx", "parquet", "backup", "report", "files"];
  const threads = steps.map((step) => {
    const record = `recordStep(${JSON.stringify(file)}, ${JSON.stringify(step)}, ${result}, 0, 1)`;
    return new Worker(`import("${from}").then(({ recordStep }) => ${record})`, { eval: true });
  });
  await Promise.all(threads.map((thread) => once(thread, "exit")));
  expect(Object.keys(readSteps(file)).toSorted()).toEqual(steps.toSorted());
});

test("each of two exports to one place is a step of its own", () => {
  const tables = ["tables: [invoices]", "tables: [clients]"].map((one) => `{ format: csv, out: /x, ${one} }`);
  const { config } = load(minimal(`exports: [${tables.join()}, { format: csv, out: /y }]\n`));
  const steps = config.exports.map((entry) => exportStep(entry, config));
  expect(steps).toEqual(["csv /x: invoices", "csv /x: clients", "csv /y"]);
});
