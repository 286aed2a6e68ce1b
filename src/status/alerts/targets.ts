import { spawn, type ChildProcess } from "node:child_process";
import { addAbortListener } from "node:events";
import path from "node:path";
import { messageOf } from "../../base/errors.ts";
import { terminalText } from "../../base/terminal-text.ts";
import { isoTime, type Clock } from "../../base/clock.ts";
import { addressKey, currentUrl, targetKey, type AlertKind } from "../../config/alert-section.ts";
import type { Config } from "../../config/config.ts";
import { currentText, type PlacedText } from "../../config/secrets.ts";
import { openPoster } from "../../http/poster.ts";
import { signatureOf } from "../../webhook/ingest/delivery.ts";
import type { Alert } from "./incidents.ts";

/** For one attempt. */
const timeLimitMs = 30_000;

export interface AlertTarget {
  /** The program or the host, and a few digits of what the config says: the same after a restart, and no secret. */
  readonly key: string;
  readonly when: readonly AlertKind[];
  /** One attempt. @throws Error that says why the target has not taken it */
  readonly send: (alert: Alert, signal: AbortSignal) => Promise<void>;
}

interface SenderContext {
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly clock: Pick<Clock, "nowMs">;
  /** Gets what a file of a secret holds now, before it is used. */
  readonly onSecrets: (secrets: readonly string[]) => void;
}

type AlertConfig = Config["alerts"][number];

/** The targets of a config; entries for the same target are several. */
export function alertTargets({ alerts }: Pick<Config, "alerts">, context: SenderContext): AlertTarget[] {
  return alerts.map((entry) => {
    const { when, command, url } = entry;
    if (url !== null) return urlTarget(entry, url, context);
    const { env } = context;
    // Two entries for one place with different kinds are two targets.
    const key = targetKey(path.basename(command?.[0] ?? ""), command, when.toSorted());
    const send = (alert: Alert, signal: AbortSignal) =>
      runAlertCommand(command ?? [], bodyOf(alert, context), alert, env, timeLimitMs, signal);
    return { key, when, send };
  });
}

function urlTarget({ when, secret }: AlertConfig, url: PlacedText, context: SenderContext): AlertTarget {
  const { version, clock, onSecrets } = context;
  const send = async (alert: Alert, signal: AbortSignal) => {
    const poster = openPoster(currentUrl(url, onSecrets), version);
    const [body, seconds] = [bodyOf(alert, context), Math.floor(clock.nowMs() / 1000)];
    // As the service signs its deliveries.
    const signature = secret && signatureOf(body, currentText(secret, onSecrets)).toString("hex");
    try {
      await poster.post({ id: alert.id, body, seconds, signature }, signal);
    } finally {
      await poster.close();
    }
  };
  return { when, key: addressKey(url, when.toSorted()), send };
}

/** What a target gets. `text` is what chats show. */
function bodyOf(alert: Alert, { version, clock }: SenderContext): string {
  const { company, kind, event, message } = alert;
  const state = { begin: kind, end: `${kind} is over`, test: "test" }[event];
  const text = `fintoro-mirror${company === null ? "" : `, ${company}`}: ${state}: ${message}`;
  const sent_at = isoTime(clock.nowMs());
  return JSON.stringify({ ...alert, text, sent_at, program: "fintoro-mirror", version });
}

/** Everything else of this process's environment stays here: tokens and secrets may be in it (I9). */
const passedOn = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT"];

/** How much of the command's output an error shows, characters; what is beyond four times as much is not kept. */
const shownOutput = 300;

/**
 * Runs a command without a shell, with the alert as JSON on its stdin and a few facts in its environment. It and
 * what it started are killed after the time limit, and when `signal` aborts.
 * @throws Error that says why the alert is not delivered: the exit code, and how its output begins
 */
export async function runAlertCommand(
  [program = "", ...args]: readonly string[],
  body: string,
  alert: Alert,
  env: NodeJS.ProcessEnv,
  limitMs: number,
  signal: AbortSignal,
): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  // A group of its own: what it started is killed with it.
  const child: ChildProcess = spawn(program, args, { env: environmentOf(alert, env), detached: true });
  const kill = () => killGroup(child.pid);
  const end = endOf(child, kill);
  let output = "";
  const keep = (text: string) => {
    if (output.length < 4 * shownOutput) output += text;
  };
  // Where too many files are open it has no pipes.
  for (const pipe of [child.stdout, child.stderr]) pipe?.setEncoding("utf8").on("data", keep);
  // It may end without having read it.
  child.stdin?.on("error", () => undefined).end(body);
  using _ = addAbortListener(limit, kill);
  try {
    const problem = await end;
    if (signal.aborted) throw new Error("it was stopped");
    if (limit.aborted) throw new Error(`it did not end within ${limitMs / 1000} s`);
    const shown = output.trim() === "" ? "" : `: ${terminalText(output.trim(), shownOutput)}`;
    if (problem !== null) throw new Error(`${problem}${shown}`);
  } finally {
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.destroy();
  }
}

/** What it has written may come after its end; a process that left its group may hold the pipes open. */
const longestOutputMs = 500;

/** Null: it ended with exit code 0. Its children end with it. */
function endOf(child: ChildProcess, killChildren: () => void): Promise<string | null> {
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

function environmentOf(alert: Alert, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { id, event, kind, subject, company, message } = alert;
  const facts = { id, event, kind, subject, company: company ?? "", message: terminalText(message) };
  const prefix = "FINTORO_MIRROR_ALERT_";
  const named = Object.entries(facts).map(([name, value]) => [`${prefix}${name.toUpperCase()}`, value]);
  return { ...Object.fromEntries(passedOn.map((name) => [name, env[name]])), ...Object.fromEntries(named) };
}
