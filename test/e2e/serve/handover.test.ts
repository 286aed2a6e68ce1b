import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { endOf } from "../../support/program/cli.ts";
import { aCompany, type Company } from "../../support/company/company.ts";
import { expectEqual } from "../../support/truth/equal.ts";
import {
  childrenOf,
  named,
  outcomeIn,
  serve,
  startIn,
  writeServeConfig,
} from "../../support/program/serve.ts";
import { inMirror, wholeRuns } from "../../support/company/served-company.ts";
import { eventually } from "../../support/eventually.ts";

function openOrders(company: Company): number {
  const noted = inMirror(company, "SELECT json_array_length(value) FROM _meta WHERE key = 'orders'");
  return Number(noted ?? 0);
}

/** Lists of clients are not answered until they are let go. */
function holdBack(company: Company): () => void {
  const held = Promise.withResolvers<undefined>();
  company.proxy.obstruct((asked) => (asked.path === "/clients" ? held.promise : undefined));
  return () => held.resolve(undefined);
}

const runUnderWay = "SELECT count(*) FROM _runs WHERE outcome IS NULL";

// Fault: process | kill -9 of the daemon while a `sync` follows its run | a process of `serve` | the follower makes the run itself
test("a sync beside the daemon gives its run to it and ends as if it had made it; Ctrl-C ends the following only, and a kill of the daemon leaves the run to the follower", async () => {
  const company = writeServeConfig(await aCompany({ records: 5 }), "schedule: { sync: off, publish: off }");
  const daemon = await serve(company);
  await eventually(() => wholeRuns(company) === 1, "a first whole run");
  const ended = await endOf(startIn(company, ["sync", "--full", "--json", "clients", "company"]));
  expect([ended.code, outcomeIn(ended)]).toEqual([0, "complete"]);
  const { companies } = JSON.parse(ended.stdout) as { companies: { acme: { resources: object } } };
  expect(Object.keys(companies.acme.resources).toSorted()).toEqual(["clients", "company"]);
  expect(ended.stderr).toContain("following it");
  const last = (column: string) => inMirror(company, `SELECT ${column} FROM _runs ORDER BY id DESC LIMIT 1`);
  expect([last("mode"), last("pid")]).toEqual(["full", daemon.child.pid]);
  const [limited, dry] = await Promise.all([
    endOf(startIn(company, ["sync", "--max-requests", "3", "--json"])),
    endOf(startIn(company, ["sync", "--dry-run"])),
  ]);
  expect([limited.code, outcomeIn(limited), dry.code]).toEqual([5, "stopped", 0]);
  await eventually(() => openOrders(company) === 0, "no order");

  const release = holdBack(company);
  const interrupted = startIn(company, ["sync", "--json"]);
  const following = endOf(interrupted);
  await eventually(() => openOrders(company) === 1, "an order");
  const impatient = await endOf(startIn(company, ["sync", "--max-duration", "8s", "--json"]));
  expect([impatient.code, outcomeIn(impatient)]).toEqual([5, "stopped"]);
  expect(impatient.stderr).toContain("busy with another run");
  await eventually(() => openOrders(company) === 1, "an order");
  const before = wholeRuns(company);
  interrupted.kill("SIGINT");
  expect(await following).toMatchObject({ code: 130, stderr: expect.stringContaining("daemon continues") });
  release();
  await eventually(() => wholeRuns(company) === before + 1, "the run that nobody follows");

  company.sandbox.control.create("clients", { name: "New one" });
  const releaseLast = holdBack(company);
  const left = endOf(startIn(company, ["sync", "--json"]));
  await eventually(() => inMirror(company, runUnderWay) === 1, "a run under way");
  await daemon.end("SIGKILL");
  releaseLast();
  const made = await left;
  expect(made.stderr).toContain("the daemon is gone");
  expect([made.code, outcomeIn(made)]).toEqual([0, "complete"]);
  expectEqual(company);
});

// Fault: process | SIGTERM while the process that makes a report stands still (SIGSTOP), and the service does not answer a run | a process of `serve` for two companies | it exits with 0, and leaves no process behind
test("a stop waits neither for a process that stands still nor for a service that does not answer", async () => {
  const company = await aCompany({ records: 3, companies: 2 });
  const served = named(company, "acme", "other");
  writeServeConfig(company, "schedule: { sync: off }", served);
  company.proxy.obstruct(({ path: asked, headers }) =>
    asked === "/clients" && headers.authorization === `Bearer ${served[1]?.token}` ? "hang" : undefined,
  );
  const daemon = await serve(company);
  let stopped = 0;
  await eventually(() => {
    for (const { pid, args } of childrenOf(daemon.child.pid))
      if (args.includes(" after-run ")) process.kill((stopped = pid), "SIGSTOP");
    return stopped > 0 && company.proxy.inFlight() > 0;
  }, "both");
  expect((await daemon.end("SIGTERM")).code).toBe(0);
  expect(() => process.kill(stopped, 0)).toThrow("ESRCH");
  expect(path.join(company.folder, "acme.report.db")).not.toSatisfy(existsSync);
});
