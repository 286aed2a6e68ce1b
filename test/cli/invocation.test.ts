import { EventEmitter, once } from "node:events";
import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import type { CommandContext } from "../../src/cli/program/command.ts";
import type { CommandEnding } from "../../src/cli/program/exit-code.ts";
import { UnavailableError } from "../../src/connector/service-errors.ts";
import {
  commandThat,
  jsonLines,
  runAct,
  createTestInvocation,
  temporaryFolder,
} from "../support/program/cli.ts";

function thrower(error: unknown) {
  return (): CommandEnding => {
    throw error;
  };
}

/** A program whose one command succeeds. */
const invoke = (...argv: string[]) =>
  createTestInvocation(argv, { commands: [commandThat(() => "complete")] });

const lacking = new MirrorError("config", "c.yaml:1:1: first\nc.yaml:2:5: second", { hint: "write it down" });

describe("an error", () => {
  test("is a JSON line on stderr for each thing that is wrong; with --json also the one document on stdout", async () => {
    const { code, stdout, stderr } = await runAct(["act"], thrower(lacking));
    expect([code, stdout]).toEqual([2, ""]);
    expect(jsonLines(stderr)).toMatchObject([
      { level: "error", kind: "config", msg: "c.yaml:1:1: first" },
      { level: "error", kind: "config", msg: "c.yaml:2:5: second", hint: "write it down" },
    ]);
    const document = { error: { kind: "config", message: lacking.message, hint: "write it down" } };
    expect(jsonLines((await runAct(["act", "--json"], thrower(lacking))).stdout)).toEqual([document]);
    const shown = await runAct(["act", "--no-color"], thrower(lacking), { terminal: true });
    const lines = /error: c\.yaml:1:1: first\n.*error: c\.yaml:2:5: second.*\n\s+hint: write it down\n$/;
    expect(shown.stderr).toMatch(lines);
  });

  test("after the document was written does not become a second one", async () => {
    const { code, stdout } = await runAct(["--json", "act"], async ({ output }) => {
      await output.json({ outcome: "partial" });
      throw lacking;
    });
    expect([code, jsonLines(stdout)]).toEqual([2, [{ outcome: "partial" }]]);
  });

  test("of the service names the request it can be traced by", async () => {
    const { stderr } = await runAct(["act"], thrower(new UnavailableError("503", { requestId: "req-7" })));
    expect(jsonLines(stderr)).toMatchObject([{ kind: "unavailable", request_id: "req-7" }]);
  });

  // Fault: process | an unforeseen error | a command | exit 10, called a bug, its stack only with -v
  test("that nobody foresaw is called a bug, with exit 10, and its stack only with -v", async () => {
    const bug = thrower(new TypeError("x is not a function"));
    const quiet = await runAct(["act"], bug);
    const hint = expect.stringContaining("this is a bug") as string;
    const msg = "something unexpected happened: x is not a function";
    expect(jsonLines(quiet.stderr)).toMatchObject([{ kind: "bug", msg, hint }]);
    expect(quiet.stderr).not.toContain("invocation.test.ts");
    const verbose = await runAct(["act", "-v"], bug);
    expect(verbose.stderr).toContain("invocation.test.ts");
    expect([quiet.code, verbose.code]).toEqual([10, 10]);
  });

  test("that escaped every promise is printed the same way", async () => {
    const { invocation, written } = invoke("act", "--json");
    expect(await invocation.fail(new TypeError("lost"))).toBe(10);
    expect(jsonLines(written.stderr)).toMatchObject([{ kind: "bug", msg: expect.stringContaining("lost") }]);
    expect(jsonLines(written.stdout)).toMatchObject([{ error: { kind: "bug", message: "lost" } }]);
  });

  test("in the arguments is printed before anything runs, as they ask for it", async () => {
    const { code, stdout, stderr } = await invoke("atc", "--json").run();
    const error = { kind: "usage", message: expect.stringContaining("act") as string };
    expect([code, jsonLines(stdout)]).toMatchObject([2, [{ error }]]);
    expect(jsonLines(stderr)).toHaveLength(1);
    for (const flags of [["--log-format", "pretty"], ["--log-format=pretty"]]) {
      const pretty = await invoke("atc", ...flags).run();
      expect(pretty.stderr).toMatch(/^\d\d:\d\d:\d\d {2}error: unknown command/);
    }
  });
});

function folderWithSecret(): string {
  const text = "companies: { acme: { token: sk_live_0123456789 } }\nlog: { level: debug }\n";
  return temporaryFolder({ "config.yaml": text });
}

function leak({ config, log }: CommandContext): CommandEnding {
  const secret = config().config.companies[0]?.token.reveal();
  log.info(`sent ${secret}`, { header: `Bearer ${secret}` });
  throw new MirrorError("network", `no answer for ${secret}`, {
    hint: `try ${secret}`,
    cause: new Error(secret),
  });
}

function speak({ config, log }: CommandContext): CommandEnding {
  config();
  log.debug("detail");
  log.info("fact");
  return "complete";
}

async function said(...flags: string[]): Promise<string[]> {
  const { stderr } = await runAct(["act", ...flags], speak, { cwd: folderWithSecret() });
  return jsonLines(stderr).map(({ msg }) => String(msg).replace(/^.*stands in the file.*$/, "warning"));
}

