import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { writeFileSync } from "node:fs";
import { startSandbox } from "../../support/sandbox/control.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { runCommand } from "../../support/program/cli.ts";
import {
  configOf,
  rowToken,
  runRow,
  type ErrorRow,
  type ErrorStock,
} from "../../support/program/error-row.ts";
import { commandRows } from "./command-rows.ts";
import { configRows } from "./config-rows.ts";
import { fileRows } from "./file-rows.ts";
import { mirrorRows } from "./mirror-rows.ts";
import { serviceRows } from "./service-rows.ts";
import { webhookRows } from "./webhook-rows.ts";
import { memoryScratch } from "../../support/memory-folder.ts";

/** Of the smallest terminal that we count with, and as much of it as an error may take. */
const columns = 80;
const mostLines = 10;

const tables = {
  config: configRows,
  "command line": commandRows,
  service: serviceRows,
  mirror: mirrorRows,
  files: fileRows,
  webhooks: webhookRows,
};
let stock: ErrorStock;

beforeAll(async () => {
  const sandbox = await startSandbox({ limit: 100_000, records: 20, today: "2026-11-20" });
  const { path: cwd, remove } = memoryScratch();
  writeFileSync(path.join(cwd, "config.yaml"), configOf(sandbox.url));
  const { code } = await runCommand(["sync", "-q"], {
    cwd,
    env: { TOKEN: sandbox.token },
    clock: systemClock,
  });
  expect(code).toBe(0);
  stock = { sandbox, dataFolder: path.join(cwd, "data") };
  return () => sandbox.close().finally(remove);
});

/** Where the error begins: else the first warning, else everything. */
const beginnings = [/^(?:\d\d:\d\d:\d\d {2}error: |fail )/, /^\d\d:\d\d:\d\d {2}warning: /];

function shownError(printed: string): string[] {
  const lines = printed.split("\n");
  const begins = beginnings.map((start) => lines.findIndex((line) => start.test(line))).find((at) => at >= 0);
  const shown = lines.slice(begins ?? 0);
  const after = shown.findIndex((line) => /^(?:ok|warn) {2}/.test(line));
  return shown.slice(0, after < 0 ? undefined : after);
}

function height(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
}

// Fault: service | 401, 403, 404, 429 for ever, 5xx, HTML, redirects, cut answers, no connection, no TLS, another company's token | the service of a command | exit code, and what, where and what next on one screen
// Fault: disk | damaged pages in the mirror's file | all but the first, under a command | reported as damage, with what to do
// Fault: files | no mirror, another file, or a newer mirror where a report is made | the mirror's path, under a command | refused with a hint
// Fault: files | no database, a newer or damaged one, a held lock, a full disk, files and folders in the way, damaged backups | under a command | exit code, and what, where and what next on one screen
describe.each(Object.entries(tables))("%s:", (_, table) => {
  test.each(table.map((row): [string, ErrorRow] => [row.situation, row]))(
    "%s says what, where and what next, on one screen",
    async (_situation, row) => {
      const { code, stdout, stderr } = await runRow(row, stock);
      const printed = stdout + stderr;
      const shown = shownError(printed);
      const text = shown
        .map((line) => line.trim())
        .join(" ")
        .replaceAll(/ {2,}/g, " ");
      expect({ code, text }).toEqual({ code: row.exit, text: expect.stringContaining(row.what) as string });
      expect(text).toContain(row.where);
      expect(text).toContain(row.next);
      expect(height(shown), text).toBeLessThanOrEqual(mostLines);
      expect(printed).not.toMatch(/^\s+at .+:\d+:\d+/m);
      expect(printed).not.toContain("something unexpected happened");
      for (const token of [rowToken, stock.sandbox.token]) expect(printed).not.toContain(token);
    },
  );
});
