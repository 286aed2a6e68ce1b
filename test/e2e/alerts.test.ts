import path from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../support/program/cli.ts";
import { aCompany, aMirroredCompany, type Company } from "../support/company/company.ts";
import { configOf, impatientClock, startDaemon } from "../support/program/daemon.ts";
import { serveHere, writeServeConfig } from "../support/program/serve.ts";
import { statusOf, metricsOf, readyOf } from "../support/company/served-company.ts";
import { isSigned, openSink, type Treatment, type WebhookSink } from "../support/sandbox/webhook-sink.ts";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { systemRandom } from "../../src/base/random.ts";
import { damageTable } from "../support/verify/verify.ts";
import { odd } from "../support/sandbox/odd-answers.ts";

const key = "alerts-secret-0123456789";
const off = "schedule: { sync: off, publish: off }";

// Fault: network | the receiver of alerts refuses or redirects them | between the program and its target | the alert is kept, shown, and sent by the next run with the same id
test("a sync signs the alerts that it posts, follows no redirect, and sends later what was not taken", async () => {
  const company = await aCompany({ records: 3 });
  const sink = await openSink();
  const treatments: Treatment[] = [500, "redirect", 503, 204];
  sink.treat((_, index) => treatments[index] ?? 204);
  const target = `{ when: [failed], url: "${sink.url}/secret-path", secret: ${key} }`;
  const wrong = [{ name: "acme", token: "wrong-token-0123456789" }];
  writeServeConfig(company, `alerts: [${target}]\n${off}`, wrong);
  const sync = () => runCommand(["sync"], { cwd: company.folder, clock: impatientClock });
  const first = await sync();
  expect(first).toMatchObject({ code: 4, stderr: expect.stringContaining("alerts were not delivered") });
  expect(sink.received.map(({ url }) => url)).toEqual(Array(3).fill("/webhooks/acme/secret-path"));
  const { alerts } = await statusOf(company);
  expect(alerts?.incidents).toMatchObject([{ kind: "failed", ended_at: null }]);
  expect(alerts?.undelivered).toMatchObject([{ attempts: 3, error: "it answered 503" }]);
  const { stdout } = await runCommand(["status", "--json"], { cwd: company.folder });
  for (const hidden of ["secret-path", key]) expect(first.stderr + stdout).not.toContain(hidden);
  expect((await sync()).code).toBe(4);
  expect(sink.received).toHaveLength(4);
  expect(sink.received.filter((one) => !isSigned(one, key))).toEqual([]);
  for (const { headers } of sink.received)
    expect(Number(headers["webhook-timestamp"])).toBeCloseTo(Date.now() / 1000, -2);
  expect(new Set(sink.received.map(({ json }) => json["id"])).size).toBe(1);
  expect(sink.received[0]?.json["text"]).toMatch(/^fintoro-mirror, acme: failed: the last run did not/);
});

test("a sync whose mirror is damaged inside sends an alert that names the damage", async () => {
  const company = await aMirroredCompany({ records: 3 });
  const sink = await openSink();
  writeServeConfig(company, `alerts: [{ when: [failed], url: "${sink.url}" }]\n${off}`);
  damageTable(company, "_runs");
  const { code } = await runCommand(["sync"], { cwd: company.folder, clock: impatientClock });
  expect(code).toBe(10);
  const message = expect.stringContaining("the database is damaged");
  expect(sink.received[0]?.json).toMatchObject({ event: "begin", subject: "reading", message });
});

test("serve watches the free space of the disk once for all companies", async () => {
  const company = await aCompany({ records: 1 });
  const sink = await openSink();
  const { token } = company.sandbox;
  const both = ["acme", "beta"].map((name) => ({ name, token }));
  const config = configOf(company, `alerts: [{ when: [disk_low], url: "${sink.url}" }]`, both);
  let free = 900e6;
  const daemon = startDaemon(company, config, { clock: impatientClock, freeBytes: () => free });
  await sink.arrived(1);
  expect(sink.received.map(({ json }) => json)).toMatchObject([
    { event: "begin", kind: "disk_low", company: null, message: "900.0 MB free on the disk of data_dir" },
  ]);
  expect(sink.received[0]?.headers).not.toHaveProperty("webhook-signature");
  free = 1_600e6;
  await sink.arrived(2);
  await daemon.stop();
  expect(sink.received.map(({ json }) => json["event"])).toEqual(["begin", "end"]);
});

