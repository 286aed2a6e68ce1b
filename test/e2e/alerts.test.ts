import { createHmac } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { Config } from "../../src/config/config.ts";
import type { Alert } from "../../src/status/alerts/incidents.ts";
import { readAlertState } from "../../src/status/alerts/alerter.ts";
import { alertTargets, type AlertTarget } from "../../src/status/alerts/targets.ts";
import type { CompanyStatus } from "../../src/status/read-status.ts";
import { runCommand } from "../support/program/cli.ts";
import { aCompany, type Company } from "../support/company/company.ts";
import { configOf, impatientClock, startDaemon } from "../support/program/daemon.ts";
import { wholeRuns, writeServeConfig } from "../support/program/serve.ts";
import { eventually } from "../support/eventually.ts";

const key = "alerts-secret-0123456789";
const off = "schedule: { sync: off, publish: off }";

function configure(company: Company, target: string, when = "failed", token = company.sandbox.token): void {
  const more = `alerts: [{ when: [${when}], ${target} }]\n${off}`;
  writeServeConfig(company, more, [{ name: "acme", token }]);
}

function kept({ folder }: Company): Alert[] {
  const file = path.join(folder, "alerts.jsonl");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Alert);
}

function eventsOf(alerts: readonly Alert[]): string[] {
  return alerts.map(({ event, kind }) => `${event} ${kind}`);
}

function syncOnce({ folder }: Company, ...args: string[]) {
  const env = { SECRET_OF_THE_PROCESS: "must-not-be-passed-on", PATH: process.env["PATH"] ?? "" };
  return runCommand(["sync", ...args, "-c", path.join(folder, "config.yaml")], {
    cwd: folder,
    env,
    clock: impatientClock,
  });
}

interface Received {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
  readonly url: string | undefined;
}

/** A receiver on this machine that answers with `answers`, one after the other, the last one for ever. */
async function aReceiver(...answers: number[]) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      received.push({ body, headers: request.headers, url: request.url });
      const status = (answers.length > 1 ? answers.shift() : answers[0]) ?? 204;
      response.writeHead(status, status === 307 ? { location: "/elsewhere" } : {}).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const taken = () => received.map(({ body }) => JSON.parse(body) as Alert & { readonly text: string });
  return { url: `http://127.0.0.1:${port}/hook/secret-path`, received, taken };
}

describe("sync from cron", () => {
  test("sends an alert once when runs begin to fail, and once when one succeeds", async () => {
    const company = await aCompany({ records: 3 });
    const file = path.join(company.folder, "alerts.jsonl");
    const command = `command: [sh, -c, "cat >> ${file}; echo >> ${file}; env > ${company.folder}/environment"]`;
    configure(company, command, "failed", "wrong-token-0123456789");
    expect((await syncOnce(company)).code).toBe(4);
    expect((await syncOnce(company)).code).toBe(4);
    expect(kept(company)).toMatchObject([
      { event: "begin", kind: "failed", company: "acme", ended_at: null, program: "fintoro-mirror" },
    ]);
    configure(company, command);
    expect((await syncOnce(company, "units")).code).toBe(0);
    expect((await syncOnce(company, "units")).code).toBe(0);
    const alerts = kept(company);
    expect(eventsOf(alerts)).toEqual(["begin failed", "end failed"]);
    expect(alerts[1]?.message).toBe(alerts[0]?.message);
    const environment = readFileSync(path.join(company.folder, "environment"), "utf8");
    expect(environment).toContain("FINTORO_MIRROR_ALERT_KIND=failed");
    expect(environment).toContain("FINTORO_MIRROR_ALERT_EVENT=end");
    expect(environment).not.toContain("must-not-be-passed-on");
    expect(environment + JSON.stringify(alerts)).not.toContain("wrong-token-0123456789");
  });

  // Fault: network | the receiver of alerts refuses or redirects them | between the program and its target | the alert is kept, shown, and sent by the next run with the same id
  test("signs what it posts, follows no redirect, and sends later what was not taken", async () => {
    const company = await aCompany({ records: 3 });
    const receiver = await aReceiver(500, 307, 503, 204);
    configure(company, `url: "${receiver.url}", secret: ${key}`, "failed", "wrong-token-0123456789");
    const first = await syncOnce(company);
    expect(first.code).toBe(4);
    expect(first.stderr).toContain("alerts were not delivered");
    expect(receiver.received.map(({ url }) => url)).toEqual(Array(3).fill("/hook/secret-path"));
    const status = await runCommand(["status", "--json", "-c", path.join(company.folder, "config.yaml")]);
    const { companies } = JSON.parse(status.stdout) as { companies: Record<string, CompanyStatus> };
    const { undelivered = [], incidents = [] } = companies["acme"]?.alerts ?? {};
    expect(incidents).toMatchObject([{ kind: "failed", ended_at: null }]);
    expect(undelivered).toMatchObject([{ attempts: 3, error: "it answered 503" }]);
    expect(first.stderr + status.stdout).not.toContain("secret-path");
    expect(first.stderr + status.stdout).not.toContain(key);
    expect((await syncOnce(company)).code).toBe(4);
    expect(receiver.received).toHaveLength(4);
    for (const { body, headers } of receiver.received) {
      const { id } = JSON.parse(body) as Alert;
      expect(headers["webhook-id"]).toBe(id);
      expect(Number(headers["webhook-timestamp"])).toBeCloseTo(Date.now() / 1000, -2);
      expect(headers["webhook-signature"]).toBe(createHmac("sha256", key).update(body).digest("hex"));
    }
    expect(new Set(receiver.taken().map(({ id }) => id)).size).toBe(1);
    expect(receiver.taken()[0]?.text).toMatch(/^fintoro-mirror, acme: failed: the last run did not finish/);
  });
});

