import { spawn } from "node:child_process";
import { chmodSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { endOf, runCommand } from "../support/program/cli.ts";
import { aCompany, type Company } from "../support/company/company.ts";
import { count } from "../support/truth/compare.ts";
import { processEnv, program } from "../support/program/process-env.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { longestWaitMs } from "../support/eventually.ts";

const modeOf = (place: string) => statSync(place).mode & 0o777;

/** The real program under a umask by which everybody may read and write what is made. */
async function runOpen(company: Company, ...args: string[]): Promise<void> {
  const script = ["-c", 'umask 0; exec "$@"', "sh", process.execPath, program, ...args];
  const { folder: cwd } = company;
  const child = spawn("/bin/sh", script, {
    cwd,
    env: processEnv(),
    timeout: longestWaitMs,
    killSignal: "SIGKILL",
  });
  const { code, stderr } = await endOf(child);
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

// Fault: files | a umask by which everybody may read what is made | the real program's shell | folders 0700, files 0600
test("whatever the umask, what is made is the owner's alone, and a mode that somebody chose stays", async () => {
  const company = await aCompany({ records: 2 });
  writeServeConfig(company, `data_dir: ./data/deep\nschedule: { sync: off }\n${exported}`);
  await runOpen(company, "sync");
  const made = madeIn(company);
  expect(made.map(({ place }) => place)).toEqual(
    expect.arrayContaining(["data/deep/acme.db", "data/deep/acme.report.db", "out/files/acme/invoices.csv"]),
  );
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
