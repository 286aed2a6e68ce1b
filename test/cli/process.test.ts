import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import {
  binFile,
  endOf,
  firstLine,
  jsonLines,
  runCommand,
  runProgram,
  startProgram,
  temporaryFolder,
} from "../support/program/cli.ts";

const serveConfig = "companies: { acme: { token: nobodys-token } }\nserve: { listen: '127.0.0.1:0' }\n";

describe("the program", () => {
  test("without a command, or with a wrong or unknown one, exits 2 with JSON on stderr and no stack", async () => {
    const wrong = ["sandbox", "--webhook-url", "http://127.0.0.1:1/", "--secret", ""];
    for (const { code, stdout, stderr } of [await runProgram([]), await runCommand(wrong)]) {
      expect(code).toBe(2);
      expect(stdout).toBe("");
      expect(jsonLines(stderr)).toMatchObject([{ level: "error", kind: "usage" }]);
      expect(stderr).not.toContain("    at ");
    }
  });

  test("refuses options of sandbox that the stand-in for Fakturoid does not obey", async () => {
    const faults = ["--faults", "500:0.1", "--latency", "1s"];
    const { code, stderr } = await runProgram(["sandbox", "--connector", "fakturoid", ...faults]);
    expect(code).toBe(2);
    const msg = "the stand-in for Fakturoid has no --latency, --faults";
    expect(jsonLines(stderr)).toEqual([expect.objectContaining({ kind: "usage", msg })]);
  });

  test("prints a JSON Schema that is one, and the tables as one document with --json", async () => {
    const schema = await runCommand(["schema"]);
    expect(schema.code).toBe(0);
    expect(() => new Ajv().compile(JSON.parse(schema.stdout) as object)).not.toThrow();
    const tables = await runCommand(["--json", "schema", "--tables"]);
    expect(jsonLines(tables.stdout)).toMatchObject([
      { tables: expect.arrayContaining([expect.objectContaining({ table: "invoices" })]) },
    ]);
  });

  test("is quiet when the reader of its output leaves", async () => {
    const child = startProgram(["schema", "--tables"]);
    child.stdout?.destroy();
    const { code, stderr } = await endOf(child);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});

/** The bin, read by a Node that says it is another. */
function pretending(version: string): { readonly flag: string; readonly script: string } {
  const disguise = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
  return { flag: "-e", script: `${disguise}; require(${JSON.stringify(binFile)})` };
}

describe("bin", () => {
  // Fault: process | an older Node starts the program | the version that `bin` reads | exit 2 with the version needed, no stack
  test.each(["22.18.9", "0.10.48"])("refuses Node %s before it reads anything else", async (version) => {
    const { flag, script } = pretending(version);
    const { code, stdout, stderr } = await runProgram([script], { file: flag });
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(jsonLines(stderr)).toMatchObject([
      { level: "error", msg: expect.stringContaining(`needs Node 22.19 or newer; this is Node ${version}`) },
    ]);
  });

  test("runs the program on the Node of this test", async () => {
    const { code, stdout, stderr } = await runProgram(["--version"], { file: binFile });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe("serve", () => {
  // Fault: secrets | SIGUSR1, which has Node open its inspector | a serving process | no inspector, it goes on
  test("opens no inspector on SIGUSR1", async () => {
    const cwd = temporaryFolder({ "config.yaml": `base_url: http://127.0.0.1:9\n${serveConfig}` });
    const child = startProgram(["serve", "--json"], { cwd, file: binFile });
    const ended = endOf(child);
    const { url } = JSON.parse(await firstLine(child)) as Ready;
    child.kill("SIGUSR1");
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    child.kill("SIGTERM");
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/debugger|inspector|ws:/i);
  });
});

interface Ready {
  readonly url: string;
  readonly token: string;
}

async function startSandbox(...args: string[]) {
  const child = startProgram(["sandbox", "--json", "--records", "small", ...args]);
  const ended = endOf(child);
  const ready = JSON.parse(await firstLine(child)) as Ready;
  return { child, ended, ready };
}

describe("sandbox", () => {
  test("prints one line of JSON once it answers, opens no inspector on SIGUSR1, and ends on a signal", async () => {
    const { child, ended, ready } = await startSandbox("--seed", "7");
    const answer = await fetch(`${ready.url}/whoami`, {
      headers: { authorization: `Bearer ${ready.token}` },
    });
    expect(answer.status).toBe(200);
    child.kill("SIGUSR1");
    expect((await fetch(`${ready.url}/whoami`)).status).toBe(401);
    child.kill("SIGTERM");
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toHaveLength(1);
    expect(jsonLines(stderr)).toMatchObject([{ level: "info", signal: "SIGTERM" }, { level: "info" }]);
  });
});
