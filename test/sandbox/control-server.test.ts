import { request } from "node:http";
import { describe, expect, test } from "vitest";
import type { Sandbox } from "../support/sandbox/control.ts";
import { runCommand, endOf, firstLine, jsonLines, runProgram, startProgram } from "../support/program/cli.ts";
import { openSandbox, get, type Dict } from "../support/sandbox/sandbox.ts";
import { openSink, isSigned } from "../support/sandbox/webhook-sink.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";
import { createLimiter, type LimiterKind } from "../../connectors/fintoro/sandbox/service/limiter.ts";

async function opened() {
  const sink = await openSink();
  const sandbox = await openSandbox({ webhooks: [{ url: sink.url }] });
  return { sandbox, sink };
}

test("the control server is closed to those who call this machine by another name", async () => {
  const { sandbox } = await opened();
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { host: "sandbox.example.com" };
    const target = { port: sandbox.port, host: "127.0.0.1", path: "/sandbox/work", headers };
    request(target, (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end();
  });
  expect(status).toBe(404);
  expect(sandbox.requests()).toHaveLength(1);
});

const trigger = (sandbox: Sandbox, ...args: string[]) =>
  runCommand(["sandbox", "trigger", ...args, "--port", String(sandbox.port)]);

describe("sandbox trigger", () => {
  test("prints what was done and what became of it; the API counts and logs nothing of it", async () => {
    const { sandbox } = await opened();
    const { code, stdout } = await trigger(sandbox, "invoices.paid");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^invoices \d+: paid\n/)]);
    expect(stdout).toMatch(/document-payments\.created {2}documentPayment \d+ {2}evt_\w+ {2}delivered: sub/);
    expect(stdout).toMatch(/invoices\.paid {2}invoice \d+ {2}evt_\w+ {2}delivered: .* \(attempt 1, 204\)/);
    const delivered = { outcome: "delivered" };
    expect(sandbox.control.webhooks.history()).toMatchObject([delivered, delivered]);
    expect(sandbox.requests()).toEqual([]);
  });

  test("exits 1 for what did not arrive or is against the rules, 2 for what was written wrong", async () => {
    const { sandbox, sink } = await opened();
    sink.treat(500);
    const again = expect.stringContaining("retry: subscription") as string;
    expect(await trigger(sandbox, "clients.updated")).toMatchObject({ code: 1, stdout: again });
    expect((await trigger(sandbox, "clients.updated", "--id", "99999")).code).toBe(1);
    expect((await trigger(sandbox, "client.updated")).code).toBe(2);
    const elsewhere = ["sandbox", "trigger", "clients.updated", "--url", "https://example.com"];
    const isNone = expect.stringContaining("is no sandbox on this machine");
    expect(await runCommand(elsewhere)).toMatchObject({ code: 2, stderr: isNone });
    await sandbox.close();
    const isGone = expect.stringContaining("no sandbox answers");
    expect(await trigger(sandbox, "clients.updated")).toMatchObject({ code: 1, stderr: isGone });
  });
});

test("sandbox tick runs a working day by options that its parent command has as well, and sums it up by kind", async () => {
  const { sandbox } = await opened();
  const args = ["--duration", "100ms", "--changes", "40", "--seed", "3", "--port", String(sandbox.port)];
  const { code, stdout, stderr } = await runCommand(["sandbox", "tick", ...args]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^40 of 40 changes, \d+ events\n/)]);
  expect(stdout).toMatch(/ {2}invoices (written|paid)\n/);
  expect(stderr).toContain("the working day goes on");
  expect(sandbox.control.events().length).toBeGreaterThanOrEqual(40);
});

async function started(...args: string[]) {
  const child = startProgram(["sandbox", "--json", ...args]);
  const ended = endOf(child);
  return { child, ended, ready: JSON.parse(await firstLine(child)) as Dict };
}

describe("the sandbox as a program", () => {
  // Fault: process | the port is taken | a sandbox, real processes | the second one ends with 10, and names the address
  test("prints one line of JSON, sends signed events where --webhook-url says, can be triggered from outside, and ends on a signal; its port takes no other", async () => {
    const sink = await openSink();
    const { child, ended, ready } = await started("--webhook-url", sink.url, "--secret", "topsecret");
    expect(Object.keys(ready)).toEqual(["url", "token", "webhook_secret", "companies"]);
    expect(ready["webhook_secret"]).toBe("topsecret");
    const base = String(ready["url"]);
    const taken = await runProgram(["sandbox", "--port", new URL(base).port]);
    expect(taken).toMatchObject({ code: 10, stderr: expect.stringContaining("cannot listen on 127.0.0.1:") });
    const triggered = await runCommand(["sandbox", "trigger", "invoices.created", "--url", base, "--json"]);
    expect(triggered.code).toBe(0);
    const { id } = JSON.parse(triggered.stdout) as Dict;
    expect(sink.received.map(({ json }) => json["resource"])).toContainEqual({ type: "invoice", id });
    expect(sink.received.filter((delivered) => !isSigned(delivered, "topsecret"))).toEqual([]);
    const headers = { authorization: `Bearer ${String(ready["token"])}` };
    expect((await fetch(`${base}/invoices/${String(id)}`, { headers })).status).toBe(200);
    child.kill("SIGTERM");
    const { code, stdout, stderr } = await ended;
    expect([code, jsonLines(stdout).length]).toEqual([0, 1]);
    expect(jsonLines(stderr)).toMatchObject([{ level: "info", signal: "SIGTERM" }, { level: "info" }]);
  });

  test("makes up a secret, and loses what it is asked to lose", async () => {
    const sink = await openSink();
    const { child, ready } = await started("--webhook-url", sink.url, "--webhook-faults", "losses:1");
    expect(ready["webhook_secret"]).toMatch(/^whsec_[0-9a-f]{32}$/);
    const args = ["sandbox", "trigger", "clients.updated", "--url", String(ready["url"])];
    const stdout = expect.stringContaining("lost: subscription") as string;
    expect(await runCommand(args)).toMatchObject({ code: 0, stdout });
    expect(sink.received).toEqual([]);
    child.kill("SIGTERM");
  });

  test.each([
    [["--webhook-url", "http://hooks.firma.sk/in"], "http://hooks.firma.sk/in cannot be subscribed"],
    [["--webhook-faults", "losses:2"], 'webhook fault \\"losses:2\\" cannot be read'],
  ])("%j is a mistake that is explained", async (args, message) => {
    const stderr = expect.stringContaining(message) as string;
    expect(await runProgram(["sandbox", ...args])).toMatchObject({ code: 2, stderr });
  });
});

