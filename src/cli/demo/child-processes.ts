import { spawn, type ChildProcess } from "node:child_process";
import { MirrorError } from "../../base/errors.ts";
import { ownEntry } from "../program/own-process.ts";

/** This very program, on its way as a process of its own. */
export interface DemoProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  isOver(): boolean;
  stdout(): string;
  stderr(): string;
}

/** Every process of the demo. None outlives it, whatever happens: what is left is ended by its own handle. */
export class ChildProcesses {
  private readonly env: Readonly<Record<string, string>>;
  private readonly config: string;
  private readonly running = new Set<ChildProcess>();
  private readonly endAtExit = () => this.killAll();

  constructor(config: string, env: Readonly<Record<string, string>>) {
    this.config = config;
    this.env = env;
    process.once("exit", this.endAtExit);
  }

  start(args: readonly string[]): DemoProcess {
    const told = [...args, "--json", "--config", this.config, "--log-format", "json", "-q"];
    const child = spawn(process.execPath, [ownEntry(), ...told], {
      env: { ...process.env, ...this.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.running.add(child);
    const output = { stdout: "", stderr: "", over: false };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
    const ended = new Promise<number | null>((resolve) => {
      child.once("error", (error) => (output.stderr += error.message));
      child.once("close", (code) => {
        output.over = true;
        this.running.delete(child);
        resolve(code);
      });
    });
    const { stdout, stderr } = { stdout: () => output.stdout, stderr: () => output.stderr };
    return { child, ended, isOver: () => output.over, stdout, stderr };
  }

  /** Runs a command to its good end and reads what it said. */
  async run<T>(args: readonly string[]): Promise<T> {
    const player = this.start(args);
    if ((await player.ended) !== 0) throw failed(args, player);
    return JSON.parse(player.stdout()) as T;
  }

  async end(): Promise<void> {
    const ended = [...this.running].map((child) => new Promise((resolve) => child.once("close", resolve)));
    this.killAll();
    await Promise.all(ended);
    process.off("exit", this.endAtExit);
  }

  private killAll(): void {
    for (const child of this.running) child.kill("SIGKILL");
  }
}

export function failed(args: readonly string[], player: DemoProcess): MirrorError {
  return new MirrorError(
    "protocol",
    `${args[0] ?? "a command"} of the demo failed: ${player.stderr().trim()}`,
  );
}
