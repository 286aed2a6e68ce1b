import { expect, test } from "vitest";
import type { Alert } from "../../../src/status/alerts/incidents.ts";
import { runCommand } from "../../support/program/cli.ts";
import { aCompany, sync, type Company } from "../../support/company/company.ts";
import { age, impatientClock } from "../../support/program/daemon.ts";
import { deliver, eventAbout, serveHere, writeServeConfig } from "../../support/program/serve.ts";
import { openSink } from "../../support/sandbox/webhook-sink.ts";
import { eventually } from "../../support/eventually.ts";

/** Whoever waits in it waits a moment only. */
const startServe = (company: Company) => serveHere(company, { clock: impatientClock });

/** A company whose alerts of one kind go to a receiver, which were read whole. */
async function alerting(kind: string, records = 3) {
  const company = await aCompany({ records });
  const resources = ["clients"];
  const sink = await openSink();
  const target = `alerts: [{ when: [${kind}], url: "${sink.url}" }]`;
  writeServeConfig(
    company,
    `${target}\nschedule: { sync: off, publish: off }\nresources: { include: [${resources.join()}] }`,
  );
  await sync(company, { resources });
  const sent = () => sink.received.map(({ json }) => json as unknown as Alert);
  const isSent = (event: string) => sent().some((alert) => alert.event === event);
  const begun = () => eventually(() => isSent("begin"), `the beginning of ${kind}`);
  const over = () => eventually(() => isSent("end"), `the end of ${kind}`);
  // A run of the daemon's own must not end what no alert has named yet.
  const answerNothingUntilBegun = () =>
    company.proxy.obstruct(async () => {
      await eventually(() => isSent("begin"), `the beginning of ${kind}`);
      return undefined;
    });
  const expectBoth = (message: RegExp) => {
    const expected = { kind, company: "acme", message: expect.stringMatching(message) };
    expect(sent()).toMatchObject([
      { ...expected, event: "begin", ended_at: null },
      { ...expected, event: "end" },
    ]);
  };
  return { company, begun, over, expectBoth, answerNothingUntilBegun };
}

test("held: a run that would remove too much is told once, and its end after --allow-mass-delete", async () => {
  const { company, begun, over, expectBoth } = await alerting("held", 100);
  const { control } = company.sandbox;
  const clients = [...(control.snapshot().get("clients")?.keys() ?? [])];
  for (const id of clients.slice(0, 25)) control.remove("clients", id);
  await startServe(company);
  const { folder: cwd } = company;
  expect((await runCommand(["sync", "--no-scrub"], { cwd, clock: impatientClock })).code).toBe(3);
  await begun();
  const allowed = ["sync", "--no-scrub", "--allow-mass-delete"];
  expect((await runCommand(allowed, { cwd, clock: impatientClock })).code).toBe(0);
  await over();
  expectBoth(/^clients: kept 25/i);
});

// Fault: process | nobody received deliveries for a day, and the service is silent when serve starts again | a real serve with a receiver of alerts | `gap` begins, and ends with the run that read everything
test("gap: events that may be lost are told once, and their end when a run has read everything", async () => {
  const { company, begun, over, expectBoth, answerNothingUntilBegun } = await alerting("gap");
  const served = await startServe(company);
  expect((await served.end("SIGTERM")).code).toBe(0);
  age(company, 86_400_000);
  answerNothingUntilBegun();
  await startServe(company);
  await begun();
  await over();
  expectBoth(/^events may have been lost/);
});

// Fault: clock | signed deliveries are ten minutes old | a real serve with a receiver of alerts | `refused` begins after three, and ends with the next good one
test("refused: deliveries of the service that are refused are told once, and their end when one is taken", async () => {
  const { company, begun, over, expectBoth } = await alerting("refused");
  const served = await startServe(company);
  for (let times = 0; times < 3; times++)
    expect(await deliver(served, eventAbout("clients.updated", "client", 1), { agoMs: 600_000 })).toBe(401);
  await begun();
  expect(await deliver(served, eventAbout("clients.updated", "client", 1))).toBe(204);
  await over();
  expectBoth(/^3 deliveries were refused .*3 stale_timestamp/);
});