test("a delivery that fails is tried five times, at about 10, 100, 1,000 and 10,000 s, each as of then, and then no more", async () => {
  const clock = new DrivenClock();
  const sink = await openSink();
  const { control } = await openSandbox({ clock, webhooks: [{ url: sink.url }] });
  const outcomes = () => control.webhooks.history().map(({ outcome }) => outcome);
  sink.treat(500);
  control.trigger("clients.updated", 101);
  for (const [index, waitS] of [10, 100, 1_000, 10_000].entries()) {
    await expect.poll(outcomes).toHaveLength(index + 1);
    expect(outcomes().at(-1)).toBe("retry");
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.wind(waitS * 940);
    expect(clock.sleeping).toBe(1);
    clock.wind(waitS * 120);
  }
  await expect.poll(outcomes).toEqual(["retry", "retry", "retry", "retry", "failed"]);
  expect([sink.received.length, clock.sleeping]).toEqual([5, 0]);
  const sent = sink.received.map(({ headers, body }) => [headers["webhook-timestamp"], body.toString()]);
  expect([0, 1].map((part) => new Set(sent.map((one) => one[part])).size)).toEqual([5, 1]);
});

const received = ["received-invoices.paid", "received-receipts.paid"];

test("an event that is forged, or of a record that has no route, changes nothing", async () => {
  const sandbox = await openSandbox();
  const before = sandbox.control.snapshot();
  sandbox.control.trigger("clients.deleted", null, { forge: true });
  for (const event of received)
    expect(sandbox.control.trigger(event, 77)).toMatchObject({ event, id: 77, forged: true });
  const types = sandbox.control.events().map(({ type }) => type);
  expect(types).toEqual(["clients.deleted", ...received]);
  expect(sandbox.control.snapshot()).toEqual(before);
});

async function afterWork(seed: number) {
  const { control } = await openSandbox({ records: 120, seed });
  const done = Array.from({ length: 300 }, (_, turn) => control.work(turn, seed));
  expect(control.failures()).toEqual([]);
  return { done, events: control.events().map(({ type, resource }) => [type, resource.id]) };
}

test("work of a day makes the same changes with the same seed, of many kinds, and counts its events", async () => {
  const [first, again] = [await afterWork(7), await afterWork(7)];
  expect(again).toEqual(first);
  expect(first.done.reduce((sum, { events }) => sum + events, 0)).toBe(first.events.length);
  expect(new Set(first.done.map(({ name }) => name)).size).toBeGreaterThan(22);
});

const minute = 60_000;

test("I8 the stand-in refuses what is beyond its limit, until a minute after the first request", async () => {
  const clock = new DrivenClock();
  const sandbox = await openSandbox({ clock, limit: 2 });
  const status = async () => (await get(sandbox, "/whoami")).status;
  expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
  clock.wind(minute - 1);
  expect(await status()).toBe(429);
  clock.wind(1);
  expect(await status()).toBe(200);
});

/** How long the windows of a kind last, and what the first answer, the slowest of three, says of the rest. */
test.each<[LimiterKind, number, string]>([
  ["fixed", minute, "0"],
  ["hit_time", minute, "2"],
  // The clock of the test begins a quarter of a second after a whole one.
  ["whole_seconds", minute - 250, "0"],
])("a window of the kind %s lasts %i ms, and a slow answer says that %s remain", (kind, lengthMs, remain) => {
  const clock = new DrivenClock();
  const limiter = createLimiter(clock, { kind, limit: 3, windowMs: minute });
  const slow = limiter.count();
  expect([limiter.count().allowed, limiter.count().allowed]).toEqual([true, true]);
  expect(slow.headers()["X-RateLimit-Remaining"]).toBe(remain);
  clock.wind(lengthMs - 1);
  expect(limiter.count()).toMatchObject({ allowed: false });
  clock.wind(1);
  expect(limiter.count()).toMatchObject({ allowed: true });
});
