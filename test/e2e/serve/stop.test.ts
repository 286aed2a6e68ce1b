import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { aCompany } from "../../support/company/company.ts";
import { childrenOf, serve, writeServeConfig } from "../../support/program/serve.ts";
import { eventually } from "../../support/eventually.ts";

// Fault: process | SIGTERM while the process that makes a report stands still (SIGSTOP), and the service does not answer a run | a process of `serve` for two companies | it exits with 0 within 25 s, and leaves no process behind
test("a stop waits neither for a process that stands still nor for a service that does not answer", async () => {
  const company = await aCompany({ records: 3, companies: 2 });
  const [first, second] = company.sandbox.companies.map(({ token }) => token);
  const served = [
    { name: "acme", token: first ?? "" },
    { name: "other", token: second ?? "" },
  ];
  writeServeConfig(company, "schedule: { sync: off }", served);
  company.proxy.obstruct(({ path: asked, headers }) =>
    asked === "/clients" && headers.authorization?.includes(second ?? "") ? "hang" : undefined,
  );
  const daemon = await serve(company);
  const children = () => childrenOf(daemon.child.pid);
  await eventually(() => children().length > 0 && company.proxy.inFlight() > 0, "both");
  const [child] = children();
  if (child) process.kill(child.pid, "SIGSTOP");
  const startedMs = performance.now();
  expect((await daemon.end("SIGTERM")).code).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(25_000);
  expect(() => process.kill(child?.pid ?? 0, 0)).toThrow("ESRCH");
  expect(existsSync(path.join(company.folder, "acme.report.db"))).toBe(false);
});
