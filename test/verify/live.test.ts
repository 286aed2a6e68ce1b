import { expect, test } from "vitest";
import { aCompany, aMirroredCompany } from "../support/company/company.ts";
import { secret, serve, wholeRuns, writeServeConfig } from "../support/program/serve.ts";
import { portToKeep } from "../support/program/serve-process.ts";
import { truthOf } from "../support/truth/truth.ts";
import { hasty, named, verify } from "../support/verify/verify.ts";
import { eventually } from "../support/eventually.ts";

// Fault: service | ten changes a second while `verify` compares | the sandbox | only records that changed are named
test("without webhooks, with ten changes a second, only records that changed are named", async () => {
  const company = await aMirroredCompany({ records: 20 });
  const before = truthOf(company.sandbox);
  const day = company.sandbox.control.day({ changes: 20, durationMs: 2_000, seed: 6 });
  const found = new Set<string>();
  for (let i = 0; i < 3; i++) {
    const { report } = await verify(company, ["--all"]);
    for (const line of named(report)) found.add(line.split(" ").slice(0, 2).join(" "));
    expect(report.uncompared).toEqual([]);
  }
  await day.done;
  const after = truthOf(company.sandbox);
  const isChanged = ([table = "", id = ""]: string[]) =>
    before.get(table)?.get(id)?.text !== after.get(table)?.get(id)?.text;
  expect([...found].filter((record) => !isChanged(record.split(" ")))).toEqual([]);
  expect(found.size).toBeGreaterThan(0);
});

test("beside serve, with ten changes a second, what events keep current is never named", async () => {
  const port = await portToKeep();
  const url = `http://127.0.0.1:${port}/webhooks/acme`;
  const company = await aCompany({ records: 8, webhooks: [{ url, secret }], retryScale: 0.008 });
  const { control } = company.sandbox;
  writeServeConfig(company, "schedule: { sync: off, publish: off }");
  const served = await serve(company, ["--listen", `127.0.0.1:${port}`]);
  await eventually(() => wholeRuns(company) === 1, "a first whole run");
  const before = control.events().length;
  const running = { isOver: false };
  const day = control.day({ changes: 30, durationMs: 3_000, seed: 5 });
  const ended = day.done.finally(() => (running.isOver = true));
  const found: string[] = [];
  for (let i = 0; i < 100 && !running.isOver; i++) {
    const { report } = await verify(company, ["--all"], { clock: hasty });
    found.push(...named(report), ...report.uncompared.map(({ message }) => message));
  }
  expect(found).toEqual([]);
  expect(control.events().length - before).toBeGreaterThan(20);
  await ended;
  await served.end("SIGTERM");
});