/** The free space that a daemon finds at each look for alerts, and `again`: another look, and time to send what follows. */
function lookedAt() {
  const disk = { freeBytes: 900e9 };
  let looks = 0;
  const again = () => {
    const most = looks + 3;
    return eventually(() => looks >= most, "another look");
  };
  return { disk, again, freeBytes: () => (looks++, disk.freeBytes) };
}

function targetsOf(config: Config): AlertTarget[] {
  return alertTargets(config, { env: {}, version: "1.2.3", clock: systemClock, onSecrets: () => undefined });
}

describe("serve", () => {
  test("sends an incident's beginning and end once, whatever restarts are between them", async () => {
    const company = await aCompany({ records: 3 });
    const receiver = await aReceiver(204);
    const target = `alerts: [{ when: [failed], url: "${receiver.url}", secret: ${key} }]`;
    const { again, freeBytes } = lookedAt();
    const start = (token: string) => {
      const parts = { clock: impatientClock, targetsOf, freeBytes };
      const daemon = startDaemon(company, configOf(company, target, [{ name: "acme", token }]), parts);
      return { daemon, state: () => daemon.pageOf("acme")?.view().service.state };
    };
    for (let times = 0; times < 2; times++) {
      const { daemon, state } = start("wrong-token-0123456789");
      await eventually(() => state() === "unauthenticated", "a refused token");
      await eventually(() => receiver.taken().length === 1, "an alert");
      // A daemon that ends before it has noted what was taken sends it again.
      const left = () => readAlertState(path.join(company.folder, "acme.alerts.json")).undelivered;
      await eventually(() => left().length === 0, "the note that it was taken");
      await again();
      await daemon.stop();
    }
    const { daemon, state } = start(company.sandbox.token);
    await eventually(() => state() === "working" && wholeRuns(company) === 1, "a whole run");
    await eventually(() => receiver.taken().length === 2, "the end of the incident");
    await again();
    await daemon.stop();
    expect(eventsOf(receiver.taken())).toEqual(["begin failed", "end failed"]);
  });

  test("watches the free space of the disk once for all companies", async () => {
    const company = await aCompany({ records: 1 });
    const receiver = await aReceiver(204);
    const target = `alerts: [{ when: [disk_low], url: "${receiver.url}" }]`;
    const { token } = company.sandbox;
    const both = ["acme", "beta"].map((name) => ({ name, token }));
    const { disk, again, freeBytes } = lookedAt();
    disk.freeBytes = 900e6;
    const parts = { clock: impatientClock, targetsOf, freeBytes };
    const daemon = startDaemon(company, configOf(company, target, both), parts);
    await eventually(() => receiver.taken().length === 1, "an alert");
    disk.freeBytes = 1_100e6;
    await again();
    expect(receiver.taken()).toMatchObject([
      { event: "begin", kind: "disk_low", company: null, message: "900.0 MB free on the disk of data_dir" },
    ]);
    expect(receiver.received[0]?.headers).not.toHaveProperty("webhook-signature");
    disk.freeBytes = 1_600e6;
    await eventually(() => receiver.taken().length === 2, "its end");
    await daemon.stop();
    expect(eventsOf(receiver.taken())).toEqual(["begin disk_low", "end disk_low"]);
  });
});

describe("alerts test", () => {
  test("names each target that does not take a test alert", async () => {
    const company = await aCompany({ records: 1 });
    const receiver = await aReceiver(403);
    const more = `alerts:
  - { when: [stale], command: "true" }
  - { when: [failed], url: "${receiver.url}", secret: ${key} }
  - { when: [failed], command: [sh, -c, "echo no such mailbox >&2; exit 7"] }
${off}`;
    writeServeConfig(company, more);
    const { code, stdout } = await runCommand(
      ["alerts", "test", "-c", path.join(company.folder, "config.yaml")],
      {
        env: { PATH: process.env["PATH"] ?? "" },
      },
    );
    expect(code).toBe(1);
    const lines = stdout.trim().split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^ok {4}true \w+: the test alert was taken$/);
    expect(lines[1]).toMatch(/^fail {2}127\.0\.0\.1:\d+ \w+: it answered 403$/);
    expect(lines[2]).toMatch(/^fail {2}sh \w+: it ended with exit code 7: no such mailbox$/);
    expect(receiver.taken()).toMatchObject([{ event: "test", kind: "test" }]);
  });
});
