import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { Alert } from "../../src/status/alerts/incidents.ts";
import type { CompanyStatus } from "../../src/status/read-status.ts";
import { aCompany, type Company } from "../support/company/company.ts";
import { runCommand } from "../support/program/cli.ts";
import { impatientClock } from "../support/program/daemon.ts";
import { metricsOf, readyOf, serveHere } from "../support/program/serve.ts";
import { odd } from "../support/sandbox/odd-answers.ts";

const publicUrl = "https://hooks.example.com/webhooks/acme";

function configure({ folder, proxy, sandbox }: Company): void {
  const webhook = `{ secrets: ["whsec_acme_0123456789"], public_url: "${publicUrl}" }`;
  const file = path.join(folder, "alerts.jsonl");
  const lines = [
    `base_url: ${proxy.baseUrl}`,
    `companies: { acme: { token: ${sandbox.token}, webhook: ${webhook} } }`,
    "data_dir: .",
    "schedule: { sync: off, publish: off }",
    `alerts: [{ when: [subscription, schema], command: [sh, -c, "cat >> ${file}; echo >> ${file}"] }]`,
  ];
  writeFileSync(path.join(folder, "config.yaml"), lines.join("\n"));
}

/** What a run sends, and what `status` says after it. */
async function nightly({ folder, proxy }: Company) {
  const options = {
    random: systemRandom,
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "" },
    clock: impatientClock,
  };
  const file = path.join(folder, "alerts.jsonl");
  const lines = () => (existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []);
  const before = lines().length;
  const { code } = await runCommand(["sync"], options);
  const sent = lines().slice(before);
  const asked = proxy.asked.length;
  const status = await runCommand(["status", "--json"], options);
  const { stdout: text } = await runCommand(["status"], options);
  expect(proxy.asked.length).toBe(asked);
  const { companies } = JSON.parse(status.stdout) as { companies: Record<string, CompanyStatus> };
  const conditions = companies["acme"]?.conditions ?? [];
  for (const { message } of conditions) expect(text.replaceAll(/\s+/g, " ")).toContain(`! ${message}`);
  const events = sent.map((line) => JSON.parse(line) as Alert).map(({ event, kind }) => `${event} ${kind}`);
  return { codes: [code, status.code], alerts: events, conditions };
}

// Fault: service | a subscription lacks events; the service begins to send a field | the sandbox, between nightly runs | both are named by status, /readyz, metrics and alerts, once, and keep nothing from being ready
test("subscriptions that drift and new fields are conditions of every output, and one alert each", async () => {
  const company = await aCompany({ records: 3 });
  const { control } = company.sandbox;
  configure(company);
  const day = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  const input = { name: "ours", url: publicUrl, isActive: true, subscribedEvents: ["invoices.created"] };
  const ours = control.create("webhook_subscriptions", input) as { readonly id: number };

  const first = await nightly(company);
  expect(first).toMatchObject({ codes: [0, 0], alerts: ["begin subscription"] });
  const message = expect.stringMatching(new RegExp(`^subscription ${ours.id} lacks \\d+ of \\d+ events`));
  expect(first.conditions).toEqual([{ kind: "subscription", subject: "deliveries", blocks: false, message }]);

  control.update("webhook_subscriptions", ours.id, {
    ...input,
    subscribedEvents: manifest.events.map(({ type }) => type),
  });
  company.suffer({ ...odd("unknown_fields"), match: { path: "/suppliers" } });
  const second = await nightly(company);
  expect(second).toMatchObject({ codes: [0, 0], alerts: ["end subscription", "begin schema"] });
  const field = expect.stringMatching(/suppliers\.brand_new_field \(first in record \d+\)/);
  expect(second.conditions).toEqual([{ kind: "schema", subject: day, blocks: false, message: field }]);

  control.alter("webhook_subscriptions", ours.id, { isActive: false });
  expect(await nightly(company)).toMatchObject({ codes: [0, 0], alerts: ["begin subscription"] });
  expect((await nightly(company)).alerts).toEqual([]);

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
  expect((await nightly(company)).alerts).toEqual([]);
});
