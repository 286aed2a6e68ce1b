import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { earlyGlobals } from "../../../src/cli/program/option-specs.ts";
import { createAfterRun } from "../../../src/cli/runs/host-process.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { aCompany, type Company } from "../../support/company/company.ts";
import { look } from "../../support/truth/compare.ts";
import { configOf, startDaemon } from "../../support/program/daemon.ts";
import { processEnv } from "../../support/program/process-env.ts";
import { childrenOf, named, serve, serveHere, writeServeConfig } from "../../support/program/serve.ts";
import { deliver, eventOf } from "../../support/program/deliveries.ts";
import { inMirror, metricsOf, readyOf, statusOf, wholeRuns } from "../../support/company/served-company.ts";
import { recordingLog } from "../../support/terminal/terminal.ts";
import { eventually } from "../../support/eventually.ts";

const reportOf = (company: Company) => path.join(company.folder, "acme.report.db");

// Fault: process | `serve` ends after a run, before report and exports are made | a `serve` that makes none, and the next one, a process | the next one makes them when it starts, without another run
// Fault: files | an export cannot be written | its path, under a process of `serve` | logged, and the daemon continues
test("what the last run was not followed by is made at the next start; what cannot be made is logged, and the daemon goes on", async () => {
  const company = writeServeConfig(await aCompany({ records: 5 }), "schedule: { sync: off, publish: off }");
  const first = await serveHere(company);
  await eventually(() => wholeRuns(company) === 1, "a run");
  expect((await first.end("SIGTERM")).code).toBe(0);
  const exports = "exports: [{ format: csv, out: ./config.yaml, after: sync }]";
  writeServeConfig(company, `schedule: { sync: off }\n${exports}`);
  const daemon = await serve(company);
  await daemon.until("after-run did not succeed");
  expect([existsSync(reportOf(company)), wholeRuns(company)]).toEqual([true, 1]);
  expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
  await expect
    .poll(async () => (await readyOf(daemon)).acme.reasons)
    .toContainEqual(expect.stringMatching(/^not made after the last run: csv/));
  const { code, after_run: steps } = await statusOf(company);
  expect({ code, steps }).toMatchObject({ code: 3, steps: [{ outcome: "written" }, { outcome: "failed" }] });
  expect(await metricsOf(daemon)).toMatch(/after_run_failed\{.*config\.yaml"\} 1/);
});

// Fault: files | SIGHUP with a config that is wrong, and a file that no longer names what follows runs | the config of a process of `serve` | report and exports are made by the config that is in force
test("what follows a run uses the daemon's config, whatever stands in the file by then, and shows how it went", async () => {
  const company = await aCompany({ records: 5 });
  const exports = "exports: [{ format: csv, out: ./files, after: sync, tables: [invoices] }]";
  writeServeConfig(company, `schedule: { sync: off, publish_every: 1s }\n${exports}`);
  const listed = Promise.withResolvers<undefined>();
  company.proxy.obstruct(() => listed.promise);
  const daemon = await serve(company);
  writeFileSync(path.join(company.folder, "config.yaml"), "companies: { acme: { token: 5 } }\nexports: 7\n");
  daemon.child.kill("SIGHUP");
  await daemon.until("the config is kept as it was");
  listed.resolve(undefined);
  const csv = path.join(company.folder, "files/acme/invoices.csv");
  await eventually(() => existsSync(reportOf(company)) && existsSync(csv), "the report and the file");
  const made = {
    outcome: expect.stringMatching(/^(written|unchanged)$/),
    error: null,
    age_ms: expect.any(Number),
    duration_ms: expect.any(Number),
  };
  const steps = [
    { step: "report", ...made },
    { step: `csv ${path.dirname(path.dirname(csv))}`, ...made },
  ];
  await expect.poll(() => readyOf(daemon)).toMatchObject({ acme: { ready: true, after_run: steps } });
  writeServeConfig(company, `schedule: { sync: off }\n${exports}`);
  expect(await statusOf(company)).toMatchObject({ code: 0, after_run: steps });
  const metrics = await metricsOf(daemon);
  expect(metrics).toMatch(/report_last_success_timestamp_seconds\{company="acme"\} 1\d{9}/);
  expect(metrics).toMatch(/report_age_seconds\{company="acme"\} \d/);
  // After an event the report is written again, without a run.
  const id = Number(inMirror(company, "SELECT min(id) FROM clients"));
  company.sandbox.control.update("clients", id, { name: "Premenovaná" });
  expect(await deliver(daemon, eventOf("clients.updated", id))).toBe(204);
  const names = () => look(reportOf(company), (db) => db.prepare("SELECT name FROM clients").pluck().all());
  await eventually(() => names().includes("Premenovaná"), "the event in the report");
  expect(wholeRuns(company)).toBe(1);
});

// Fault: process | the process that makes the report is killed | under a process of `serve` | recorded as failed, shown, and made again
// Fault: process | the first runs of many companies end together | a process of `serve`, and the processes that it starts | one at a time makes what follows, and in the end all reports are there
test("a process that is killed while it makes the report is a failure like others, and tried again; of several companies one at a time works", async () => {
  const company = await aCompany({ records: 3, companies: 3 });
  const served = named(company, "acme", "c1", "c2");
  writeServeConfig(company, "schedule: { sync: off, publish_every: 1s }", served);
  const daemon = await serve(company);
  const children = () => childrenOf(daemon.child.pid);
  let child: ReturnType<typeof children>[number] | undefined;
  const found = () => (child = children().find(({ args }) => args.includes(" after-run "))) !== undefined;
  await eventually(found, "a process of its own");
  // Before its code runs, only Node itself can keep its inspector closed.
  expect(child?.args).toMatch(/ --disable-sigusr1 .* after-run /);
  for (const { token } of served) expect(child?.args).not.toContain(token);
  if (child) process.kill(child.pid, "SIGKILL");
  await daemon.until("it ended with a signal");
  const isMade = ({ name }: { name: string }) => existsSync(path.join(company.folder, `${name}.report.db`));
  let most = 0;
  await eventually(() => {
    most = Math.max(most, children().length);
    return served.every(isMade);
  }, "all reports");
  expect(most).toBe(1);
  await eventually(async () => (await readyOf(daemon)).status === 200, "ready companies");
});

// Fault: process | the process that makes what follows a run does not end | the daemon's limit, with its real process | ended and recorded as failed, so that other companies get their turn
test("a process that makes what follows a run and does not end is ended, and named", async () => {
  const company = await aCompany({ records: 3 });
  const exports = "exports: [{ format: csv, out: ./files, after: sync, tables: [invoices] }]";
  const { log } = recordingLog();
  const { signal } = new AbortController();
  const parts = { globals: earlyGlobals([]), env: processEnv(), clock: systemClock, log, signal };
  startDaemon(company, configOf(company, exports), { afterRun: createAfterRun(parts, 200) });
  const stepOf = async () => (await statusOf(company)).after_run[0];
  await eventually(async () => (await stepOf())?.outcome === "failed", "its end");
  expect((await stepOf())?.error).toBe("it was ended after 0s");
});
