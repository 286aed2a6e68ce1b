import { request } from "node:http";
import { describe, expect, test } from "vitest";
import type { Sandbox } from "../support/sandbox/control.ts";
import { runCommand } from "../support/program/cli.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import { openSink } from "../support/sandbox/webhook-sink.ts";

async function opened() {
  const sink = await openSink();
  const sandbox = await openSandbox({ webhooks: [{ url: sink.url }] });
  return { sandbox, sink };
}

describe("the control server", () => {
  test("is closed to those who call this machine by another name", async () => {
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
});

const trigger = (sandbox: Sandbox, ...args: string[]) =>
  runCommand(["sandbox", "trigger", ...args, "--port", String(sandbox.port)]);

describe("sandbox trigger", () => {
  test("prints what was done and what became of it; the API counts and logs nothing of it", async () => {
    const { sandbox } = await opened();
    const { code, stdout } = await trigger(sandbox, "invoices.paid");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^invoices \d+: paid\n/);
    expect(stdout).toMatch(/document-payments\.created {2}documentPayment \d+ {2}evt_\w+ {2}delivered: sub/);
    expect(stdout).toMatch(/invoices\.paid {2}invoice \d+ {2}evt_\w+ {2}delivered: .* \(attempt 1, 204\)/);
    const delivered = { outcome: "delivered" };
    expect(sandbox.control.webhooks.history()).toMatchObject([delivered, delivered]);
    expect(sandbox.requests()).toEqual([]);
  });

  test("exits 1 for what did not arrive or is against the rules, 2 for what was written wrong", async () => {
    const { sandbox, sink } = await opened();
    sink.treat(500);
    const failed = await trigger(sandbox, "clients.updated");
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain("retry: subscription");
    expect((await trigger(sandbox, "clients.updated", "--id", "99999")).code).toBe(1);
    expect((await trigger(sandbox, "client.updated")).code).toBe(2);
    const abroad = await runCommand([
      "sandbox",
      "trigger",
      "clients.updated",
      "--url",
      "https://example.com",
    ]);
    expect(abroad.code).toBe(2);
    expect(abroad.stderr).toContain("is no sandbox on this machine");
    await sandbox.close();
    const gone = await trigger(sandbox, "clients.updated");
    expect(gone.code).toBe(1);
    expect(gone.stderr).toContain("no sandbox answers");
  });
});

describe("sandbox tick", () => {
  test("runs a working day by options that its parent command has as well, and sums it up by kind", async () => {
    const { sandbox } = await opened();
    const args = ["--duration", "100ms", "--changes", "40", "--seed", "3", "--port", String(sandbox.port)];
    const { code, stdout, stderr } = await runCommand(["sandbox", "tick", ...args]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^40 of 40 changes, \d+ events\n/);
    expect(stdout).toMatch(/ {2}invoices (written|paid)\n/);
    expect(stderr).toContain("the working day goes on");
    expect(sandbox.control.events().length).toBeGreaterThanOrEqual(40);
  });

  test.each([
    [["sandbox", "tick", "--records", "5"], "unknown option '--records'"],
    [["sandbox", "tik"], "unknown command 'tik'. There are sandbox trigger, sandbox tick"],
    [["sandbox", "trigger"], "missing required argument 'event'"],
    [["sandbox", "--secret", "x"], "--secret signs what goes to --webhook-url"],
  ])("%j is a mistake that is explained", async (args, message) => {
    const { code, stderr } = await runCommand(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
