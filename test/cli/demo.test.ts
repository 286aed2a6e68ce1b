import { appendFileSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { demoChanges } from "../../connectors/fintoro/demo-changes.ts";
import { startSandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { CommandContext } from "../../src/cli/program/command.ts";
import { answer } from "../../src/cli/demo/report-steps.ts";
import { behind } from "../../src/cli/demo/webhook-steps.ts";
import { readCsv } from "../../src/cli/demo/csv.ts";
import { question } from "../../src/cli/demo/queries.ts";
import { demoContextOf, type DemoContext } from "../../src/cli/demo/demo-steps.ts";
import { setUpDemo, type DemoSetup } from "../../src/cli/demo/demo-setup.ts";
import { connectorEntry, endOf, playing, startProgram, temporaryFolder } from "../support/cli.ts";

const connector = connectorEntry({
  demoChanges,
  startSandbox: () => Promise.reject(new Error("the test starts its own")),
});

/** A stage with a first sync done, and what is told on it. */
async function onStage(
  act: (stage: DemoSetup, scene: DemoContext, told: string[]) => Promise<void>,
): Promise<void> {
  const sandbox = await startSandbox({
    seed: 7,
    limit: 100_000,
    retryScale: 0.2,
    allowLoopbackWebhooks: true,
  });
  onTestFinished(() => sandbox.close());
  const running = {
    ...sandbox,
    requestCount: () => sandbox.requests().length,
    attempts: () => sandbox.control.webhooks.history(),
  };
  const { url: baseUrl, token: writeToken, readToken } = sandbox;
  const stage = setUpDemo({ folder: temporaryFolder(), baseUrl, readToken, writeToken });
  onTestFinished(() => stage.close());
  await stage.sync();
  const play = async (context: CommandContext) => {
    await act(stage, demoContextOf(context, running), []);
    return "complete" as const;
  };
  const { code, stderr } = await playing(["act"], play, { clock: systemClock, connectors: [connector] });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}

const teller = (told: string[]) => (line: string) => Promise.resolve(void told.push(line));

test("seconds behind: each change is seen in the mirror's file, those during an outage after it, and no event is missing", async () => {
  await onStage(async (stage, scene, told) => {
    expect(await behind(stage, scene, teller(told))).toBe(true);
    expect(told.filter((line) => /in the mirror \d+ ms later$/.test(line))).toHaveLength(4);
    const { events, failed } = scene.sent();
    expect(failed).toBeGreaterThan(0);
    const [inbox] = question<{ kept: number }>(stage.database, "SELECT count(*) AS kept FROM _inbox");
    expect(inbox?.kept).toBe(events);
    expect(told.join("\n")).toContain(`webhooks inbox shows ${events}:`);
  });
}, 60_000);

test("the report and the files agree with the mirror, and a file that does not is told", async () => {
  await onStage(async (stage, scene, told) => {
    expect(await answer(stage, scene, teller(told))).toBe(true);
    const lying: DemoSetup = {
      ...stage,
      run: (args) => {
        if (args.includes("csv")) doubleLastLine(path.join(stage.folder, "export/acme/v_receivables.csv"));
        return Promise.resolve({} as never);
      },
    };
    expect(await answer(lying, scene, teller(told))).toBe(false);
    expect(told.join("\n")).toMatch(/the mirror, the report and the CSV differ: /);
  });
}, 60_000);

function doubleLastLine(file: string): void {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const euro = lines.findLast((line) => line.includes(",EUR,")) ?? "";
  appendFileSync(file, `${euro}\n`);
}

test("reads CSV by its definition: commas, quotes and line ends inside a cell, empty cells", () => {
  const text = 'a,b,c\r\n"x, ""y""\n z",,1\r\n,2,"w"\r\n';
  expect(readCsv(text)).toEqual([
    { a: 'x, "y"\n z', b: "", c: "1" },
    { a: "", b: "2", c: "w" },
  ]);
});

test("refuses a folder that holds other people's files, and leaves them there", () => {
  const folder = temporaryFolder({ "thesis.txt": "years of work" });
  const facts = { folder, baseUrl: "http://127.0.0.1:1", readToken: "r", writeToken: "w" };
  expect(() => setUpDemo(facts)).toThrow("holds other files");
  expect(readFileSync(path.join(folder, "thesis.txt"), "utf8")).toBe("years of work");
});

test("a demo that is stopped ends the processes it started, and exits as interrupted", async () => {
  const out = path.join(temporaryFolder(), "demo");
  const child = startProgram(["demo", "--out", out]);
  const ended = endOf(child);
  const lock = path.join(out, "acme.lock.holder");
  await expect.poll(() => existsSync(lock) && readFileSync(lock, "utf8"), { timeout: 15_000 }).toMatch(/\d/);
  const { pid } = JSON.parse(readFileSync(lock, "utf8")) as { readonly pid: number };
  child.kill("SIGTERM");
  expect((await ended).code).toBe(143);
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});