test("`alerts test` names each target that does not take a test alert, and tells none of a company that there is not", async () => {
  const company = await aCompany({ records: 1 });
  const sink = await openSink();
  sink.treat(403);
  const targets = `
  - { when: [stale], command: "true" }
  - { when: [failed], url: "${sink.url}", secret: ${key} }
  - { when: [failed], command: [sh, -c, "echo no such mailbox >&2; exit 7"] }`;
  writeServeConfig(company, `alerts:${targets}\n${off}`);
  const config = path.join(company.folder, "config.yaml");
  const env = { PATH: process.env["PATH"] ?? "" };
  const { code, stdout } = await runCommand(["alerts", "test", "-c", config], { env });
  expect([code, stdout.trim().split("\n")]).toEqual([
    1,
    [
      expect.stringMatching(/^ok {4}true \w+: the test alert was taken$/),
      expect.stringMatching(/^fail {2}127\.0\.0\.1:\d+ \w+: it answered 403$/),
      expect.stringMatching(/^fail {2}sh \w+: it ended with exit code 7: no such mailbox$/),
    ],
  ]);
  const typo = await runCommand(["alerts", "test", "--company", "acmee", "-c", config], { env });
  expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining("acmee")]);
  expect(sink.received.map(({ json }) => json)).toMatchObject([{ event: "test", kind: "test" }]);
});

const publicUrl = "https://hooks.example.com/webhooks/acme";

async function nightly(company: Company, sink: WebhookSink) {
  const { folder: cwd, proxy } = company;
  const before = sink.received.length;
  const { code } = await runCommand(["sync"], { random: systemRandom, cwd, clock: impatientClock });
  const alerts = sink.received
    .slice(before)
    .map(({ json }) => `${String(json["event"])} ${String(json["kind"])}`);
  const asked = proxy.asked.length;
  const status = await statusOf(company);
  const { stdout: text } = await runCommand(["status"], { cwd });
  expect(proxy.asked.length).toBe(asked);
  const { conditions } = status;
  for (const { message } of conditions) expect(text.replaceAll(/\s+/g, " ")).toContain(`! ${message}`);
  return { codes: [code, status.code], alerts, conditions };
}

// Fault: service | a subscription lacks events; the service begins to send a field | the sandbox, between nightly runs | both are named by status, /readyz, metrics and alerts, once, and keep nothing from being ready
test("subscriptions that drift and new fields are conditions of every output, and one alert each", async () => {
  const company = await aCompany({ records: 3 });
  const { control } = company.sandbox;
  const sink = await openSink();
  const acme = { name: "acme", token: company.sandbox.token, publicUrl };
  writeServeConfig(company, `${off}\nalerts: [{ when: [subscription, schema], url: "${sink.url}" }]`, [acme]);
  const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  const input = { name: "ours", url: publicUrl, isActive: true, subscribedEvents: ["invoices.created"] };
  const ours = control.create("webhook_subscriptions", input) as { readonly id: number };

  const first = await nightly(company, sink);
  expect(first).toMatchObject({ codes: [0, 0], alerts: ["begin subscription"] });
  const message = expect.stringMatching(new RegExp(`^subscription ${ours.id} lacks \\d+ of \\d+ events`));
  expect(first.conditions).toEqual([{ kind: "subscription", subject: "deliveries", blocks: false, message }]);

  control.update("webhook_subscriptions", ours.id, {
    ...input,
    subscribedEvents: declaration.events.map(({ type }) => type),
  });
  company.suffer({ ...odd("unknown_fields"), match: { path: "/suppliers" } });
  const second = await nightly(company, sink);
  expect(second).toMatchObject({ codes: [0, 0], alerts: ["end subscription", "begin schema"] });
  const field = expect.stringMatching(/suppliers\.brand_new_field \(first in record \d+\)/);
  expect(second.conditions).toEqual([{ kind: "schema", subject: day, blocks: false, message: field }]);

  control.alter("webhook_subscriptions", ours.id, { isActive: false });
  expect(await nightly(company, sink)).toMatchObject({ codes: [0, 0], alerts: ["begin subscription"] });

  const daemon = await serveHere(company, { clock: impatientClock });
  const conditions = [
    { kind: "subscription", blocks: false },
    { kind: "schema", blocks: false },
  ];
  await expect.poll(() => readyOf(daemon)).toMatchObject({ ready: true, acme: { conditions } });
  for (const { kind } of conditions)
    await expect
      .poll(() => metricsOf(daemon))
      .toContain(`fintoro_mirror_conditions{company="acme",kind="${kind}"} 1`);
  expect((await daemon.end("SIGTERM")).code).toBe(0);
  expect((await nightly(company, sink)).alerts).toEqual([]);
});
