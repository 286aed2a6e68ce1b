import { spawn } from "node:child_process";
import { messageOf } from "../../base/errors.ts";
import { terminalText } from "../../base/terminal-text.ts";
import type { Alert } from "./incidents.ts";

/** Everything else of this process's environment stays here: tokens and secrets may be in it (I9). */
const passedOn = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT"];

/** How much of the command's output an error shows, characters; what is beyond four times as much is not kept. */
const shownOutput = 300;

/** A command and what it is run with. */
interface AlertCommand {
  /** The program and its arguments. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeLimitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a command without a shell, with the alert as JSON on its stdin and a few facts in its environment. It and
 * what it started are killed after the time limit, and when `signal` aborts.
 * @throws Error that says why the alert is not delivered: the exit code, and how its output begins
 */
export async function runAlertCommand(body: string, alert: Alert, command: AlertCommand): Promise<void> {
  const { words, env, timeLimitMs, signal } = command;
  const [program = "", ...args] = words;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)]);
  // A group of its own: what it started is killed with it.
  const child = spawn(program, args, { env: environmentOf(alert, env), detached: true });
  const kill = () => killGroup(child.pid);
  let output = "";
  const keep = (text: string) => {
    if (output.length < 4 * shownOutput) output += text;
  };
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  // It may end without having read it.
  child.stdin.on("error", () => undefined);
  child.stdin.end(body);
  limit.addEventListener("abort", kill, { once: true });
  if (limit.aborted) kill();
  try {
    const problem = await endOf(child, kill);
    if (signal.aborted) throw new Error("it was stopped");
    if (limit.aborted) throw new Error(`it did not end within ${timeLimitMs / 1000} s`);
    if (problem !== null) throw new Error(`${problem}${output.trim() === "" ? "" : `: ${shown(output)}`}`);
  } finally {
    limit.removeEventListener("abort", kill);
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
  }
}

function shown(output: string): string {
  return terminalText(output.trim(), shownOutput);
}

/** What it has written may come after its end; a process that left its group may hold the pipes open. */
const longestOutputMs = 500;

/** Null: it ended with exit code 0. Its children end with it. */
function endOf(child: ReturnType<typeof spawn>, killChildren: () => void): Promise<string | null> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(`it cannot be started: ${messageOf(error)}`));
    child.once("exit", (code, by) => {
      killChildren();
      const end = () => resolve(code === 0 ? null : `it ended with ${by ?? `exit code ${code}`}`);
      child.once("close", end);
      setTimeout(end, longestOutputMs).unref();
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function environmentOf(alert: Alert, env: AlertCommand["env"]): NodeJS.ProcessEnv {
  const { id, event, kind, subject, company, message } = alert;
  const facts = { id, event, kind, subject, company: company ?? "", message: terminalText(message) };
  const named = Object.entries(facts).map(([name, value]) => [
    `FINTORO_MIRROR_ALERT_${name.toUpperCase()}`,
    value,
  ]);
  return { ...Object.fromEntries(passedOn.map((name) => [name, env[name]])), ...Object.fromEntries(named) };
}
