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
  test("refuses options of sandbox that the stand-in for Fakturoid does not obey", async () => {
    const faults = ["--faults", "500:0.1", "--latency", "1s"];
    const { code, stderr } = await runProgram(["sandbox", "--connector", "fakturoid", ...faults]);
    expect(code).toBe(2);
    const msg = "the stand-in for Fakturoid has no --latency, --faults";
    expect(jsonLines(stderr)).toEqual([expect.objectContaining({ kind: "usage", msg })]);
  });

  test("prints the tables as one document with --json", async () => {
    const { stdout } = await runCommand(["--json", "schema", "--tables"]);
    const tables = expect.arrayContaining([expect.objectContaining({ table: "invoices" })]) as unknown;
    expect(jsonLines(stdout)).toMatchObject([{ tables }]);
  });
});

describe("bin", () => {
  // Fault: process | an older Node starts the program | the version that `bin` reads | exit 2 with the version needed, no stack
  test.each(["22.18.9", "0.10.48"])("refuses Node %s before it reads anything else", async (version) => {
    // The bin, read by a Node that says it is another.
    const disguise = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
    const script = `${disguise}; require(${JSON.stringify(binFile)})`;
    const { code, stdout, stderr } = await runProgram([script], { file: "-e" });
    expect([code, stdout]).toEqual([2, ""]);
    const msg = expect.stringContaining(`needs Node 22.19 or newer; this is Node ${version}`) as string;
    expect(jsonLines(stderr)).toMatchObject([{ level: "error", msg }]);
  });
});

describe("serve", () => {
  // Fault: secrets | SIGUSR1, which has Node open its inspector | a serving process | no inspector, it goes on
  test("opens no inspector on SIGUSR1", async () => {
    const cwd = temporaryFolder({ "config.yaml": `base_url: http://127.0.0.1:9\n${serveConfig}` });
    const child = startProgram(["serve", "--json"], { cwd, file: binFile });
    const ended = endOf(child);
    const { url } = JSON.parse(await firstLine(child)) as { readonly url: string };
    child.kill("SIGUSR1");
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    child.kill("SIGTERM");
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/debugger|inspector|ws:/i);
  });
});
