import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { mirrorFiles } from "../../src/store/mirror-files.ts";
import { recordStep } from "../../src/status/after-run-record.ts";
import { aCompany } from "../support/company/company.ts";
import { configOf, startDaemon } from "../support/program/daemon.ts";
import { eventually } from "../support/eventually.ts";

// Fault: files | another process fetches them, or the disk is full: nothing can be recorded | what `serve` starts to fetch files | not started again and again: the next run asks for them
test("files are fetched while attempts are recorded, and no longer when one could not be", async () => {
  const company = await aCompany({ records: 2 });
  const config = configOf(company, "files: { pdf: on }");
  const { afterRun: file } = mirrorFiles(config, "acme");
  const recordedAttempts = 3;
  let attempts = 0;
  const afterRun = async (_company: unknown, scope: string) => {
    await turn();
    if (scope !== "files") return null;
    attempts++;
    const result = { outcome: "unchanged", error: null, seq: null } as const;
    if (attempts <= recordedAttempts) recordStep(file, "files", result, attempts - 1, attempts);
    return null;
  };
  startDaemon(company, config, { afterRun });
  await eventually(() => attempts > recordedAttempts, "an attempt that is not recorded");
  for (let turns = 0; turns < 50; turns++) await turn();
  expect(attempts).toBe(recordedAttempts + 1);
});
