import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { MirrorError, messageOf } from "../../base/errors.ts";
import { ownEntry } from "../program/own-process.ts";

/** This program as a process of its own, with what it printed so far. */
export interface DemoProcess {
  readonly child: ChildProcess;
  /** Exit code; null when a signal ended it or it could not start. */
  readonly ended: Promise<number | null>;
  isOver: boolean;
  stdout: string;
  stderr: string;
}

/** All processes of the demo. None outlives it: the rest is killed at its end, whatever happened. */
export class DemoProcesses {
  private readonly config: string;
  private readonly env: Readonly<Record<string, string>>;
  private readonly running = new Set<DemoProcess>();
  private readonly killAll = () => {
    for (const { child } of this.running) child.kill("SIGKILL");
  };

  constructor(config: string, env: Readonly<Record<string, string>>) {
    this.config = config;
    this.env = env;
    process.once("exit", this.killAll);
  }

  /** Starts a command of this program with --json. */
  start(args: readonly string[]): DemoProcess {
    const flags = ["--json", "--config", this.config, "--log-format", "json", "-q"];
    const child = spawn(process.execPath, [ownEntry(), ...args, ...flags], {
      env: { ...process.env, ...this.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = once(child, "close")
      .then(
        ([code]) => code as number | null,
        (error: unknown) => {
          started.stderr += messageOf(error);
          return null;
        },
      )
      .finally(() => {
        started.isOver = true;
        this.running.delete(started);
      });
    const started: DemoProcess = { child, ended, isOver: false, stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (started.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (started.stderr += text));
    this.running.add(started);
    return started;
  }

  /**
   * Runs a command to its end and gives the document it printed.
   * @throws MirrorError `protocol` when it exits with anything but 0
   */
  async run<T>(args: readonly string[]): Promise<T> {
    const started = this.start(args);
    if ((await started.ended) !== 0) throw failedCommand(args, started);
    return JSON.parse(started.stdout) as T;
  }

  /** Kills what still runs and waits for its end. */
  async stop(): Promise<void> {
    const ended = [...this.running].map((one) => one.ended);
    this.killAll();
    await Promise.all(ended);
    process.off("exit", this.killAll);
  }
}

/** The error of a command of the demo, with what it printed on stderr. */
export function failedCommand([name = "a command"]: readonly string[], { stderr }: DemoProcess): MirrorError {
  return new MirrorError("protocol", `${name} of the demo failed: ${stderr.trim()}`);
}
