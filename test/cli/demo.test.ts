import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { CommandContext, RunningSandbox } from "../../src/cli/program/command.ts";
import { DemoSetup, serveWebhooks } from "../../src/cli/commands/demo.ts";
import { look } from "../support/truth/compare.ts";
import { wound } from "../support/verify/verify.ts";
import { connectorEntry, endOf, runAct, startProgram, temporaryFolder } from "../support/program/cli.ts";

const connector = connectorEntry({ startSandbox: () => Promise.reject(new Error("the test has its own")) });

/** Calls `act` with a demo after its first sync, and the lines that its steps print. */
async function withDemo(act: (demo: DemoSetup, lines: string[]) => Promise<void>): Promise<void> {
  const sandbox = await openSandbox({ seed: 7, retryScale: 0.2, allowLoopbackWebhooks: true });
  const running: RunningSandbox = {
    ...sandbox,
    requestCount: () => sandbox.requests().length,
    attempts: () => sandbox.control.webhooks.history(),
    changes: () => sandbox.control.demoChanges(),
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
  const runDemo = async (context: CommandContext) => {
    const lines: string[] = [];
    const print = (line: string) => Promise.resolve(void lines.push(line));
    await using demo = new DemoSetup(context, running, temporaryFolder(), print);
    await demo.run("sync");
    await act(demo, lines);
    return "complete" as const;
  };
  const { code, stderr } = await runAct(["act"], runDemo, { clock: systemClock, connectors: [connector] });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}

test("each change is seen in the mirror's file, those during an outage after it, and no event is missing", async () => {
  await withDemo(async (demo, lines) => {
    await serveWebhooks(demo);
    expect(lines.filter((line) => /in the mirror \d+ ms later$/.test(line))).toHaveLength(4);
    const { events, failed } = demo.deliveries();
    expect(failed).toBeGreaterThan(0);
    expect(look(demo.database, (db) => db.prepare("SELECT count(*) FROM _inbox").pluck().get())).toBe(events);
    expect(lines.at(-1)).toMatch(/equal to the service/);
  });
});

test("a command that does not end as it should ends the demo, and what it printed is the reason", async () => {
  await withDemo(async (demo) => {
    const change = "UPDATE invoices SET note = 'another' WHERE id = (SELECT min(id) FROM invoices)";
    wound({ file: demo.database }, change);
    await expect(demo.run("verify")).rejects.toThrow(/verify of the demo failed: acme: .* differ/);
  });
});

test("refuses a folder that holds other people's files, and leaves them there", () => {
  const folder = temporaryFolder({ "thesis.txt": "years of work" });
  const context = {} as CommandContext;
  const sandbox = {} as RunningSandbox;
  const create = () => new DemoSetup(context, sandbox, folder, () => Promise.resolve());
  expect(create).toThrow("holds other files");
  expect(readFileSync(path.join(folder, "thesis.txt"), "utf8")).toBe("years of work");
});

test("a demo that is stopped ends the processes it started, and exits as interrupted", async () => {
  const out = path.join(temporaryFolder(), "demo");
  const child = startProgram(["demo", "--out", out]);
  const ended = endOf(child);
  const lock = path.join(out, "acme.lock.holder");
  await expect.poll(() => existsSync(lock) && readFileSync(lock, "utf8")).toMatch(/\d/);
  const { pid } = JSON.parse(readFileSync(lock, "utf8")) as { readonly pid: number };
  child.kill("SIGTERM");
  expect((await ended).code).toBe(143);
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});
