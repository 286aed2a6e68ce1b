import { expect, test } from "vitest";
import { runCommand } from "../support/program/cli.ts";
import { aCompany, type Company } from "../support/company/company.ts";
import type { Reply } from "../support/company/proxy.ts";
import { serveHere, writeServeConfig } from "../support/program/serve.ts";
import { deliver, eventOf } from "../support/program/deliveries.ts";
import { inMirror } from "../support/company/served-company.ts";
import { eventually } from "../support/eventually.ts";

/** Turns the terminal red, clears it, turns the direction of what follows, says what is not so, and is longer than a screen. */
const hostile = `\u001b[31m\u001b[2J\u009b1A\u202egpj.exe\r\nacme: all is well${"long ".repeat(250)}`;
const unsafe = /[^\P{Cc}\n]|[\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/u;
const soiled = new Set(["name", "note", "disabledReason", "message"]);

/** Ends the service's texts with what is hostile: of companies, records, subscriptions and errors. */
function soil(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(soil);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => {
    const isText = one === null || typeof one === "string";
    return [key, soiled.has(key) && isText ? `${one ?? ""}${hostile}` : soil(one)];
  });
  return Object.fromEntries(entries) as unknown;
}

function soilAnswers({ proxy }: Company): void {
  proxy.obstruct(async ({ path }, passOn): Promise<Reply> => {
    const { status, headers, body } = await passOn();
    const answer = path === "/suppliers" ? { message: "no" } : (JSON.parse(body.toString()) as unknown);
    const soiledBody = Buffer.from(JSON.stringify(soil(answer)));
    const { "content-length": _, ...others } = headers;
    return { status: path === "/suppliers" ? 422 : status, headers: others, body: soiledBody };
  });
}

// Fault: service | names, notes and errors, and event types of deliveries, with control characters, turns of direction and without an end | everything that the service says, and deliveries, to `serve` and to commands | every command prints escapes, and short lines for people
test("whatever the service and senders say, no command prints what a terminal obeys, nor pages of it", async () => {
  const company = await aCompany({ records: 3, limit: 100_000, allowLoopbackWebhooks: true });
  const url = "http://127.0.0.1:8787/webhooks/acme";
  const subscription = { name: "ours", url, isActive: false, subscribedEvents: ["clients.updated"] };
  company.sandbox.control.create("webhook_subscriptions", subscription);
  soilAnswers(company);
  writeServeConfig(company, "schedule: { sync: off, publish: off }");
  const daemon = await serveHere(company);
  await daemon.until("a run ended");
  expect(await deliver(daemon, eventOf(`clients.${hostile}`, 1, `client${hostile}`))).toBe(204);
  await eventually(() => inMirror(company, "SELECT count(*) FROM _inbox") === 1, "the event");
  const { code, stderr: log } = await daemon.end("SIGTERM");
  expect(code).toBe(0);
  expect(log.match(unsafe)?.index).toBeUndefined();

  const lines = ["check", "status", "webhooks list", "webhooks inbox", "sync", "changes --since 0", "verify"];
  for (const line of lines.flatMap((one) => [one, `${one} --json`])) {
    const { stdout, stderr } = await runCommand(line.split(" "), { cwd: company.folder });
    expect([line, (stdout + stderr).match(unsafe)?.index]).toEqual([line, undefined]);
    expect(stdout + stderr).not.toMatch(/^acme: all is well/m);
    const longest = Math.max(...stdout.split("\n").map((one) => one.length));
    // JSON and changes are for programs, which get the whole text.
    const isForPeople = !/changes|--json/.test(line);
    expect([line, stdout !== "", isForPeople && longest > 1_000]).toEqual([line, true, false]);
  }
});
