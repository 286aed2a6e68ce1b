import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { runCommand, temporaryFolder, endOf, firstLine, startProgram } from "../support/program/cli.ts";
import { fakeTool } from "../support/program/fake-tool.ts";
import { minimal, load } from "../support/connector/config.ts";
import { takenPort } from "../support/http/http.ts";
import { MirrorError } from "../../src/base/errors.ts";
import { createReload } from "../../src/cli/commands/serve.ts";
import type { Config } from "../../src/config/config.ts";
import { recordingLog } from "../support/terminal/terminal.ts";
import { createSystemd } from "../../src/cli/program/listening-process.ts";
import { eventually } from "../support/eventually.ts";
import { stubLog } from "../support/http/http-client.ts";
import { outputOf } from "../support/program/process-env.ts";
import { childrenOf } from "../support/program/serve.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";

// Fault: process | the port is taken | another server | refused before anything is locked or written
test("serve refuses a port that is taken before anything is locked or written", async () => {
  const cwd = temporaryFolder({ "config.yaml": minimal() });
  const args = ["serve", "--listen", `127.0.0.1:${await takenPort()}`];
  expect(await runCommand(args, { cwd, env: { TOKEN: "token-of-acme" } })).toMatchObject({ code: 10 });
  expect(path.join(cwd, "data")).not.toSatisfy(existsSync);
});

function refusing(): never {
  throw new MirrorError("database", "no room");
}

describe("SIGHUP", () => {
  test("address and folder wait for a restart, and that is logged", () => {
    const { log, records } = recordingLog();
    const applied: Config[] = [];
    const moved = minimal("serve: { listen: 127.0.0.1:1 }\ndata_dir: elsewhere\n");
    const apply = (config: Config) => void applied.push(config);
    createReload({ log }, load(minimal()).config, () => load(moved).config, apply)();
    expect(applied[0]).toMatchObject({ serve: { port: 8787 }, dataDir: "/home/me/data" });
    const warnings = records().filter(({ level }) => level === "warn");
    expect(warnings.map(({ msg }) => String(msg).split(" ")[0])).toEqual(["serve.listen", "data_dir"]);
  });

  // Fault: process | an unforeseen error while the config is read again | the reload function | the daemon continues
  test("an error that nobody foresaw keeps the daemon going, too", () => {
    const { log, records } = recordingLog();
    createReload({ log }, load(minimal()).config, () => load(minimal()).config, refusing)();
    expect(records().at(-1)).toMatchObject({ level: "error", msg: expect.stringContaining("no room") });
  });
});

const config = "base_url: http://127.0.0.1:9\ncompanies: { acme: { token: nobodys-token } }\n";

function startServing(text: string, env: Readonly<Record<string, string>> = {}) {
  const cwd = temporaryFolder({ "config.yaml": text });
  return { cwd, child: startProgram(["serve", "--json", "--listen", "127.0.0.1:0"], { cwd, env }) };
}

test("a changed data_dir leaves the pages' token where it is, until the restart", async () => {
  const before = `${config}serve: { hosts: [a.b] }\n`;
  const { cwd, child } = startServing(before);
  const written = outputOf(child);
  const { url, page_token_file: file } = JSON.parse(await firstLine(child)) as Record<string, string>;
  writeFileSync(path.join(cwd, "config.yaml"), `${before}data_dir: elsewhere\n`);
  child.kill("SIGHUP");
  await expect.poll(() => written.stderr).toContain("the config was read again");
  const authorization = `Bearer ${readFileSync(file ?? "", "utf8").trim()}`;
  const { status } = await fetch(url ?? "", { headers: { authorization } });
  expect(status).toBe(200);
  expect(path.join(cwd, "elsewhere")).not.toSatisfy(existsSync);
});

/** What systemd sets for a program that it waits for. */
const waiting = { NOTIFY_SOCKET: "/run/none" };

test("systemd hears that the daemon is ready, that it is alive in time, and that it stops; who does not wait for it hears nothing, and what does not arrive is logged once", async () => {
  const { PATH, calls } = fakeTool("systemd-notify");
  const [clock, log, stop] = [new DrivenClock(0), stubLog(), new AbortController()];
  const create = (env: NodeJS.ProcessEnv) => createSystemd({ env, clock, log });
  const systemd = create({ PATH, ...waiting, WATCHDOG_USEC: "120000000" });
  systemd.ready(stop.signal);
  await clock.advance(79_000);
  stop.abort();
  create({ PATH }).stopping();
  systemd.stopping();
  const given = () => calls().toSorted();
  const alive = ["WATCHDOG=1", "WATCHDOG=1"];
  await expect.poll(given).toEqual(["READY=1 STATUS=receiving", "STOPPING=1", ...alive]);
  expect(log.lines).toEqual([]);
  const unheard = create({ PATH: "/nowhere", ...waiting });
  unheard.stopping();
  await expect.poll(() => log.lines).toHaveLength(1);
  unheard.stopping();
  systemd.stopping();
  await expect.poll(() => given().length).toBe(5);
  expect(log.lines).toMatchObject([{ level: "warn", message: expect.stringContaining("notify failed") }]);
});

function isStopped(pid: number | undefined): boolean {
  return /^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

// Fault: process | the loop of a serve stands still (SIGSTOP) | a real serve with systemd's variables | it is ready once its address answers, alive again and again, silent while it stands still, and says that it stops
test("a real serve reports to systemd, and nothing while it stands still", async () => {
  const { PATH, calls } = fakeTool("systemd-notify");
  const { child } = startServing(config, { PATH, ...waiting, WATCHDOG_USEC: "300000" });
  const ended = endOf(child);
  await firstLine(child);
  const alive = () => calls().filter((line) => line === "WATCHDOG=1").length;
  await expect.poll(alive).toBeGreaterThan(2);
  expect(calls()).toContain("READY=1 STATUS=receiving");
  child.kill("SIGSTOP");
  const sending = () => childrenOf(child.pid).filter(({ args }) => !args.includes("<defunct>"));
  // Then nobody is left who could say that it is alive.
  await eventually(() => isStopped(child.pid) && sending().length === 0, "a loop that stands still");
  const before = alive();
  child.kill("SIGCONT");
  await expect.poll(alive).toBeGreaterThan(before);
  child.kill("SIGTERM");
  expect((await ended).code).toBe(0);
  expect(calls()).toContain("STOPPING=1");
});