describe("I9: what the config keeps secret", () => {
  // Fault: secrets | an error carries a secret of the config | a command | no line and no document has it (I9)
  test("is in no line and no document, also when an error carries it", async () => {
    for (const terminal of [false, true]) {
      const { stdout, stderr } = await runAct(["act", "--json", "-v"], leak, {
        cwd: folderWithSecret(),
        terminal,
      });
      expect(stdout + stderr).not.toContain("sk_live");
      expect(stdout).toContain("no answer for");
      expect(stderr).toContain("sent ");
    }
  });

  test("its warnings are logged, and its log level counts unless -q or -v do", async () => {
    expect(await said()).toEqual(["warning", "detail", "fact"]);
    expect(await said("-q")).toEqual(["warning"]);
    expect(await said("-v")).toEqual(["warning", "detail", "fact"]);
  });
});

async function untilStopped({ signal }: CommandContext): Promise<CommandEnding> {
  if (!signal.aborted) await once(signal, "abort");
  return "stopped";
}

const stoppable = () => createTestInvocation(["act"], { commands: [commandThat(untilStopped)] });

describe("a signal", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "%s asks the command to stop, its exit code is %i, and nobody listens any more",
    async (name, code) => {
      const { run, signals, ended, written } = stoppable();
      const running = run();
      setImmediate(() => signals.emit(name));
      expect((await running).code).toBe(code);
      expect([ended, signals.listenerCount("SIGINT") + signals.listenerCount("SIGTERM")]).toEqual([[], 0]);
      expect(jsonLines(written.stderr)).toMatchObject([{ level: "info", signal: name }]);
    },
  );

  // Fault: process | a second signal while a command ends | the signals of the process | it ends at once
  test("a second one ends at once", async () => {
    const { run, signals, ended } = stoppable();
    const running = run();
    setImmediate(() => ["SIGTERM", "SIGINT"].map((name) => signals.emit(name)));
    await running;
    expect(ended).toEqual([130]);
  });
});

/** Takes two lines and no more. */
function leavingReader(code = "EPIPE") {
  const events = new EventEmitter();
  let lines = 0;
  return {
    on: (name: string, listener: (error: Error) => void) => events.on(name, listener),
    write: (_: string, done: (error?: Error) => void) => {
      lines += 1;
      const error = Object.assign(new Error(`write ${code}`), { code });
      if (lines > 2) events.emit("error", error);
      done(lines > 2 ? error : undefined);
      return true;
    },
    lines: () => lines,
  };
}

async function writeOn({ output, signal }: CommandContext): Promise<CommandEnding> {
  for (let i = 0; i < 1000; i++) {
    await output.line(`line ${i}`);
    if (signal.aborted) throw new MirrorError("stopped", "stopped");
  }
  return "failed";
}

async function writeFive({ output }: CommandContext): Promise<CommandEnding> {
  for (let i = 0; i < 5; i++) await output.json({ i });
  return "partial";
}

describe("a reader of stdout that goes away", () => {
  // Fault: process | the reader of stdout goes away | the output stream of a command | the command is stopped, exit 0
  test("is no error: the command is stopped, nothing is printed, exit 0", async () => {
    const reader = leavingReader();
    expect(await runAct(["act"], writeOn, { stdout: reader })).toMatchObject({ code: 0, stderr: "" });
    expect(reader.lines()).toBe(3);
  });

  test("does not hide how the work ended", async () => {
    expect((await runAct(["act"], writeFive, { stdout: leavingReader() })).code).toBe(3);
  });

  test("is told from a full disk, which loses what was asked for: exit 10", async () => {
    const { code, stderr } = await runAct(["act"], writeFive, { stdout: leavingReader("ENOSPC") });
    const msg = "stdout cannot be written: write ENOSPC";
    expect([code, jsonLines(stderr)]).toMatchObject([10, [{ level: "error", msg }]]);
  });
});

/** Seventy seconds of the test's clock, which pass at once. */
async function work({ showing, log, clock }: CommandContext): Promise<CommandEnding> {
  const begun = clock.monotonicMs();
  await showing(async (show) => {
    show(() => "invoices  5 of 9");
    for (let i = 0; i < 1000 && clock.monotonicMs() - begun < 70_000; i++) await new Promise(setImmediate);
    log.info("between");
  });
  return "complete";
}

test("a long command draws its progress at a terminal and leaves only the lines; it logs it elsewhere, and not with -q", async () => {
  const parts = { commands: [commandThat(work)], terminal: true };
  const { run, screen, written } = createTestInvocation(["act", "--no-color"], parts);
  await run();
  expect(written.stderr).toContain("invoices  5 of 9");
  expect(screen.visible()).toEqual([expect.stringMatching(/between$/)]);
  expect(screen.cursorHidden()).toBe(false);
  const logged = jsonLines((await runAct(["act"], work)).stderr).map(({ msg }) => msg);
  expect(logged.filter((msg) => msg === "invoices  5 of 9").length).toBeGreaterThanOrEqual(2);
  expect((await runAct(["act", "-q"], work, { terminal: true })).stderr).toBe("");
});

test("a document holds record ids beyond 2^53 exactly", async () => {
  const { stdout } = await runAct(["act"], async ({ output }): Promise<CommandEnding> => {
    await output.json({ id: 2n ** 60n, small: 7n });
    return "complete";
  });
  expect(stdout).toBe('{"id":1152921504606846976,"small":7}\n');
});
