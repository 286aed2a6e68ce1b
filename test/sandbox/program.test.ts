import { describe, expect, test } from "vitest";
import { endOf, firstLine, jsonLines, runCommand, runProgram, startProgram } from "../support/program/cli.ts";
import type { Dict } from "../support/sandbox/sandbox.ts";
import { isSigned, openSink } from "../support/sandbox/webhook-sink.ts";

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
    expect(sink.received.every((request) => isSigned(request, "topsecret"))).toBe(true);
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
    const { code, stdout } = await runCommand(args);
    expect(code).toBe(0);
    expect(stdout).toContain("lost: subscription");
    expect(sink.received).toEqual([]);
    child.kill("SIGTERM");
  });

  test.each([
    [["--webhook-url", "http://hooks.firma.sk/in"], "http://hooks.firma.sk/in cannot be subscribed"],
    [["--webhook-faults", "losses:2"], 'webhook fault \\"losses:2\\" cannot be read'],
  ])("%j is a mistake that is explained", async (args, message) => {
    const { code, stderr } = await runProgram(["sandbox", ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
